"""The pool that runs everything in this process, on this event loop."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import TypeVar

Result = TypeVar("Result")


class InlinePool:
    """core.ports.Pool without processes."""

    async def run(self, source: Callable[[], AsyncIterator[Result]]) -> AsyncIterator[Result]:
        """The results of `source()`, as they come. Closing the iterator closes the source and waits for it."""
        results = source()
        async with closed_after(results):
            async for result in results:
                yield result


@contextlib.asynccontextmanager
async def closed_after(source: AsyncIterator[Result]) -> AsyncIterator[None]:
    """End `source` with the block: a generator left to the collector would go on sending calls."""
    try:
        yield
    finally:
        if isinstance(source, AsyncGenerator):
            await source.aclose()
