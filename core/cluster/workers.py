"""The process that runs cells: it takes a source, and streams what the source yields."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable

import ray  # noqa: TID251 - this package is the edge where Ray is known

from core.cluster.packing import packed
from core.lab.inline import closed_after
from core.lab.process import collect_rarely, stand_back

CELLS_AT_ONCE = 1000
"""Cells that wait on others take no processor; how many run is the laboratory's to say."""

LOADED_AHEAD = ("core.cluster.actors", "core.cluster.proxies", "core.lab.streaming")
"""Modules that the first source would import as it is unpickled. Named, because Ray sends a class as a value: what this
file imports and the class does not use is not imported there.
"""


@ray.remote(max_concurrency=CELLS_AT_ONCE, max_restarts=0)
class CellWorker:
    """Runs sources on its event loop. It is not restarted: the cells it had must first be told what they lost."""

    def __init__(self, known: object) -> None:  # noqa: ARG002 - its modules have been loaded by now, which is its use
        """With what it takes to understand `known`, and the first source."""
        for module in LOADED_AHEAD:
            importlib.import_module(module)
        collect_rarely()
        stand_back()

    async def ready(self) -> None:
        """Answered once the worker has a place and has started, and for as long as its process does anything."""

    async def rows(self, source: Callable[[], AsyncIterator[object]]) -> AsyncIterator[bytes]:
        """What `source()` yields, in its order, packed."""
        rows = source()
        async with closed_after(rows):
            async for row in rows:
                yield packed(row)
