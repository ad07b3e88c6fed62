"""An append-only file of lines with one writer: written before something is done that must not be forgotten.

Lines that wait while others are being synced go together, so that many callers share one fsync. A line that is not
whole was never acknowledged. On an object store, where nothing can be appended to, every such batch is an object.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Protocol

from core.disk import (
    StorageQueue,
    each,
    is_object,
    listing,
    make_folder,
    objects,
    require_same,
    store_error,
    sync_folder,
)
from core.disk import read as read_file
from core.errors import StoreError
from core.ports import Clock

PATIENCE_S = 30.0
"""How long a writer is waited for that was told to end, or is being killed."""
LOOK_S = 0.2
MANY = 64
"""Lines that nobody waits for are written in bunches of so many."""
_SUFFIX, _PARTS = ".jsonl", ".parts"
"""Of a file, and of the folder of objects that stands in for one."""


Pieces = Mapping[Path, bytes]
"""The file, or each object that stands in for a part of it, in order -> the whole lines there."""


@dataclass(frozen=True)
class Place:
    """Where a line is, without its newline."""

    file: Path
    """The file, or the object."""
    start: int
    length: int


class Tail(Protocol):
    """Where lines are added. Blocking; one thread at a time uses it."""

    def append(self, batch: bytes) -> tuple[Path, int]:
        """Add whole lines, durable on return; the file or object they went to, and where they begin there.

        Raises StoreError.
        """

    def close(self) -> None:
        """Let go of it."""


class Lines:
    """The lines found on opening, and the way to add more, on one event loop."""

    def __init__(self, file: Path, found: Pieces, tail: Tail) -> None:
        self.found = found
        self._file = file
        self._tail = tail
        self._waiting: list[bytes] = []
        self._size = 0
        self._waiters: list[asyncio.Future[tuple[Path, int]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._failure: Exception | None = None
        self._storage = StorageQueue()

    async def append(self, line: bytes) -> Place:
        """Add `line`; durable on return. Raises StoreError, for good: nothing is appended after a failure.

        Cancelling the wait leaves the line where it is.
        """
        start = self._add(line)
        file, begin = await self._written()
        return Place(file, begin + start, len(line))

    def note(self, line: bytes) -> None:
        """Add `line` soon: with the next append, with enough others, or when it is closed. A failure shows then."""
        self._add(line)
        if len(self._waiting) >= MANY:
            self._begin()

    async def close(self) -> None:
        """Write what waits, and let go of the file."""
        try:
            if self._waiting:
                self._begin()
            if self._writing is not None:
                await self._writing
            if self._failure is not None:
                raise self._failure
        finally:
            self._tail.close()

    def _add(self, line: bytes) -> int:
        """Where it begins in the batch that will be written next."""
        start = self._size
        self._waiting.append(line)
        self._size += len(line) + len(b"\n")
        return start

    def _written(self) -> asyncio.Future[tuple[Path, int]]:
        """When all that waits now is durable: a future of its own for each, which may be cancelled."""
        self._waiters.append(asyncio.get_running_loop().create_future())
        self._begin()
        return self._waiters[-1]

    def _begin(self) -> None:
        """See that what waits is written, after what is being written."""
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while self._waiting:
            await asyncio.sleep(0)  # noqa: TID251 - a turn, no time: what else is ready goes along
            waiters, batch = self._waiters, b"\n".join([*self._waiting, b""])
            self._waiters, self._waiting, self._size = [], [], 0
            try:
                place = await self._appended(batch)
            except Exception as error:  # noqa: BLE001 - it is theirs who wait
                self._failure = error
                for waiter in waiters:
                    if not waiter.done():
                        waiter.set_exception(error)
            else:
                for waiter in waiters:
                    if not waiter.done():
                        waiter.set_result(place)

    async def _appended(self, batch: bytes) -> tuple[Path, int]:
        if self._failure is not None:
            raise self._failure
        return await self._storage.do(lambda: self._tail.append(batch), self._file)


@contextlib.asynccontextmanager
async def writing(file: Path, clock: Clock) -> AsyncIterator[Lines]:
    """`file`, made when absent, held by this process alone while the context is open.

    A writer that is ending is waited for. Raises StoreError when it does not end, and when the disk refuses.
    """
    if is_object(file):
        lines = await asyncio.to_thread(_on_a_store, file)
    else:
        lines = await _in_a_file(file, clock)
    try:
        yield lines
    finally:
        await asyncio.shield(lines.close())


def read(file: Path) -> Pieces:
    """What `file` holds, while somebody else may be writing; nothing where there is no file. Raises StoreError.

    A run may have been copied from a folder to a store or back: what cannot grow here was there first.
    """
    content = read_file(file)
    whole = {} if content is None else {file: _whole(content)}
    return {**whole, **_parts_of(file)} if is_object(file) else {**_parts_of(file), **whole}


def files_in(folder: Path, suffix: str) -> Sequence[Path]:
    """The files of lines right in `folder` whose names end so, sorted. Raises StoreError."""
    names = {name for name in listing(folder) if name.endswith((suffix, suffix.replace(_SUFFIX, _PARTS)))}
    return sorted({(folder / name).with_suffix(_SUFFIX) for name in names})


def texts(pieces: Pieces) -> tuple[str, ...]:
    """The lines in `pieces`."""
    return tuple(line.decode("utf-8", "replace") for line, _ in placed(pieces))


def placed(pieces: Pieces) -> Iterator[tuple[bytes, Place]]:
    """The lines in `pieces` that are not empty, and where they are."""
    for file, content in pieces.items():
        start = 0
        for line in content.split(b"\n"):
            if line:
                yield line, Place(file, start, len(line))
            start += len(line) + 1


async def _in_a_file(file: Path, clock: Clock) -> Lines:
    try:
        await asyncio.to_thread(make_folder, file.parent)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        raise store_error(error, file) from error
    try:
        await _lock(descriptor, file, clock)
        found = await asyncio.to_thread(_reopened, descriptor, file)
    except BaseException:
        os.close(descriptor)
        raise
    return Lines(file, {**await asyncio.to_thread(_parts_of, file), file: found}, _FileTail(descriptor, file))


async def _lock(descriptor: int, file: Path, clock: Clock) -> None:
    """Be its only writer. The kernel frees the lock of a process that dies, as soon as it is really gone."""
    end = clock.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if clock.monotonic() >= end:
                raise StoreError(
                    f"another process still writes to {file}",
                    file=str(file),
                    remedy="wait for the other driver of this run to end, or stop it; then `assay resume`",
                ) from None
        except OSError as error:
            raise store_error(error, file) from error
        else:
            return
        await clock.sleep(LOOK_S)


def _reopened(descriptor: int, file: Path) -> bytes:
    """What is in it, once the end that an interrupted write tore is cut off."""
    try:
        content = file.read_bytes()
        whole = _whole(content)
        if len(whole) < len(content):
            os.ftruncate(descriptor, len(whole))
        os.fsync(descriptor)
        sync_folder(file.parent)
    except OSError as error:
        raise store_error(error, file) from error
    return whole


class _FileTail:
    def __init__(self, descriptor: int, file: Path) -> None:
        self._descriptor = descriptor
        self._file = file
        self._under_way = False

    def append(self, batch: bytes) -> tuple[Path, int]:
        self._under_way = True
        return self._file, self._append(batch)

    def close(self) -> None:
        """Close the file, unless a write that was given up at its deadline still has it."""
        if not self._under_way:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)

    def _append(self, batch: bytes) -> int:
        start = os.fstat(self._descriptor).st_size
        try:
            rest = batch
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            os.fsync(self._descriptor)
            require_same(self._descriptor, self._file)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, start)
            raise store_error(error, self._file) from error
        finally:
            self._under_way = False
        return start


def _whole(content: bytes) -> bytes:
    """Without the end of a line that is still being written, or never was."""
    return content[: content.rfind(b"\n") + 1]


def _on_a_store(file: Path) -> Lines:
    found = read(file)
    return Lines(file, found, _ObjectTail(file, len(found) - (file in found)))


class _ObjectTail:
    def __init__(self, file: Path, parts: int) -> None:
        self._file = file
        self._numbers = count(parts + 1)

    def append(self, batch: bytes) -> tuple[Path, int]:
        part = _folder(self._file) / f"{next(self._numbers):08}{_SUFFIX}"
        try:
            objects.create(part, batch)
        except FileExistsError as error:
            # The reply to our own first attempt may have been lost.
            if objects.read(part) != batch:
                raise StoreError(
                    f"{part} was written by another driver", file=str(part), remedy="stop one, then `assay resume`"
                ) from error
        return part, 0

    def close(self) -> None:
        """Nothing is open."""


def _parts_of(file: Path) -> Pieces:
    folder = _folder(file)
    return {folder / name: content for name, content in each(folder, _SUFFIX)}


def _folder(file: Path) -> Path:
    return file.with_suffix(_PARTS)
