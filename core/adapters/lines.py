"""An append-only file of lines with one writer: written before something is done that must not be forgotten.

Lines that wait while others are being synced go together, so that many callers share one fsync. A line that is not
whole was never acknowledged. On an object store, where nothing can be appended to, every such batch is an object.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Protocol

from core.disk import is_object, make_folder, objects, require_same, store_error, sync_folder, within
from core.errors import AssayError, StoreError
from core.ports import Clock

PATIENCE_S = 30.0
"""How long a writer is waited for that was told to end, or is being killed."""
LOOK_S = 0.2
MANY = 64
"""Lines that nobody waits for are written in bunches of so many."""


class Tail(Protocol):
    """Where lines are added. Blocking; one thread at a time uses it."""

    def append(self, batch: bytes) -> None:
        """Add whole lines, durable on return. Raises StoreError."""

    def close(self) -> None:
        """Let go of it."""


class Lines:
    """The lines found on opening, and the way to add more."""

    def __init__(self, found: bytes, tail: Tail) -> None:
        self.found = tuple(line.decode("utf-8", "replace") for line in found.split(b"\n") if line)
        self._tail = tail
        self._waiting: deque[bytes] = deque()
        self._failure: AssayError | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lines")

    async def append(self, line: str) -> None:
        """Add `line`; durable on return. Raises StoreError, for good: nothing is appended after a failure."""
        self._waiting.append(line.encode() + b"\n")
        # Cancelling the waiter must not abandon a write that is under way: the thread finishes it in any case.
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, self._flush))

    def note(self, line: str) -> None:
        """Add `line` soon: with the next append, with enough others, or when it is closed. A failure shows then."""
        self._waiting.append(line.encode() + b"\n")
        if len(self._waiting) >= MANY:
            flushed = asyncio.get_running_loop().run_in_executor(self._thread, self._flush)
            flushed.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def close(self) -> None:
        """Write what waits, and let go of the file."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._flush)
        finally:
            self._thread.shutdown()
            self._tail.close()

    def _flush(self) -> None:
        if self._failure is not None:
            raise self._failure
        batch = b"".join(self._waiting.popleft() for _ in range(len(self._waiting)))
        try:
            if batch:
                self._tail.append(batch)
        except AssayError as error:
            self._failure = error
            raise


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


def read(file: Path) -> tuple[str, ...]:
    """The whole lines of `file`, while somebody else may be writing; none where there is no file. Raises StoreError."""
    if is_object(file):
        content = b"".join(objects.read_all(_parts(file), ".jsonl").values())
    else:
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise store_error(error, file) from error
    return tuple(line.decode("utf-8", "replace") for line in content[: content.rfind(b"\n") + 1].split(b"\n") if line)


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
    return Lines(found, _FileTail(descriptor, file))


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
        whole = content[: content.rfind(b"\n") + 1]
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

    def append(self, batch: bytes) -> None:
        self._under_way = True
        within(lambda: self._append(batch), self._file)

    def close(self) -> None:
        """Close the file, unless a write that was given up at its deadline still has it."""
        if not self._under_way:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)

    def _append(self, batch: bytes) -> None:
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


def _on_a_store(file: Path) -> Lines:
    parts = objects.read_all(_parts(file), ".jsonl")
    return Lines(b"".join(parts.values()), _ObjectTail(file, len(parts)))


class _ObjectTail:
    def __init__(self, file: Path, parts: int) -> None:
        self._file = file
        self._numbers = count(parts + 1)

    def append(self, batch: bytes) -> None:
        part = _parts(self._file) / f"{next(self._numbers):08}.jsonl"
        try:
            objects.create(part, batch)
        except FileExistsError as error:
            # The reply to our own first attempt may have been lost.
            if objects.read(part) != batch:
                raise StoreError(
                    f"{part} was written by another driver", file=str(part), remedy="stop one, then `assay resume`"
                ) from error

    def close(self) -> None:
        """Nothing is open."""


def _parts(file: Path) -> Path:
    return file.with_suffix(".parts")
