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
IDLE_S = 1.0
"""A thread without work goes after so long."""


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
        self._limit_s = deadline_s()
        self._waiting: SimpleQueue[_Piece[Any]] = SimpleQueue()
        self._threads = 0
        self._counting = Lock()

    async def do(self, work: Callable[[], Result], file: object) -> Result:
        """What `work` returns or raises; StoreError as core.disk.within. Cancelling the wait leaves the work alone."""
        outcome: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        piece = _Piece(work, outcome)
        self._waiting.put(piece)
        self._staff()
        try:
            async with asyncio.timeout(self._limit_s):
                return await outcome
        except TimeoutError:
            if piece.error is not None:  # the work itself timed out
                raise
            given_up(lambda: piece.is_done)
            raise too_late(file, self._limit_s) from None

    def _staff(self) -> None:
        """See that somebody works; others come when work piles up, and go when it is done."""
        with self._counting:
            if (self._threads and self._waiting.qsize() <= IN_ONE_GO * self._threads) or self._threads == THREADS:
                return
            self._threads += 1
        # A daemon, because the interpreter waits for every other thread before it ends, and would hang on this one.
        Thread(target=self._work, name="storage", daemon=True).start()

    def _work(self) -> None:
        be_bounded()
        while True:
            pieces = self._taken()
            for piece in pieces:
                piece.do()
            if pieces:
                with contextlib.suppress(RuntimeError):  # nobody waits any more: the loop is closed
                    pieces[0].outcome.get_loop().call_soon_threadsafe(_deliver, pieces)
            with self._counting:
                if self._waiting.empty() and (self._threads > 1 or not pieces):
                    self._threads -= 1
                    return

    def _taken(self) -> list[_Piece[Any]]:
        """What waits, up to so many; nothing after a while without work."""
        pieces: list[_Piece[Any]] = []
        with contextlib.suppress(Empty):
            pieces.append(self._waiting.get(timeout=IDLE_S))
            while len(pieces) < IN_ONE_GO:
                pieces.append(self._waiting.get_nowait())
        return pieces


def _deliver(pieces: list[_Piece[Any]]) -> None:
    for piece in pieces:
        piece.deliver()
