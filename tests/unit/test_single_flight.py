"""Equal work at once is done once; leaving, failing and coming late are all somebody's right."""

import asyncio

import pytest

from core.adapters.single_flight import Part, SingleFlight


async def test_who_comes_together_shares_and_who_comes_later_begins_anew() -> None:
    flights = SingleFlight[int]()
    begun = 0

    async def work() -> int:
        nonlocal begun
        begun += 1
        return begun

    assert await asyncio.gather(*(flights.run("k", work) for _ in range(3))) == [
        (1, Part.LED),
        (1, Part.JOINED),
        (1, Part.JOINED),
    ]
    assert await flights.run("k", work) == (2, Part.LED)


async def test_keys_do_not_wait_for_each_other() -> None:
    flights = SingleFlight[str]()
    gate = asyncio.Event()

    async def slow() -> str:
        await gate.wait()
        return "slow"

    async def quick() -> str:
        return "quick"

    waiting = asyncio.ensure_future(flights.run("a", slow))
    assert await flights.run("b", quick) == ("quick", Part.LED)
    gate.set()
    assert await waiting == ("slow", Part.LED)


async def test_who_comes_while_abandoned_work_is_ending_begins_anew() -> None:
    """The abandoned work is still cleaning up when the next caller arrives: it must not share its cancellation."""
    flights = SingleFlight[str]()
    begun, cleaning, clean = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def abandoned() -> str:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaning.set()
            await clean.wait()
        return "never"

    async def fresh() -> str:
        return "fresh"

    first = asyncio.ensure_future(flights.run("k", abandoned))
    await begun.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    await cleaning.wait()
    assert await flights.run("k", fresh) == ("fresh", Part.LED)
    clean.set()
