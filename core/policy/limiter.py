"""How many calls may be in flight at once, over the whole process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator


class Limiter:
    """A fixed ceiling. Callers wait in order of arrival; a cancelled or timed-out wait takes no place.

    Adaptive ceilings fit behind the same `slot`: the ceiling is read at every admission, never by callers.
    """

    def __init__(self, ceiling: int) -> None:
        if ceiling < 1:
            raise ValueError(f"a ceiling of {ceiling} would let nothing pass")
        self._places = asyncio.Semaphore(ceiling)
        self._in_flight = 0

    @property
    def in_flight(self) -> int:
        """How many slots are taken now."""
        return self._in_flight

    @contextlib.asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """One place, held while the context is open. Put `asyncio.timeout` around it to bound the wait."""
        async with self._places:
            self._in_flight += 1
            try:
                yield
            finally:
                self._in_flight -= 1
