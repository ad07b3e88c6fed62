"""Files that are either wholly there or not there at all, whatever moment the machine dies at."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from core.errors import StoreError

_serial = itertools.count()


def write_whole(file: Path, content: bytes) -> None:
    """Make `file` hold `content`, durably: written aside, synced, renamed into place, and the rename synced.

    Two writers at once both succeed and leave one of the two contents, whole. A kill leaves at most a `.part` file.
    Blocks on the disk: call it in a thread. Raises StoreError (full disk, no permission) and leaves no trace then.
    """
    part = file.with_name(f"{file.name}.{os.getpid()}-{next(_serial)}.part")
    try:
        _write_synced(part, content)
        part.replace(file)
        _sync_folder(file.parent)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StoreError(
            f"{file} cannot be written: {error.strerror or error}",
            file=str(file),
            remedy="make room or make the folder writable, then resume: what was written before is kept",
        ) from error


def _write_synced(file: Path, content: bytes) -> None:
    with file.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
