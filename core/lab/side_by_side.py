"""Work on several items at once on this event loop, where the failure of one is a value and costs no other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Done(Generic[Item, Result]):
    """The end of one item's work: exactly one of `result` and `error` is set."""

    item: Item
    result: Result | None = None
    error: Exception | None = None


async def side_by_side(
    body: Callable[[Item], Awaitable[Result]], items: Sequence[Item], *, limit: int
) -> AsyncIterator[Done[Item, Result]]:
    """Run `body` over `items`, at most `limit` at a time; ends come as they happen. ValueError if `limit` < 1.

    Closing the iterator early cancels what is in flight and waits for it.
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    waiting = iter(items)
    running: set[asyncio.Task[Done[Item, Result]]] = set()
    try:
        while True:
            for item in waiting:
                running.add(asyncio.create_task(_run(body, item)))
                if len(running) >= limit:
                    break
            if not running:
                return
            ended, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                yield task.result()
    finally:
        await _cancel(running)


async def _run(body: Callable[[Item], Awaitable[Result]], item: Item) -> Done[Item, Result]:
    try:
        return Done(item, result=await body(item))
    except Exception as error:  # noqa: BLE001 - errors are values here: the caller decides what they mean
        return Done(item, error=error)


async def _cancel(tasks: set[asyncio.Task[Done[Item, Result]]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
