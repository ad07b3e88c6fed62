"""What a laptop says of the code it sends away: git stays behind, so commit and state travel in a small file.

The file holds the digest of the code it speaks of. Where it is read, the running code must have that digest, and a
git checkout that can speak for itself must not say otherwise: a statement cannot be moved to other code by accident.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import StringConstraints, ValidationError

from core.errors import ConfigError
from core.model.frozen import Frozen, digest
from core.model.record import Provenance

VARIABLE = "ASSAY_PROVENANCE"
"""Names the file, in the environment of the process that runs the code."""
PACKAGES = ("core", "experiments")
NOT_CODE = {"__pycache__", "_configs"}
"""Folders that come and go without the code being another, as hidden files do; `_configs` is pinned file by file."""
REMEDY = f"submit again with `assay submit`; {VARIABLE} is not for use by hand"

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Commit = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})?$")]


class Handover(Frozen):
    """The code that was sent, as its checkout knew it."""

    commit: Commit
    """Empty when there was no git checkout."""
    dirty: bool
    assay_version: str
    code_sha256: Sha256

    @classmethod
    def of(cls, provenance: Provenance, root: Path) -> Handover:
        """What to hand over of `provenance`, gathered where the code below `root` came from."""
        return cls(
            commit=provenance.commit,
            dirty=provenance.dirty,
            assay_version=provenance.assay_version,
            code_sha256=code_digest(root),
        )


def code_digest(root: Path) -> str:
    """sha256 over names and contents of the packages below `root`. Compiled files and configurations do not count."""
    files = sorted(code_files(root))
    return digest({file.relative_to(root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in files})


def code_files(root: Path) -> Iterator[Path]:
    """Every file of the packages below `root`, in no order."""
    for package in PACKAGES:
        for file in (root / package).rglob("*"):
            parts = file.relative_to(root).parts
            if file.is_file() and not any(part in NOT_CODE or part.startswith(".") for part in parts):
                yield file


def taken_over(file: Path, root: Path, commit: str) -> Handover:
    """The statement in `file` on the code below `root`, whose own checkout, if any, is at `commit`.

    Raises ConfigError when it cannot be read, or speaks of other code.
    """
    handover = _read(file)
    if commit and handover.commit != commit:
        raise _refused(f"{file} says commit {handover.commit or 'unknown'}, the checkout here is at {commit}", file)
    if handover.code_sha256 != code_digest(root):
        raise _refused(f"{file} speaks of other code than the one in {root}", file)
    return handover


def _read(file: Path) -> Handover:
    try:
        return Handover.model_validate_json(file.read_bytes())
    except OSError as error:
        raise _refused(f"{VARIABLE} names {file}, which cannot be read: {error.strerror}", file) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = "".join(f"{step}: " for step in first["loc"])
        raise _refused(f"{file} is no statement of provenance: {where}{first['msg']}", file) from error


def _refused(what: str, file: Path) -> ConfigError:
    return ConfigError(what, file=str(file), path=VARIABLE, remedy=REMEDY)
