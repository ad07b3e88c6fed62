"""The ports as cells see them where what they reach lives in actors. Proxies are values: they go where cells go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray  # noqa: TID251 - this package is the edge where Ray is known

from core.cluster.answers import answered
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

    async def parse(self, code: str) -> ParseResult:
        """Judge one program."""
        actor = self.actors.near
        call = actor.parse.remote(self.language, code)
        verdict: ParseResult = await answered(actor, call, down=ParserUnavailable, who="ParserActor")
        return verdict

    async def info(self) -> ParserInfo:
        """What this parser is."""
        actor = self.actors.near
        call = actor.info.remote(self.language)
        info: ParserInfo = await answered(actor, call, down=ParserUnavailable, who="ParserActor")
        return info


@dataclass(frozen=True)
class EmbedderProxy:
    """core.ports.Embedder over EmbedderActor."""

    actors: Replicas
    spec: EmbedderSpec
    dimensions: int

    async def embed(self, texts: Sequence[str], *, kind: TextKind) -> Matrix:
        """Embed `texts`, in order."""
        actor = self.actors.near
        call = actor.embed.remote(self.spec, tuple(texts), kind)
        vectors: Matrix = await answered(actor, call, down=EmbedderUnavailable, who="EmbedderActor")
        return vectors


@dataclass(frozen=True)
class IndexProxy:
    """core.ports.Index over EmbedderActor."""

    actors: Replicas
    spec: IndexSpec
    retrieval: RetrievalSpec
    manifest: IndexManifest

    async def search(self, query: Query) -> tuple[Passage, ...]:
        """Search."""
        actor = self.actors.near
        call = actor.search.remote(self.spec, self.retrieval, query)
        passages: tuple[Passage, ...] = await answered(actor, call, down=IndexUnavailable, who="EmbedderActor")
        return passages


@dataclass(frozen=True)
class ExamplesProxy:
    """core.ports.Index over the few-shot pool in EmbedderActor."""

    actors: Replicas
    spec: FewShotSpec
    golden: Path
    embedder: EmbedderSpec
    manifest: IndexManifest

    async def search(self, query: Query) -> tuple[Passage, ...]:
        """Search."""
        actor = self.actors.near
        call = actor.search_examples.remote(self.spec, self.golden, self.embedder, query)
        passages: tuple[Passage, ...] = await answered(actor, call, down=IndexUnavailable, who="EmbedderActor")
        return passages


@dataclass(frozen=True)
class LlmProxy:
    """core.ports.Llm over LlmActor."""

    actor: Any
    spec: ModelSpec
    role: str
    acting: RehearsalSpec | None

    async def complete(self, prompt: Prompt) -> Completion:
        """Reply to `prompt`."""
        call = self.actor.complete.remote(self.spec, self.role, self.acting, prompt)
        reply: Completion = await answered(self.actor, call, down=LlmUnavailable, who="LlmActor")
        return reply


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
        await answered(self.actor, self.actor.settle.remote(hold, actual), down=LlmUnavailable, who="LlmActor")

    async def forfeit(self, owner: str) -> None:
        """Spend every open hold of `owner`."""
        await answered(self.actor, self.actor.forfeit.remote(owner), down=LlmUnavailable, who="LlmActor")
