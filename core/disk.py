"""Files that are wholly there or not there at all, whatever moment the machine dies at.

Every room that keeps something on disk writes through here. Blocking: inside an event loop, call it in a thread.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
from pathlib import Path

from core.errors import StoreError

_serial = itertools.count()


def replace(file: Path, content: bytes) -> None:
    """Make `content` the whole of `file`, or leave `file` as it was; durable on return. Raises StoreError.

    Two writers at once both succeed and leave one of the two contents, whole. A kill leaves at most a `.part` file.
    """
    part = file.with_name(f".{file.name}.{os.getpid()}-{next(_serial)}.part")
    try:
        with part.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(file)
        sync_folder(file.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise store_error(error, file) from error


def make_folder(folder: Path) -> None:
    """Make `folder` and its parents, durable on return. Raises StoreError."""
    try:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for path in missing:
            sync_folder(path.parent)
    except OSError as error:
        raise store_error(error, folder) from error


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable: without it a new file can vanish with the power. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def store_error(error: OSError, file: Path, *, line: int = 0) -> StoreError:
    """`error` as a StoreError that says what to do about it."""
    remedy = {
        errno.ENOSPC: f"free some space on the disk of {file.parent}, then `assay resume`",
        errno.EDQUOT: f"your disk quota is used up: free some of it, then `assay resume` ({file.parent})",
        errno.EFBIG: "the file may not grow further (ulimit -f): raise the limit, then `assay resume`",
        errno.EACCES: f"make {file.parent} writable, or set ASSAY_RESULTS to a folder that is",
        errno.EROFS: f"{file.parent} is read-only: set ASSAY_RESULTS to a folder that is not",
    }.get(error.errno or 0, "check the disk, then `assay resume`")
    return StoreError(f"{file}: {error.strerror or error}", file=str(file), line=line, remedy=remedy)
