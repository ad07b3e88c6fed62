"""Storage for event loops: what waits is done by few threads, in one go, and every wait has an end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

from core.disk.deadline import be_bounded, deadline_s, given_up, too_late

Result = TypeVar("Result")

IN_ONE_GO = 16
"""Pieces that one thread takes together. Each thread that wakes fights the event loop for the interpreter, so that many
threads with a piece each would slow down what they wait for."""
THREADS = 32
"""So many at most, where storage is slow: most of their time is waiting for it."""


@dataclass(eq=False)
class _Piece(Generic[Result]):
    work: Callable[[], Result]
    outcome: asyncio.Future[Result]
    result: Result | None = None
    error: BaseException | None = None
    is_done: bool = False

    def do(self) -> None:
        """In a thread."""
        try:
            self.result = self.work()
        except BaseException as error:  # noqa: BLE001 - it is raised again where the outcome is awaited
            self.error = error
        self.is_done = True

    def deliver(self) -> None:
        """On the event loop."""
        if self.outcome.done():
            return
        if self.error is not None:
            self.outcome.set_exception(self.error)
        else:
            self.outcome.set_result(self.result)  # type: ignore[arg-type]


class StorageQueue:
    """Pieces of blocking work on storage, begun in the order they come. Its threads end with the process."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[_Piece[Any]] = SimpleQueue()
        self._threads = 0
        self._counting = Lock()

    async def do(self, work: Callable[[], Result], file: object) -> Result:
        """What `work` returns or raises; StoreError as core.disk.within. Cancelling the wait leaves the work alone."""
        piece = _Piece(work, asyncio.get_running_loop().create_future())
        self._waiting.put(piece)
        self._staff()
        limit = deadline_s()
        try:
            async with asyncio.timeout(limit):
                return await piece.outcome
        except TimeoutError:
            if piece.error is not None:
                raise
            given_up(lambda: piece.is_done)
            raise too_late(file, limit) from None

    def _staff(self) -> None:
        """One thread is always there; others come when work piles up and go when it is done."""
        with self._counting:
            if (self._threads and self._waiting.qsize() <= IN_ONE_GO * self._threads) or self._threads == THREADS:
                return
            self._threads += 1
        # A daemon, because the interpreter waits for every other thread before it ends, and would hang on this one.
        Thread(target=self._work, name="storage", daemon=True).start()

    def _work(self) -> None:
        be_bounded()
        while True:
            self._go()
            with self._counting:
                if self._threads > 1 and self._waiting.empty():
                    self._threads -= 1
                    return

    def _go(self) -> None:
        pieces = [self._waiting.get()]
        with contextlib.suppress(Empty):
            while len(pieces) < IN_ONE_GO:
                pieces.append(self._waiting.get_nowait())
        for piece in pieces:
            piece.do()
        with contextlib.suppress(RuntimeError):  # nobody waits any more: the loop is closed
            pieces[0].outcome.get_loop().call_soon_threadsafe(_deliver, pieces)


def _deliver(pieces: list[_Piece[Any]]) -> None:
    for piece in pieces:
        piece.deliver()
