"""Being the only driver where nothing can be locked: a lease on an object store, renewed by its holder.

    lock/00000007.json    the lease of the seventh driver: who, renewed when, released or not

The highest number is the lease. Taking one is putting the next number where there is no object, so that of several
takers one succeeds; only its holder ever writes to a number again. A holder that finds a higher number, or that could
not renew for VALID_S, has lost the run and writes nothing more; whoever takes over waits EXPIRED_S from the last
renewal, by the clocks of both machines. The difference of the two is how far those clocks may be apart.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Protocol

from pydantic import ValidationError

from core.disk import objects
from core.errors import AssayError, StoreError
from core.lab.process import is_gone, this_process
from core.model.frozen import Frozen

RENEW_S = 10.0
VALID_S = 60.0
EXPIRED_S = 120.0


class Times(Protocol):
    """The part of core.ports.Clock that a lease needs."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""

    def now(self) -> str:
        """UTC in ISO 8601."""


class _Machine:
    """The time of this machine, for those that ask how a run stands and have no clock."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> str:
        return datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251 - a default; drivers bring their clock


MACHINE: Times = _Machine()


class Note(Frozen):
    """What a lease says."""

    owner: str
    """For people."""
    process: str
    """core.lab.process.this_process() of the holder."""
    renewed_at: str
    released: bool = False


class Lease:
    """A lease that we hold."""

    def __init__(self, folder: Path, number: int, times: Times) -> None:
        self._folder = folder
        self._number = number
        self._times = times
        self._renewed = times.monotonic()
        self._lost = ""
        self._turn = Lock()

    def check(self) -> None:
        """Raises StoreError when the run may be another driver's by now."""
        silent_s = self._times.monotonic() - self._renewed
        why = self._lost or (f"it could not be renewed for {silent_s:.0f} s" if silent_s > VALID_S else "")
        if why:
            raise StoreError(
                f"{self._folder.parent}: this driver lost its lease: {why}",
                file=str(self._folder),
                remedy="every acknowledged row is safe: see that no other driver is at work, then `assay resume`",
            )

    def renew(self) -> None:
        """Say that we are still at work; notice when we are no longer the driver. Raises StoreError, ConfigError."""
        with self._turn:
            self._write(released=False)

    def release(self) -> None:
        """Let another driver in. Raises StoreError, ConfigError."""
        with self._turn:
            self._write(released=True)

    def _write(self, *, released: bool) -> None:
        asked = self._times.monotonic()
        numbers = _numbers(self._folder)
        if not self._lost and self._number not in numbers:
            self._lost = "it was removed"
        if numbers and numbers[-1] > self._number:
            self._lost = "another driver took over"
        if self._lost:
            return
        objects.put(_file(self._folder, self._number), _note(self._times, released=released))
        self._renewed = asked


@contextlib.contextmanager
def held(folder: Path, times: Times) -> Iterator[Lease]:
    """Hold the lease in `folder`, renewed by a thread. Raises StoreError when another driver has it."""
    lease, ended = take(folder, times), Event()
    beating = Thread(target=_beat, args=(lease, ended), name="lease", daemon=True)
    beating.start()
    try:
        yield lease
    finally:
        ended.set()
        with contextlib.suppress(AssayError):
            lease.release()


def take(folder: Path, times: Times) -> Lease:
    """The next lease in `folder`. Raises StoreError when a live driver has one, or another was quicker."""
    numbers = _numbers(folder)
    last = numbers[-1] if numbers else 0
    note = _read(folder, last) if last else None
    if note is not None and _is_live(note, times):
        raise _taken(folder, note)
    try:
        objects.create(_file(folder, last + 1), _note(times, released=False))
    except FileExistsError as error:
        raise _taken(folder, _read(folder, last + 1)) from error
    _require_exclusive(folder, last + 1, times)
    objects.remove([_file(folder, number) for number in numbers])
    return Lease(folder, last + 1, times)


def is_live(folder: Path, times: Times = MACHINE) -> bool:
    """Whether a driver holds a lease in `folder`. Raises StoreError, ConfigError."""
    numbers = _numbers(folder)
    note = _read(folder, numbers[-1]) if numbers else None
    return note is not None and _is_live(note, times)


def _is_live(note: Note, times: Times) -> bool:
    if note.released or is_gone(note.process):
        return False
    return _age_s(note, times) <= EXPIRED_S


def _age_s(note: Note, times: Times) -> float:
    return (datetime.fromisoformat(times.now()) - datetime.fromisoformat(note.renewed_at)).total_seconds()


def _require_exclusive(folder: Path, number: int, times: Times) -> None:
    """A store that ignores `If-None-Match: *` would let two drivers in: find out before anything depends on it."""
    try:
        objects.create(_file(folder, number), _note(times, released=False))
    except FileExistsError:
        return
    raise StoreError(
        f"{folder.parent}: this store overwrites objects that it was asked only to create",
        file=str(folder),
        remedy="use a store that honours `If-None-Match: *` on PUT, or a folder",
    )


def _beat(lease: Lease, ended: Event) -> None:
    while not ended.wait(RENEW_S):
        with contextlib.suppress(AssayError):  # `check` tells, once it has lasted too long.
            lease.renew()


def _taken(folder: Path, note: Note | None) -> StoreError:
    holder = f"{note.owner}, last heard of at {note.renewed_at}" if note else "just started"
    return StoreError(
        f"another process ({holder}) is working on {folder.parent}",
        file=str(folder),
        remedy=f"wait for it to end, or stop it; if its machine is gone, its lease ends after {EXPIRED_S:.0f} s",
    )


def _note(times: Times, *, released: bool) -> bytes:
    owner = f"pid {os.getpid()} on {socket.gethostname()}"
    note = Note(owner=owner, process=this_process(), renewed_at=times.now(), released=released)
    return f"{note.model_dump_json()}\n".encode()


def _read(folder: Path, number: int) -> Note | None:
    """A lease; None when it was replaced by a higher number meanwhile, or holds something else."""
    content = objects.read(_file(folder, number))
    try:
        return Note.model_validate_json(content) if content is not None else None
    except ValidationError:
        return None


def _numbers(folder: Path) -> list[int]:
    stems = (name.removesuffix(".json") for name in objects.names(folder))
    return sorted(int(stem) for stem in stems if stem.isdecimal())


def _file(folder: Path, number: int) -> Path:
    return folder / f"{number:08}.json"
