"""What cells share, each in a process of its own: parsers, embedding models with their indices, language models.

An actor is a workshop behind Ray. Its calls name what they need by specification, so that one that was killed and
started again answers the repeated call without being told anything. Specifications and values come packed; see
core.cluster.packing.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, cast

import ray  # noqa: TID251 - this package is the edge where Ray is known

from core.adapters.build import Workshop
from core.adapters.clock import SystemClock
from core.cluster.answers import RESTARTS
from core.cluster.bundles import Answering
from core.cluster.gathering import GatheringEmbedder
from core.cluster.packing import packed, unpacked
from core.lab.process import collect_rarely, stand_back
from core.model.record import FewShotRecord
from core.model.retrieval import IndexManifest
from core.model.specs import (
    EmbedderSpec,
    FewShotSpec,
    IndexSpec,
    ModelSpec,
    RehearsalSpec,
    RetrievalSpec,
    RuntimeSpec,
)
from core.model.syntax import ParserInfo
from core.model.traffic import Steering, Traffic
from core.policy.ledger import Budget, Claim, Spend
from core.ports import Clock, FewShots, Index, Llm, Parser, Places

OpenLocal = Callable[[Places, RuntimeSpec, Clock, Budget | None], AbstractAsyncContextManager[Workshop]]
"""Opens a workshop inside an actor; sent there."""

SWITCH_S = 0.0001
"""How long a thread of an actor may keep the others from Python, in seconds."""
CALLS_AT_ONCE = 4000
"""Waiting calls cost nothing; how many are really made is the limiter's to say."""

_SHARED: dict[str, Any] = {
    "num_cpus": 0,  # they wait, or compute for cells that have their processors already
    "max_concurrency": CALLS_AT_ONCE,
    "max_restarts": RESTARTS,
    "max_task_retries": RESTARTS,
}


class _Host:
    """A workshop that is opened with the first call."""

    stands_back = True
    """Whether others have the processor first."""

    def __init__(self, opening: OpenLocal, places: Places, runtime: RuntimeSpec, budget: Budget | None = None) -> None:
        self._opening = opening
        self._budget = budget
        self._places = places
        self._runtime = runtime
        self._stack = contextlib.AsyncExitStack()
        self._one_opens = asyncio.Lock()
        self._shop: Workshop | None = None
        self._by_spec: dict[bytes, Any] = {}
        # What is written is waited for, and its thread needs Python several times for each file.
        sys.setswitchinterval(SWITCH_S)
        collect_rarely()
        if self.stands_back:
            stand_back()
        self._answering = Answering(self)

    async def ready(self) -> None:
        """Answered once the actor has a place, and for as long as its process does anything at all."""

    async def exchange(self, bundle: bytes) -> bytes:
        """Many calls at once; see core.cluster.bundles."""
        return await self._answering.exchange(bundle)

    async def close(self) -> None:
        """Close what was opened; the servers of ours end."""
        await self._stack.aclose()

    async def _opened(self, which: bytes, opening: Callable[[Workshop], Awaitable[Any]]) -> Any:
        """What `opening` opens for the specification in `which`. Looked up by its bytes, which cost no reading."""
        if which not in self._by_spec:
            shop = await self._workshop()
            async with self._one_opens:
                if which not in self._by_spec:
                    self._by_spec[which] = await opening(shop)
        return self._by_spec[which]

    async def _workshop(self) -> Workshop:
        async with self._one_opens:
            if self._shop is None:
                opened = self._opening(self._places, self._runtime, SystemClock(), self._budget)
                self._shop = await self._stack.enter_async_context(opened)
            return self._shop


@ray.remote(**_SHARED)
class ParserActor(_Host):
    """The parser clients of one node: one breaker and one ceiling for all cells there."""

    async def parse(self, language: bytes, asked: bytes) -> bytes:
        """As core.ports.Parser: the verdict on the code in `asked`, packed."""
        [code] = unpacked(asked)
        return packed(await (await self._parser(language)).parse(code))

    async def info(self, language: bytes) -> ParserInfo:
        """As core.ports.Parser."""
        return await (await self._parser(language)).info()

    async def _parser(self, language: bytes) -> Parser:
        """For the LanguageSpec in `language`."""
        return cast("Parser", await self._opened(language, lambda shop: shop.parser(*unpacked(language))))


@ray.remote(**_SHARED)
class EmbedderActor(_Host):
    """One embedding model, and the indices that are searched with it."""

    _gathering: GatheringEmbedder | None = None

    async def dimensions(self, spec: EmbedderSpec) -> int:
        """As core.ports.Embedder."""
        return (await self._embedder(packed(spec))).dimensions

    async def embed(self, which: bytes, asked: bytes) -> bytes:
        """As core.ports.Embedder, for the texts and their kind in `asked`: the vectors, packed. Queries of all cells
        go to the model together.
        """
        texts, kind = unpacked(asked)
        return packed(await (await self._embedder(which)).embed(texts, kind=kind))

    async def manifest(self, spec: IndexSpec, retrieval: RetrievalSpec) -> IndexManifest:
        """What the index of `spec` is, built first where there is none."""
        return (await self._index(packed(spec, retrieval))).manifest

    async def search(self, which: bytes, asked: bytes) -> bytes:
        """As core.ports.Index: the passages for the query in `asked`, packed."""
        [query] = unpacked(asked)
        return packed(await (await self._index(which)).search(query))

    async def examples(
        self, spec: FewShotSpec, golden: Path, embedder: EmbedderSpec
    ) -> tuple[FewShotRecord, IndexManifest | None]:
        """What the few-shot pool is; no manifest where it is off or degraded."""
        pool = await self._pool(packed(spec, golden, embedder))
        return pool.record, pool.index.manifest if pool.index is not None else None

    async def search_examples(self, which: bytes, asked: bytes) -> bytes:
        """As core.ports.Index, over the few-shot pool, which was there when it was opened."""
        pool = await self._pool(which)
        [query] = unpacked(asked)
        return packed(await pool.index.search(query) if pool.index is not None else ())

    async def _embedder(self, which: bytes) -> GatheringEmbedder:
        """Over the one model of this actor."""
        embedder = await self._opened(which, lambda shop: shop.embedder(*unpacked(which)))
        if self._gathering is None:
            self._gathering = GatheringEmbedder(embedder)
        return self._gathering

    async def _index(self, which: bytes) -> Index:
        return cast("Index", await self._opened(which, lambda shop: shop.index(*unpacked(which))))

    async def _pool(self, which: bytes) -> FewShots:
        return cast("FewShots", await self._opened(which, lambda shop: shop.few_shots(*unpacked(which))))


@ray.remote(**_SHARED)
class LlmActor(_Host):
    """All calls to one provider under one key: one quota, one budget, one recorder, whatever node asks."""

    stands_back = False

    def __init__(self, *of: Any) -> None:
        super().__init__(*of)
        self._one_begins = asyncio.Lock()

    async def open(self, spec: ModelSpec, role: str, acting: RehearsalSpec | None) -> None:
        """Open the caller of `spec`, so that what is wrong with it is told before the first call."""
        await (await self._workshop()).llm(spec, role, acting)

    async def complete(self, which: bytes, asked: bytes) -> bytes:
        """As core.ports.Llm: the completion of the prompt in `asked`, packed."""
        caller: Llm = await self._opened(which, lambda shop: shop.llm(*unpacked(which)))
        async with (
            self._one_begins
        ):  # one after the other: a reply that came meanwhile goes first, since it holds a place
            await asyncio.sleep(0)  # noqa: TID251 - a turn, no time
        [prompt] = unpacked(asked)
        return packed(await caller.complete(prompt))

    async def traffic(self) -> Traffic:
        """As core.ports.Workshop."""
        return await (await self._workshop()).traffic()

    async def steer(self, steering: Steering) -> None:
        """As core.ports.Workshop."""
        await (await self._workshop()).steer(steering)

    async def reserve(self, claim: Claim) -> str:
        """As core.policy.ledger.Budget, for the actors of other providers: the budget of a run is one."""
        return await (await (await self._workshop()).budget()).reserve(claim)

    async def settle(self, hold: str, actual: Spend | None) -> None:
        """As core.policy.ledger.Budget."""
        await (await (await self._workshop()).budget()).settle(hold, actual)

    async def forfeit(self, owner: str) -> None:
        """As core.policy.ledger.Budget."""
        await (await (await self._workshop()).budget()).forfeit(owner)
