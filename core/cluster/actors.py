"""What cells share, each in a process of its own: parsers, embedding models with their indices, language models.

An actor is a workshop behind Ray. Its calls name what they need by specification, so that one that was killed and
started again answers the repeated call without being told anything.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import ray  # noqa: TID251 - this package is the edge where Ray is known

from core.adapters.build import Workshop
from core.adapters.clock import SystemClock
from core.cluster.answers import RESTARTS
from core.cluster.gathering import GatheringEmbedder
from core.model.prompt import Completion, Prompt
from core.model.record import FewShotRecord
from core.model.retrieval import IndexManifest, Query, TextKind
from core.model.sample import Passage
from core.model.specs import (
    EmbedderSpec,
    FewShotSpec,
    IndexSpec,
    LanguageSpec,
    ModelSpec,
    RehearsalSpec,
    RetrievalSpec,
    RuntimeSpec,
)
from core.model.syntax import ParseResult, ParserInfo
from core.model.traffic import Steering, Traffic
from core.policy.ledger import Budget, Claim, Spend
from core.ports import Clock, Index, Matrix, Places

OpenLocal = Callable[[Places, RuntimeSpec, Clock, Budget | None], AbstractAsyncContextManager[Workshop]]
"""Opens a workshop inside an actor; sent there."""

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

    def __init__(self, opening: OpenLocal, places: Places, runtime: RuntimeSpec, budget: Budget | None = None) -> None:
        self._opening = opening
        self._budget = budget
        self._places = places
        self._runtime = runtime
        self._stack = contextlib.AsyncExitStack()
        self._one_opens = asyncio.Lock()
        self._shop: Workshop | None = None

    async def ready(self) -> None:
        """Answered once the actor has a place, and for as long as its process does anything at all."""

    async def close(self) -> None:
        """Close what was opened; the servers of ours end."""
        await self._stack.aclose()

    async def _workshop(self) -> Workshop:
        async with self._one_opens:
            if self._shop is None:
                opened = self._opening(self._places, self._runtime, SystemClock(), self._budget)
                self._shop = await self._stack.enter_async_context(opened)
            return self._shop


@ray.remote(**_SHARED)
class ParserActor(_Host):
    """The parser clients of one node: one breaker and one ceiling for all cells there."""

    async def parse(self, language: LanguageSpec, code: str) -> ParseResult:
        """As core.ports.Parser."""
        return await (await (await self._workshop()).parser(language)).parse(code)

    async def info(self, language: LanguageSpec) -> ParserInfo:
        """As core.ports.Parser."""
        return await (await (await self._workshop()).parser(language)).info()


@ray.remote(**_SHARED)
class EmbedderActor(_Host):
    """One embedding model, and the indices that are searched with it."""

    _gathering: GatheringEmbedder | None = None

    async def dimensions(self, spec: EmbedderSpec) -> int:
        """As core.ports.Embedder."""
        return (await self._embedder(spec)).dimensions

    async def embed(self, spec: EmbedderSpec, texts: Sequence[str], kind: TextKind) -> Matrix:
        """As core.ports.Embedder; queries of all cells go to the model together."""
        return await (await self._embedder(spec)).embed(texts, kind=kind)

    async def manifest(self, spec: IndexSpec, retrieval: RetrievalSpec) -> IndexManifest:
        """What the index of `spec` is, built first where there is none."""
        return (await self._index(spec, retrieval)).manifest

    async def search(self, spec: IndexSpec, retrieval: RetrievalSpec, query: Query) -> tuple[Passage, ...]:
        """As core.ports.Index."""
        return await (await self._index(spec, retrieval)).search(query)

    async def examples(
        self, spec: FewShotSpec, golden: Path, embedder: EmbedderSpec
    ) -> tuple[FewShotRecord, IndexManifest | None]:
        """What the few-shot pool is; no manifest where it is off or degraded."""
        pool = await (await self._workshop()).few_shots(spec, golden, embedder)
        return pool.record, pool.index.manifest if pool.index is not None else None

    async def search_examples(
        self, spec: FewShotSpec, golden: Path, embedder: EmbedderSpec, query: Query
    ) -> tuple[Passage, ...]:
        """As core.ports.Index, over the few-shot pool, which was there when it was opened."""
        pool = await (await self._workshop()).few_shots(spec, golden, embedder)
        return await pool.index.search(query) if pool.index is not None else ()

    async def _embedder(self, spec: EmbedderSpec) -> GatheringEmbedder:
        """Over the one model of this actor."""
        embedder = await (await self._workshop()).embedder(spec)
        if self._gathering is None:
            self._gathering = GatheringEmbedder(embedder)
        return self._gathering

    async def _index(self, spec: IndexSpec, retrieval: RetrievalSpec) -> Index:
        return await (await self._workshop()).index(spec, retrieval)


@ray.remote(**_SHARED)
class LlmActor(_Host):
    """All calls to one provider under one key: one quota, one budget, one recorder, whatever node asks."""

    async def open(self, spec: ModelSpec, role: str, acting: RehearsalSpec | None) -> None:
        """Open the caller of `spec`, so that what is wrong with it is told before the first call."""
        await (await self._workshop()).llm(spec, role, acting)

    async def complete(self, spec: ModelSpec, role: str, acting: RehearsalSpec | None, prompt: Prompt) -> Completion:
        """As core.ports.Llm."""
        return await (await (await self._workshop()).llm(spec, role, acting)).complete(prompt)

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
