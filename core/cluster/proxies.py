"""The ports as cells see them where what they reach lives in actors. Proxies are values: they go where cells go."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import ray  # noqa: TID251 - this package is the edge where Ray is known

from core.cluster.answers import answered
from core.cluster.bundles import caller_of
from core.cluster.packing import packed, unpacked
from core.errors import EmbedderUnavailable, IndexUnavailable, LlmUnavailable, ParserUnavailable
from core.model.prompt import Completion, Prompt
from core.model.retrieval import IndexManifest, Query, TextKind
from core.model.sample import Passage
from core.model.specs import (
    BudgetSpec,
    EmbedderSpec,
    FewShotSpec,
    IndexSpec,
    LanguageSpec,
    ModelSpec,
    RehearsalSpec,
    RetrievalSpec,
)
from core.model.syntax import ParseResult, ParserInfo
from core.policy.ledger import Claim, Spend
from core.ports import Matrix


@dataclass(frozen=True)
class Replicas:
    """Actors that do the same, by the node they were made for."""

    by_node: Mapping[str, Any]

    @property
    def near(self) -> Any:
        """The one of the node that asks, or the same other one each time."""
        node = ray.get_runtime_context().get_node_id()
        others = sorted(self.by_node)
        return self.by_node.get(node) or self.by_node[others[int(node[:8], 16) % len(others)]]


@dataclass(frozen=True)
class ParserProxy:
    """core.ports.Parser over ParserActor."""

    actors: Replicas
    language: LanguageSpec

    @cached_property
    def _which(self) -> bytes:
        return packed(self.language)

    async def parse(self, code: str) -> ParseResult:
        """Judge one program."""
        parser = caller_of(self.actors.near, down=ParserUnavailable, who="ParserActor")
        [verdict] = unpacked(await parser.call("parse", self._which, packed(code)))
        return cast("ParseResult", verdict)

    async def info(self) -> ParserInfo:
        """What this parser is."""
        actor = self.actors.near
        call = actor.info.remote(self._which)
        info: ParserInfo = await answered(actor, call, down=ParserUnavailable, who="ParserActor")
        return info


@dataclass(frozen=True)
class EmbedderProxy:
    """core.ports.Embedder over EmbedderActor."""

    actors: Replicas
    spec: EmbedderSpec
    dimensions: int

    @cached_property
    def _which(self) -> bytes:
        return packed(self.spec)

    async def embed(self, texts: Sequence[str], *, kind: TextKind) -> Matrix:
        """Embed `texts`, in order."""
        embedder = caller_of(self.actors.near, down=EmbedderUnavailable, who="EmbedderActor")
        [vectors] = unpacked(await embedder.call("embed", self._which, packed(tuple(texts), kind)))
        return cast("Matrix", vectors)


@dataclass(frozen=True)
class IndexProxy:
    """core.ports.Index over EmbedderActor."""

    actors: Replicas
    spec: IndexSpec
    retrieval: RetrievalSpec
    manifest: IndexManifest

    @cached_property
    def _which(self) -> bytes:
        return packed(self.spec, self.retrieval)

    async def search(self, query: Query) -> tuple[Passage, ...]:
        """Search."""
        index = caller_of(self.actors.near, down=IndexUnavailable, who="EmbedderActor")
        [passages] = unpacked(await index.call("search", self._which, packed(query)))
        return cast("tuple[Passage, ...]", passages)


@dataclass(frozen=True)
class ExamplesProxy:
    """core.ports.Index over the few-shot pool in EmbedderActor."""

    actors: Replicas
    spec: FewShotSpec
    golden: Path
    embedder: EmbedderSpec
    manifest: IndexManifest

    @cached_property
    def _which(self) -> bytes:
        return packed(self.spec, self.golden, self.embedder)

    async def search(self, query: Query) -> tuple[Passage, ...]:
        """Search."""
        index = caller_of(self.actors.near, down=IndexUnavailable, who="EmbedderActor")
        [passages] = unpacked(await index.call("search_examples", self._which, packed(query)))
        return cast("tuple[Passage, ...]", passages)


@dataclass(frozen=True)
class LlmProxy:
    """core.ports.Llm over LlmActor."""

    actor: Any
    spec: ModelSpec
    role: str
    acting: RehearsalSpec | None

    @cached_property
    def _which(self) -> bytes:
        return packed(self.spec, self.role, self.acting)

    async def complete(self, prompt: Prompt) -> Completion:
        """Reply to `prompt`."""
        llm = caller_of(self.actor, down=LlmUnavailable, who="LlmActor")
        [reply] = unpacked(await llm.call("complete", self._which, packed(prompt)))
        return cast("Completion", reply)


@dataclass(frozen=True)
class BudgetProxy:
    """core.policy.ledger.Budget over the LlmActor that keeps it."""

    actor: Any
    cap: BudgetSpec

    @property
    def caps_usd(self) -> bool:
        """Whether there is a cap in dollars."""
        return self.cap.usd is not None

    async def reserve(self, claim: Claim) -> str:
        """Set `claim.worst` aside."""
        call = self.actor.reserve.remote(claim)
        number: str = await answered(self.actor, call, down=LlmUnavailable, who="LlmActor")
        return number

    async def settle(self, hold: str, actual: Spend | None) -> None:
        """State the real use of a hold."""
        settled = answered(self.actor, self.actor.settle.remote(hold, actual), down=LlmUnavailable, who="LlmActor")
        await asyncio.shield(settled)

    async def forfeit(self, owner: str) -> None:
        """Spend every open hold of `owner`."""
        await answered(self.actor, self.actor.forfeit.remote(owner), down=LlmUnavailable, who="LlmActor")
