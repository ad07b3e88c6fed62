"""Processes that die or get stuck under whoever waits for them."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

import pytest
import ray  # noqa: TID251 - what is tested is the edge where it is known

from core.cluster import answers
from core.cluster.pool import RayPool
from core.errors import ParserUnavailable, WorkerLost
from core.model.specs import RaySpec

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]


@pytest.fixture
def pool(own_ray: None) -> Iterator[RayPool]:
    workers = RayPool(RaySpec(workers=1, cpus_per_worker=0.5), cells=2)
    yield workers
    workers.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "SILENCE_S", 0.1)
    monkeypatch.setattr(answers, "ALIVE_DEADLINE_S", 1.0)


async def pid_and_then_nothing() -> AsyncIterator[int]:
    yield os.getpid()
    await asyncio.Event().wait()


async def slowly(rows: int) -> AsyncIterator[int]:
    for row in range(rows):
        await asyncio.get_running_loop().run_in_executor(None, partial(os.waitstatus_to_exitcode, 0))
        yield row


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("fate", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_worker_that_dies_or_is_stuck_is_lost_and_replaced(fate: signal.Signals, pool: RayPool) -> None:
    results = pool.run(pid_and_then_nothing)
    os.kill(await anext(results), fate)
    with pytest.raises(WorkerLost, match="the worker that ran a cell is gone"):
        await anext(results)
    assert [row async for row in pool.run(partial(slowly, 3))] == [0, 1, 2]


@pytest.mark.usefixtures("impatient")
async def test_an_actor_that_is_stuck_is_a_dependency_that_is_down(own_ray: None) -> None:
    stuck: Any = ray.remote(num_cpus=0, max_concurrency=4)(Stuck).remote()
    await answers.placed(stuck, down=ParserUnavailable, who="Stuck")
    try:
        with pytest.raises(ParserUnavailable, match=r"did not answer within 1 s") as caught:
            await answers.answered(stuck, stuck.stop.remote(), down=ParserUnavailable, who="Stuck")
        assert caught.value.endpoint == "Stuck"
    finally:
        ray.kill(stuck)


class Stuck:
    """Stops its own process."""

    async def ready(self) -> None:
        return None

    async def stop(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)


async def test_no_place_in_time_is_a_dependency_that_is_down(own_ray: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "PLACE_DEADLINE_S", 0.2)
    wanting: Any = ray.remote(num_gpus=100, max_concurrency=4)(Stuck).remote()
    with pytest.raises(ParserUnavailable, match="no place"):
        await answers.placed(wanting, down=ParserUnavailable, who="Stuck")
    ray.kill(wanting)
