"""Workers that start while the rest opens, and what they are like when the first cell comes."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import AsyncIterator

import psutil
import pytest

from core.cluster.pool import RayPool
from core.lab.process import BEHIND
from core.model.specs import RaySpec

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(120)]

PYTHONS_OWN = 700
"""Allocations between two looks of the collector."""


NEEDED = ("experiments.leakage", "core.cluster.actors", "core.cluster.proxies", "core.lab.streaming")
"""By the experiment that the pool is told of, and by what cells are sent as."""


async def seen() -> AsyncIterator[tuple[int, list[str], int, int]]:
    yield os.getpid(), [name for name in NEEDED if name not in sys.modules], os.nice(0), gc.get_threshold()[0]


async def test_they_have_loaded_what_cells_need_stand_back_and_end_with_the_context(own_ray: None) -> None:
    from experiments.leakage import Leakage  # not above: a worker imports this module to find `seen`

    pool = RayPool(RaySpec(workers=2, cpus_per_worker=0.5), cells=2, known=Leakage())
    with pool.hired():
        both = await asyncio.gather(*(anext(pool.run(seen)) for _ in range(2)))
        processes = [psutil.Process(pid) for pid, *_ in both]
    assert processes[0] != processes[1]
    for _, missing, niceness, threshold in both:
        assert missing == []
        assert niceness == min(19, os.nice(0) + BEHIND)
        assert threshold > PYTHONS_OWN
    assert not psutil.wait_procs(processes, timeout=20)[1]
