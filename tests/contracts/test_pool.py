"""What every core.ports.Pool promises. A pool joins as a parameter of the fixture."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest

from core.errors import ParserUnavailable
from core.lab.inline import InlinePool
from core.model.specs import RaySpec
from core.ports import Pool


@pytest.fixture(scope="module")
def workers(own_ray: None) -> Iterator[Pool]:
    """One pool for all tests: its workers take seconds to start."""
    from core.cluster.pool import RayPool

    pool = RayPool(RaySpec(workers=2), cells=8)
    yield pool
    pool.close()


@pytest.fixture(params=[pytest.param("inline"), pytest.param("ray", marks=pytest.mark.cluster)])
def pool(request: pytest.FixtureRequest) -> Pool:
    if request.param == "inline":
        return InlinePool()
    on_ray: Pool = request.getfixturevalue("workers")
    return on_ray


async def doubles(until: int) -> AsyncIterator[int]:
    for number in range(until):
        yield 2 * number


async def down_after(until: int) -> AsyncIterator[int]:
    for number in range(until):
        yield number
    raise ParserUnavailable("gone", endpoint="here:1", remedy="start it")


async def notes_its_end(folder: Path) -> AsyncIterator[int]:
    try:
        yield 1
        await asyncio.Event().wait()
    finally:
        (folder / "ended").touch()


async def test_results_come_in_their_order(pool: Pool) -> None:
    assert [result async for result in pool.run(partial(doubles, 200))] == [2 * n for n in range(200)]


async def test_a_source_may_be_empty(pool: Pool) -> None:
    assert not [result async for result in pool.run(partial(doubles, 0))]


async def test_an_error_comes_after_the_results_before_it_and_is_itself(pool: Pool) -> None:
    results = pool.run(partial(down_after, 3))
    assert [await anext(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ParserUnavailable) as caught:
        await anext(results)
    assert (str(caught.value), caught.value.endpoint, caught.value.remedy) == ("gone", "here:1", "start it")


async def test_sources_run_side_by_side(pool: Pool) -> None:
    async def total(until: int) -> int:
        return sum([result async for result in pool.run(partial(doubles, until))])

    assert await asyncio.gather(*map(total, range(8))) == [n * (n - 1) for n in range(8)]


async def test_leaving_early_ends_the_source(pool: Pool, tmp_path: Path) -> None:
    results = pool.run(partial(notes_its_end, tmp_path))
    assert isinstance(results, AsyncGenerator)
    assert await anext(results) == 1
    await results.aclose()
    assert (tmp_path / "ended").exists()
