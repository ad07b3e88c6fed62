"""The workshop whose adapters live in actors: made where they belong, given out as proxies that go anywhere."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import ray  # noqa: TID251 - this package is the edge where Ray is known
from ray.exceptions import RayError  # noqa: TID251
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: TID251

from core.adapters.build import channel_of
from core.adapters.build import workshop as local_workshop
from core.cluster.actors import EmbedderActor, LlmActor, OpenLocal, ParserActor
from core.cluster.answers import answered, placed
from core.cluster.packing import packed
from core.cluster.proxies import BudgetProxy, EmbedderProxy, ExamplesProxy, IndexProxy, LlmProxy, ParserProxy, Replicas
from core.cluster.session import connected
from core.errors import DependencyDown, EmbedderUnavailable, IndexUnavailable, LlmUnavailable, ParserUnavailable
from core.flows.concurrency import together
from core.model.frozen import digest
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
from core.model.traffic import Steering, Traffic
from core.ports import Clock, Embedder, FewShots, Index, Llm, Parser, Places, Workshop

CLOSE_DEADLINE_S = 15.0
A_BYTE = 1
"""Ray sends an actor that asks for nothing at all to any node, whatever node was named."""


@contextlib.asynccontextmanager
async def workshop(
    places: Places,
    runtime: RuntimeSpec,
    clock: Clock,
    *,
    opening: OpenLocal = local_workshop,
    staffed: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
) -> AsyncIterator[Workshop]:
    """A workshop on the Ray of `runtime.ray`, connected to first and, where it is the run's own, ended with it.

    `opening` is what the actors open their adapters with. The context of `staffed` is that of whoever works there, who
    can start while the adapters open.
    """
    with connected(runtime.ray), staffed():
        async with opening(places, runtime, clock, None) as local:
            shop = RayWorkshop(places, runtime, opening, local)
            try:
                yield shop
            finally:
                await shop.close()


class RayWorkshop:
    """core.ports.Workshop over actors.

    What writes to the run folder stays on this node: the callers of language models, whose recorder it is. Parsers
    and embedding models are made once for every node that runs cells, unless they are servers elsewhere.
    """

    def __init__(self, places: Places, runtime: RuntimeSpec, opening: OpenLocal, local: Workshop) -> None:
        """`local` knows this node's folders; nothing is opened in it."""
        self._opening = opening
        self._places = places
        self._runtime = runtime
        self._local = local
        self._here = ray.get_runtime_context().get_node_id()
        self._parsers: Replicas | None = None
        self._embedders: dict[str, Replicas] = {}
        self._models: dict[str, Any] = {}

    async def parser(self, language: LanguageSpec) -> Parser:
        """The gate for `language`."""
        if self._parsers is None:
            nodes = self._nodes() if self._runtime.parser_url is None else [self._here]
            self._parsers = Replicas({node: self._made(ParserActor, node) for node in nodes})
        which = packed(language)
        await _of_all(self._parsers, lambda actor: actor.info.remote(which), down=ParserUnavailable, who="ParserActor")
        return ParserProxy(self._parsers, language)

    async def llm(self, spec: ModelSpec, role: str, acting: RehearsalSpec | None) -> Llm:
        """A caller of `spec`, in the actor of its provider and key."""
        channel = channel_of(spec, role, self._runtime)
        if channel not in self._models:
            self._models[channel] = self._caller()
            await placed(self._models[channel], down=LlmUnavailable, who="LlmActor")
        actor = self._models[channel]
        await answered(actor, actor.open.remote(spec, role, acting), down=LlmUnavailable, who="LlmActor")
        return LlmProxy(actor, spec, role, acting)

    async def embedder(self, spec: EmbedderSpec) -> Embedder:
        """The embedder of `spec`."""
        actors = self._embedding(spec)
        dimensions = await self._asked(actors, lambda actor: actor.dimensions.remote(spec), EmbedderUnavailable)
        return EmbedderProxy(actors, spec, dimensions)

    async def index(self, spec: IndexSpec, retrieval: RetrievalSpec) -> Index:
        """The index of `spec`, built first on each node where there is none."""
        actors = self._embedding(spec.embedder)
        manifest = await self._asked(actors, lambda actor: actor.manifest.remote(spec, retrieval), IndexUnavailable)
        return IndexProxy(actors, spec, retrieval, manifest)

    async def few_shots(self, spec: FewShotSpec, golden: Path, embedder: EmbedderSpec) -> FewShots:
        """The few-shot pool without the answers of the golden set."""
        actors = self._embedding(embedder)
        record, manifest = await self._asked(
            actors, lambda actor: actor.examples.remote(spec, golden, embedder), IndexUnavailable
        )
        index = None if manifest is None else ExamplesProxy(actors, spec, golden, embedder, manifest)
        return FewShots(index, record)

    def truth(self, acting: RehearsalSpec) -> Path:
        """Where a rehearsal model of this behaviour notes what it spoiled."""
        return self._local.truth(acting)

    async def traffic(self) -> Traffic:
        """What the calls of all providers are doing."""
        seen = [
            await answered(actor, actor.traffic.remote(), down=LlmUnavailable, who="LlmActor")
            for actor in self._models.values()
        ]
        return total(seen)

    async def steer(self, steering: Steering) -> None:
        """Change how calls are made, at every provider."""
        for actor in self._models.values():
            await answered(actor, actor.steer.remote(steering), down=LlmUnavailable, who="LlmActor")

    async def close(self) -> None:
        """End all actors, those first that have servers of ours."""
        actors = list(self._actors())
        with contextlib.suppress(RayError, TimeoutError):
            async with asyncio.timeout(CLOSE_DEADLINE_S):
                await asyncio.gather(*(actor.close.remote() for actor in actors), return_exceptions=True)
        for actor in actors:
            ray.kill(actor)

    def _actors(self) -> Iterator[Any]:
        yield from self._models.values()
        for replicas in (*self._embedders.values(), *([self._parsers] if self._parsers else [])):
            yield from replicas.by_node.values()

    async def _asked(self, actors: Replicas, call: Callable[[Any], Any], down: type[DependencyDown]) -> Any:
        return await _of_all(actors, call, down=down, who="EmbedderActor")

    def _embedding(self, spec: EmbedderSpec) -> Replicas:
        name = digest(spec)
        if name not in self._embedders:
            gpus = self._runtime.ray.gpus_per_embedder
            # A share of a GPU is where Ray finds one; what runs on processors is made beside the cells.
            nodes = [self._here] if gpus else self._nodes()
            self._embedders[name] = Replicas({node: self._made(EmbedderActor, node, gpus=gpus) for node in nodes})
        return self._embedders[name]

    def _nodes(self) -> list[str]:
        """Nodes that can run cells now, this one where there is none yet."""
        able = [node["NodeID"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) > 0]
        return sorted(able) or [self._here]

    def _made(self, kind: Any, node: str, *, gpus: float = 0.0) -> Any:
        place = None if gpus else NodeAffinitySchedulingStrategy(node_id=node, soft=True)
        made = kind.options(num_gpus=gpus, memory=A_BYTE, scheduling_strategy=place)
        return made.remote(self._opening, self._places, self._runtime)

    def _caller(self) -> Any:
        """On this node whatever happens. The first one keeps the budget, which the others share."""
        first = next(iter(self._models.values()), None)
        budget = None if first is None else BudgetProxy(first, self._runtime.budget)
        kind: Any = LlmActor
        place = NodeAffinitySchedulingStrategy(node_id=self._here, soft=False)
        return kind.options(scheduling_strategy=place).remote(self._opening, self._places, self._runtime, budget)


async def _of_all(actors: Replicas, call: Callable[[Any], Any], *, down: type[DependencyDown], who: str) -> Any:
    """What each of `actors` says to `call`: that of the nearest.

    All are asked, so that what opens for the first time does so before the first row, on every node, side by side.
    """

    async def asked(actor: Any) -> Any:
        await placed(actor, down=down, who=who)
        return await answered(actor, call(actor), down=down, who=who)

    said = await together(*map(asked, actors.by_node.values()))
    return said[list(actors.by_node.values()).index(actors.near)]


def total(seen: list[Traffic]) -> Traffic:
    """The traffic of several actors as one. What a run has spent is the same wherever it is asked."""
    return Traffic(
        channels=tuple(channel for traffic in seen for channel in traffic.channels),
        tokens=max((traffic.tokens for traffic in seen), default=0),
        usd=max((traffic.usd for traffic in seen), default=0.0),
        held_tokens=max((traffic.held_tokens for traffic in seen), default=0),
        held_usd=max((traffic.held_usd for traffic in seen), default=0.0),
    )
