"""Imported evaluations in the results root: `legacy/<name>-<sha12>/` with the original and what it says.

Nothing there is a run: no config.yaml, no record. The original is kept byte for byte.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from core.disk import dated, make_folder, read, replace
from core.errors import StoreError
from core.model.legacy import LegacyEvaluation

FOLDER = "legacy"
ORIGINAL, IMPORTED = "original.json", "imported.json"
SHOWN = 12
LONGEST_NAME = 80


@dataclass(frozen=True)
class Import:
    """One imported file as it is kept."""

    path: Path

    @property
    def name(self) -> str:
        """`legacy/<name>-<sha12>`."""
        return f"{FOLDER}/{self.path.name}"

    def evaluation(self) -> LegacyEvaluation:
        """What the file says. Raises StoreError where it does not read back."""
        file = self.path / IMPORTED
        try:
            return LegacyEvaluation.model_validate_json(read(file) or b"")
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, fault["loc"]))
            raise StoreError(
                f"{file} does not read back: {where}: {fault['msg']}",
                file=str(file),
                remedy=f"import {self.path / ORIGINAL} again",
            ) from error


def keep(results: Path, file_name: str, content: bytes, found: LegacyEvaluation) -> Import:
    """Put the original and `found` below `results`; the same file again replaces its own import. Raises StoreError."""
    sha256 = hashlib.sha256(content).hexdigest()
    kept = Import(results / FOLDER / f"{_named(file_name)}-{sha256[:SHOWN]}")
    make_folder(kept.path)
    # The original first: an import that a kill leaves half done is not listed, and importing again completes it.
    replace(kept.path / ORIGINAL, content)
    replace(kept.path / IMPORTED, f"{found.model_dump_json(indent=2)}\n".encode())
    return kept


def imports(results: Path) -> tuple[Import, ...]:
    """All imported evaluations below `results`, the one imported last first."""
    marks = {
        file: moment for file, moment in dated(results, 3, (IMPORTED,)).items() if file.parent.parent.name == FOLDER
    }
    return tuple(Import(file.parent) for file in sorted(marks, key=lambda file: (-marks[file], file.parent.name)))


def find_import(results: Path, wanted: str) -> Import | None:
    """The import that `wanted` means: `legacy/NAME`, a folder's name, a name that only one has, the start of a sha256.

    None where it means none, or more than one.
    """
    known = imports(results)
    exact = [each for each in known if wanted in {each.name, each.path.name, str(each.path)}]
    named = exact or [each for each in known if wanted == each.path.name[: -SHOWN - 1]]
    hits = named or [each for each in known if len(wanted) > 3 and each.path.name[-SHOWN:].startswith(wanted)]
    return hits[0] if len(hits) == 1 else None


def _named(file_name: str) -> str:
    """A name that is a folder everywhere."""
    stem = file_name.removesuffix(".json")
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", stem).strip("-.")[:LONGEST_NAME] or "evaluation"
