"""The seal of a finished index: size and hash of every file, so that a damaged one is never searched."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from core.errors import IndexUnavailable
from core.model.frozen import Frozen

SEAL = "files.json"


class Seal(Frozen):
    """What was written: path below the folder -> sha256."""

    files: Mapping[str, str]


def write_seal(folder: Path) -> None:
    """Seal the files of `folder`, each of them being on the disk for good when this returns."""
    files = {name: _sha256(folder / name) for name in _names(folder)}
    for name in files:
        _settle(folder / name)
    (folder / SEAL).write_text(Seal(files=files).model_dump_json(indent=1), "utf-8")
    _settle(folder / SEAL)


def verify_seal(folder: Path) -> None:
    """Raises IndexUnavailable, naming the file, when something is not as it was sealed."""
    try:
        sealed = Seal.model_validate_json((folder / SEAL).read_bytes()).files
        wrong = [name for name, sha256 in sorted(sealed.items()) if _sha256(folder / name) != sha256]
    except (OSError, ValidationError) as error:
        raise _damaged(folder, f"the index {folder} is damaged: {error}") from error
    if wrong:
        raise _damaged(folder, f"the index {folder} is damaged: {', '.join(wrong)} changed since it was built")


def _damaged(folder: Path, message: str) -> IndexUnavailable:
    return IndexUnavailable(message, endpoint=str(folder), remedy=f"delete {folder}; the next run builds it again")


def _names(folder: Path) -> Iterator[str]:
    """All files but hidden ones, which are tantivy's locks and lists, and the seal."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith(".") and path != folder / SEAL:
            yield path.relative_to(folder).as_posix()


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _settle(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
