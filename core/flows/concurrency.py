"""Work side by side inside one row and across rows, where no task outlives whoever waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def together(*work: Coroutine[Any, Any, Result]) -> list[Result]:
    """Run all of `work` at once; results in order. The first failure cancels the rest and is raised as itself.

    Its cause is the group of all failures, so that none is lost.
    """
    try:
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(part) for part in work]
    except BaseExceptionGroup as failures:
        raise _first(failures) from failures
    return [task.result() for task in running]


async def bounded(
    body: Callable[[Item], Coroutine[Any, Any, Result]], items: Iterable[Item], *, in_flight: int
) -> AsyncGenerator[Result, None]:
    """The results of `body` over `items`, as they come, at most `in_flight` at a time.

    A failure is raised after the results that are ready with it; what was still running is cancelled and awaited, as
    it is when the consumer stops early or is cancelled. Not a TaskGroup, since one must not be suspended at a yield:
    it would cancel its consumer. Raises ValueError for in_flight below 1.
    """
    if in_flight < 1:
        raise ValueError(f"in_flight is {in_flight}; at least one must run")
    waiting = iter(items)
    running: list[asyncio.Task[Result]] = []
    try:
        while True:
            for item in waiting:
                running.append(asyncio.create_task(body(item)))
                if len(running) >= in_flight:
                    break
            if not running:
                return
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            ready = [task for task in running if task.done()]
            failed = [task for task in ready if task.cancelled() or task.exception() is not None]
            running = [task for task in running if task not in ready]
            for task in ready:
                if task not in failed:
                    yield task.result()
            if failed:
                failed[0].result()
    finally:
        await _cancel(running)


async def _cancel(running: Iterable[asyncio.Task[Any]]) -> None:
    tasks = list(running)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
