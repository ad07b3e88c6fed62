"""An append-only file of JSON rows that survives SIGKILL, power loss and a full disk.

One row per line. A row is acknowledged when it is durable; a line that is not whole was never acknowledged. The strict
prefix of a JSON object is never JSON, so a cut row cannot be mistaken for a whole one. Where the rows really go, a
file that grows or segments on an object store, is the business of a Tail.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from core.disk import is_object
from core.errors import AssayError, StoreError
from core.lab.lines import id_of
from core.lab.segments import SegmentTail
from core.lab.tail import FileTail


class Tail(Protocol):
    """The growing end of one file of rows. Blocking; one thread at a time uses it."""

    rows: Mapping[str, str]
    """Rows found on opening, id -> JSON text, in the order written."""

    def append(self, batch: bytes) -> None:
        """Add whole lines, durable on return. Raises StoreError or ConfigError; a retry is not possible then."""

    def close(self) -> None:
        """Let go of it. Must not raise."""


class Held(Protocol):
    """What keeps other drivers out; see core.lab.lock."""

    def check(self) -> None:
        """Raises StoreError when it does so no longer."""


class Journal:
    """The rows of one file. Rows that wait while others are written go together, in a thread of the journal's own."""

    def __init__(self, file: Path, held: Held | None = None) -> None:
        """Open `file`, in a folder that is there; made when absent, its torn end cut off. Raises StoreError.

        Once `held` is lost nothing more is written.
        """
        self._file = file
        self._held = held
        self._tail: Tail = SegmentTail(file) if is_object(file) else FileTail(file)
        self.rows: Mapping[str, str] = self._tail.rows
        """Rows found on opening, id -> JSON text, in the order written."""
        self._ids = set(self.rows)
        self._waiting: deque[bytes] = deque()
        self._failure: AssayError | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")

    async def append(self, row_id: str, text: str) -> None:
        """Add the row `text`, a JSON object of one line whose `id` is `row_id`; durable on return.

        Raises StoreError for an id that is there already, for text that is no such row, and when the disk refuses or
        does not answer; the file then still holds every row acknowledged before.
        """
        if row_id in self._ids:
            raise StoreError(f"{self._file}: row {row_id!r} is there already", file=str(self._file),
                             remedy="a session must not repeat finished rows")  # fmt: skip
        line = text.encode("utf-8")
        if b"\n" in line or id_of(line) != row_id:
            raise StoreError(f"{self._file}: row {row_id!r} is not one line of JSON with that id", file=str(self._file))
        self._ids.add(row_id)
        self._waiting.append(line + b"\n")
        # Cancelling the waiter must not abandon a write that is under way: the thread finishes it in any case.
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, self._flush))

    def close(self) -> None:
        """Finish what is being written and close the file."""
        self._thread.shutdown(wait=True)
        self._tail.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _flush(self) -> None:
        """Write and sync all that waits. Runs in the journal's thread, one at a time."""
        if self._failure is not None:
            raise self._failure
        batch = b"".join(self._waiting.popleft() for _ in range(len(self._waiting)))
        if not batch:
            return
        try:
            if self._held is not None:
                self._held.check()
            self._tail.append(batch)
        except AssayError as error:
            self._failure = error
            raise
