"""Work side by side: every item ends once, failures are values, the limit holds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from core.lab.side_by_side import side_by_side


async def double(item: int) -> int:
    return 2 * item


async def fails_on_three(item: int) -> int:
    if item == 3:
        raise ValueError("three")
    return item


async def test_every_item_ends_once() -> None:
    ends = [end async for end in side_by_side(double, range(20), limit=3)]
    assert sorted((end.item, end.result) for end in ends) == [(n, 2 * n) for n in range(20)]


async def test_nothing_to_do() -> None:
    nothing: list[int] = []
    assert not [end async for end in side_by_side(double, nothing, limit=1)]


async def test_errors_are_values_and_cost_no_other_item() -> None:
    ends = {end.item: end async for end in side_by_side(fails_on_three, range(6), limit=2)}
    assert isinstance(ends[3].error, ValueError)
    assert ends[3].result is None
    assert [ends[n].result for n in (0, 1, 2, 4, 5)] == [0, 1, 2, 4, 5]


async def test_limit_is_kept_and_reached() -> None:
    running, most = 0, 0

    async def body(item: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)  # noqa: TID251 - gives way once, so that others may start
        running -= 1
        return item

    assert len([end async for end in side_by_side(body, range(12), limit=4)]) == 12
    assert most == 4


async def test_leaving_early_ends_what_is_in_flight() -> None:
    cancelled: list[int] = []

    async def body(item: int) -> int:
        if item == 0:
            return item
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(item)
            raise
        return item

    ends = side_by_side(body, range(5), limit=3)
    assert (await anext(ends)).item == 0
    assert isinstance(ends, AsyncGenerator)
    await asyncio.sleep(0)  # noqa: TID251 - lets the other bodies reach their wait
    await ends.aclose()
    assert sorted(cancelled) == [1, 2]


async def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        await anext(side_by_side(double, [1], limit=0))
