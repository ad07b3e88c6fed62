"""One driver per run folder: a lock that dies with its holder, or on an object store a lease that runs out."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.disk import is_object, left_behind, require_same, store_error, within
from core.errors import StoreError
from core.lab import lease
from core.lab.journal import Held


@contextlib.contextmanager
def only_driver(file: Path, times: lease.Times = lease.MACHINE) -> Iterator[Held]:
    """Hold the lock in `file`; the kernel frees it when the holder dies, however it dies.

    On an object store `file` is the folder of a lease, and `times` says when it has run out.
    Raises StoreError at once when another process holds it, naming that process.
    """
    if is_object(file):
        with lease.held(file, times) as its_lease:
            yield its_lease
        return
    descriptor = within(lambda: _taken(file), file)
    try:
        yield _Flock(descriptor, file)
    finally:
        # A write that was given up may still happen: then the kernel frees the lock, once this process is really gone.
        if not left_behind():
            os.close(descriptor)


def is_driven(file: Path) -> bool:
    """Whether some process holds the lock in `file` now. Raises StoreError when the storage cannot tell."""
    return lease.is_live(file) if is_object(file) else within(lambda: _is_locked(file), file)


@dataclass(frozen=True)
class _Flock:
    """A lock that we hold."""

    descriptor: int
    file: Path

    def check(self) -> None:
        """Raises StoreError when the run folder is no longer the one that was locked: removed, moved or unmounted."""
        within(self._check, self.file)

    def _check(self) -> None:
        try:
            require_same(self.descriptor, self.file)
        except OSError as error:
            raise store_error(error, self.file) from error


def _taken(file: Path) -> int:
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise store_error(error, file) from error
    try:
        _take(descriptor, file)
        _sign(descriptor, file)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _is_locked(file: Path) -> bool:
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
