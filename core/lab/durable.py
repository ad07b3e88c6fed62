"""Files that survive the worst moment: atomic replacement, durable folders, and a lock that dies with its holder."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from core.errors import StoreError


def replace(file: Path, content: bytes) -> None:
    """Make `content` the whole of `file`, or leave `file` as it was; durable on return. Raises StoreError."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
        sync_folder(file.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
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


@contextlib.contextmanager
def only_driver(file: Path) -> Iterator[None]:
    """Hold the lock in `file`; the kernel frees it when the holder dies, however it dies.

    Raises StoreError at once when another process holds it, naming that process.
    """
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise store_error(error, file) from error
    try:
        _take(descriptor, file)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def is_driven(file: Path) -> bool:
    """Whether some process holds the lock in `file` now."""
    try:
        descriptor = os.open(file, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def _take(descriptor: int, file: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
        raise StoreError(
            f"another process (pid {holder}) is working on {file.parent}",
            file=str(file),
            remedy="wait for it to end, or stop it: nothing that it has acknowledged will be lost",
        ) from error
    except OSError as error:
        raise store_error(error, file) from error
    if not file.exists() or not os.path.samestat(os.fstat(descriptor), file.stat()):
        raise StoreError(f"{file.parent} was moved just now", file=str(file), remedy="run the same command again")


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
