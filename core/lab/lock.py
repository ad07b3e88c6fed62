"""One driver per run folder: a lock that dies with its holder."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from core.disk import store_error
from core.errors import StoreError


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
        _sign(descriptor, file)
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
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> None:
    """Take the lock for ourselves alone. BlockingIOError when another driver has it.

    Whoever only looks (`is_driven`) shares the lock for a moment: that must not pass for a driver.
    """
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.sched_yield()


def _sign(descriptor: int, file: Path) -> None:
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        raise store_error(error, file) from error


def _take(descriptor: int, file: Path) -> None:
    try:
        _locked(descriptor)
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
