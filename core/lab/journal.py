"""An append-only file of JSON rows that survives SIGKILL, power loss and a full disk.

One row per line. A row is acknowledged when it is on the disk; a line that is not whole was never acknowledged. The
strict prefix of a JSON object is never JSON, so a cut row cannot be mistaken for a whole one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from core.disk import make_folder, store_error, sync_folder
from core.errors import StoreError


def recover(content: bytes, *, file: str = "") -> tuple[dict[str, str], int]:
    """The rows in `content` by id, in order, and how many of its bytes they take.

    What follows the last whole row is the torn end of an interrupted write. Raises StoreError when whole rows follow a
    broken one (damage that no interruption explains) and when two rows have one id.
    """
    rows: dict[str, str] = {}
    taken = broken = 0
    for number, (line, end) in enumerate(_lines(content), start=1):
        row_id = _id_of(line)
        if row_id is None:
            broken = broken or number
        elif broken:
            raise _damage(f"line {broken} is damaged and whole rows follow it", file, broken)
        elif row_id in rows:
            raise _damage(f"line {number} repeats row {row_id!r}", file, number)
        else:
            rows[row_id] = line.decode("utf-8")
            taken = end
    return rows, taken


class Journal:
    """The rows of one file. Rows of one event-loop turn share one fsync, in a thread of the journal's own."""

    def __init__(self, file: Path) -> None:
        """Open `file`, made when absent, its torn end cut off. Raises StoreError."""
        self._file = file
        make_folder(file.parent)
        try:
            self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise store_error(error, file) from error
        try:
            self.rows: Mapping[str, str] = self._reopened()
            """Rows found on opening, id -> JSON text, in the order written."""
        except BaseException:
            os.close(self._descriptor)
            raise
        self._ids = set(self.rows)
        self._waiting: deque[bytes] = deque()
        self._failure: StoreError | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")

    async def append(self, row_id: str, text: str) -> None:
        """Add the row `text`, a JSON object of one line whose `id` is `row_id`; durable on return.

        Raises StoreError for an id that is there already, for text that is no such row, and when the disk refuses;
        the file then still holds exactly the rows acknowledged before.
        """
        if row_id in self._ids:
            raise StoreError(f"{self._file}: row {row_id!r} is there already", file=str(self._file),
                             remedy="a session must not repeat finished rows")  # fmt: skip
        line = text.encode("utf-8")
        if b"\n" in line or _id_of(line) != row_id:
            raise StoreError(f"{self._file}: row {row_id!r} is not one line of JSON with that id", file=str(self._file))
        self._ids.add(row_id)
        self._waiting.append(line + b"\n")
        # Cancelling the waiter must not abandon a write that is under way: the thread finishes it in any case.
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, self._flush))

    def close(self) -> None:
        """Finish what is being written and close the file."""
        self._thread.shutdown(wait=True)
        with contextlib.suppress(OSError):
            os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _reopened(self) -> dict[str, str]:
        try:
            content = self._file.read_bytes()
            rows, taken = recover(content, file=str(self._file))
            if taken < len(content):
                os.ftruncate(self._descriptor, taken)
            if taken and content[taken - 1 : taken] != b"\n":
                os.write(self._descriptor, b"\n")
            os.fsync(self._descriptor)
            sync_folder(self._file.parent)
        except OSError as error:
            raise store_error(error, self._file) from error
        self._length = os.fstat(self._descriptor).st_size
        return rows

    def _flush(self) -> None:
        """Write and sync all that waits. Runs in the journal's thread, one at a time."""
        if self._failure is not None:
            raise self._failure
        batch = b"".join(self._waiting.popleft() for _ in range(len(self._waiting)))
        data = batch
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
            if batch:
                os.fsync(self._descriptor)
        except OSError as error:
            self._failure = store_error(error, self._file)
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._length)
            raise self._failure from error
        self._length += len(batch)


def _lines(content: bytes) -> Iterator[tuple[bytes, int]]:
    """Each line without its newline, and where it ends in `content`, newline included."""
    end = 0
    for line in content.split(b"\n"):
        end = min(end + len(line) + 1, len(content))
        if line:
            yield line, end


def _id_of(line: bytes) -> str | None:
    """The id of a whole row; None for anything else."""
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    found = row.get("id") if isinstance(row, dict) else None
    return found if isinstance(found, str) else None


def _damage(what: str, file: str, line: int) -> StoreError:
    remedy = "restore the file from a copy, or run again with --fresh (the old run is kept aside)"
    return StoreError(f"{file}:{line}: {what}", file=file, line=line, remedy=remedy)
