"""Equal work asked for at the same time is done once, and everybody who asked gets the result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class Part(StrEnum):
    """What a caller had to do with the work whose result it got."""

    LED = "led"
    JOINED = "joined"


@dataclass
class _Flight(Generic[Result]):
    task: asyncio.Task[Result]
    waiting: int = 0


class SingleFlight(Generic[Result]):
    """Work in progress by key. Finished work is forgotten: this is no cache."""

    def __init__(self) -> None:
        self._flights: dict[str, _Flight[Result]] = {}

    async def run(self, key: str, work: Callable[[], Coroutine[Any, Any, Result]]) -> tuple[Result, Part]:
        """The result of `work`, or of equal work that is in progress; its error reaches everybody who waits.

        A caller that is cancelled leaves the others undisturbed; the work is cancelled when the last one leaves.
        """
        part = Part.JOINED if key in self._flights else Part.LED
        flight = self._flights.get(key) or self._begin(key, work)
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task), part
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                self._forget(key, flight)
                flight.task.cancel()

    def _begin(self, key: str, work: Callable[[], Coroutine[Any, Any, Result]]) -> _Flight[Result]:
        flight = _Flight(asyncio.create_task(work()))
        self._flights[key] = flight
        flight.task.add_done_callback(lambda _: self._forget(key, flight))
        return flight

    def _forget(self, key: str, flight: _Flight[Result]) -> None:
        """At once when cancelled: whoever comes next must begin anew instead of joining work that is ending."""
        if self._flights.get(key) is flight:
            del self._flights[key]
