"""What a failing disk is called, and what to do about it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from core.errors import StoreError

GONE = (errno.ENOENT, errno.ESTALE, errno.ENOTCONN, errno.ENODEV, errno.ENXIO)
"""How a mount that went away shows."""


def store_error(error: OSError, file: Path, *, line: int = 0) -> StoreError:
    """`error` as a StoreError that says what to do about it."""
    remedies = {
        errno.ENOSPC: f"free some space on the disk of {file.parent}, then `assay resume`",
        errno.EDQUOT: f"your disk quota is used up: free some of it, then `assay resume` ({file.parent})",
        errno.EFBIG: "the file may not grow further (ulimit -f): raise the limit, then `assay resume`",
        errno.EACCES: f"make {file.parent} writable, or set ASSAY_RESULTS to a folder that is",
        errno.EROFS: f"{file.parent} is read-only: set ASSAY_RESULTS to a folder that is not",
        **dict.fromkeys(GONE, f"{file.parent} is not there: mount or restore it, then `assay resume`"),
    }
    remedy = remedies.get(error.errno or 0, "check the disk, then `assay resume`")
    return StoreError(f"{file}: {error.strerror or error}", file=str(file), line=line, remedy=remedy)


def require_same(descriptor: int, file: Path) -> None:
    """Raises StoreError when `descriptor` is open on something that is no longer called `file`; OSError.

    An open file can be written long after its folder was removed or unmounted: what goes there is not acknowledged.
    """
    try:
        found = file.stat()
    except FileNotFoundError as error:
        raise _vanished(file) from error
    if not os.path.samestat(os.fstat(descriptor), found):
        raise _vanished(file)


def _vanished(file: Path) -> StoreError:
    return StoreError(
        f"{file} vanished while it was in use: its folder was removed, moved or unmounted",
        file=str(file),
        remedy=f"mount or restore {file.parent}, then `assay resume`: every acknowledged row is in what vanished",
    )
