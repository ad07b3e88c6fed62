"""The outside world as Assay sees it. Adapters raise core.errors; checks classify them once; callers decide."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from core.model.prompt import Completion, Prompt
from core.model.record import FewShotRecord
from core.model.retrieval import IndexManifest, Query, TextKind
from core.model.sample import Passage, Sample
from core.model.specs import (
    EmbedderSpec,
    FewShotSpec,
    IndexSpec,
    LanguageSpec,
    ModelSpec,
    RehearsalSpec,
    RetrievalSpec,
)
from core.model.syntax import ParseResult, ParserInfo
from core.model.traffic import Steering, Traffic
from core.model.verdict import Verdict

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Matrix = NDArray[numpy.float32]
else:
    Matrix = Any

Result = TypeVar("Result")


class Check(Protocol):
    """Judges one sample. Never raises for an absent dependency: that is UNKNOWN."""

    async def __call__(self, sample: Sample) -> Verdict | None:
        """Judge `sample`; None when the check does not apply to it."""


class Parser(Protocol):
    """The syntactic gate. Raises ParserUnavailable (no evidence) or ParserRefused (request not acceptable)."""

    async def parse(self, code: str) -> ParseResult:
        """Judge one program."""

    async def info(self) -> ParserInfo:
        """What this parser is."""


class Llm(Protocol):
    """A language model. Raises LlmUnavailable, LlmRefused, BudgetExhausted."""

    async def complete(self, prompt: Prompt) -> Completion:
        """Reply to `prompt`, from a recording when one exists."""


class Embedder(Protocol):
    """Texts to unit vectors, float32 of shape (len(texts), dimensions). Raises EmbedderUnavailable."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    async def embed(self, texts: Sequence[str], *, kind: TextKind) -> Matrix:
        """Embed `texts`, in order."""


class Entailer(Protocol):
    """Probability in [0, 1] that each (premise, hypothesis) holds."""

    async def entails(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """Score `pairs`, in order."""


class Index(Protocol):
    """Passages by relevance, best first, at most query.k. Raises IndexUnavailable."""

    @property
    def manifest(self) -> IndexManifest:
        """Where this index came from."""

    async def search(self, query: Query) -> tuple[Passage, ...]:
        """Search."""


class Clock(Protocol):
    """Time, injected. `monotonic` in seconds; `now` is UTC in ISO 8601."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""

    def now(self) -> str:
        """The date and time."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class Progress(Protocol):
    """Told of every finished row, so that a person can watch. Must not raise."""

    def advance(self, cell: str, rows: int = 1) -> None:
        """`rows` more rows of `cell` are done."""


class Pool(Protocol):
    """Where cells run: in this process, or on the workers of a cluster."""

    def run(self, source: Callable[[], AsyncIterator[Result]]) -> AsyncIterator[Result]:
        """The results of `source()`, in its order, as they come; they are asked for no faster than they are taken.

        `source` must be picklable where workers are other processes. Raises what it raises, with its type, after the
        results before it; WorkerLost when whoever ran it is gone: run a source for the rest. Closing the iterator
        ends the work, and returns once it has ended.
        """


@dataclass(frozen=True)
class Ports:
    """What one cell may reach. A flow never learns whether a port is local or a proxy of something shared."""

    parser: Parser
    generator: Llm
    judge: Llm
    embedder: Embedder
    index: Index
    examples: Index | None
    """The few-shot pool; None when it is unavailable, and the run is then flagged as degraded."""
    clock: Clock


@dataclass(frozen=True)
class FewShots:
    """The few-shot pool, open or not, and what the record says of it."""

    index: Index | None
    record: FewShotRecord


@dataclass(frozen=True)
class Places:
    """The folders that adapters read and write."""

    configs: Path
    cache: Path
    """Shared by all runs: indices, embeddings. Everything in it can be rebuilt."""
    recordings: Path
    logs: Path


class Workshop(Protocol):
    """From specifications to open ports; each distinct one is opened once. Raises core.errors for what cannot be had.

    What it gives can be used for as long as it is open, and goes wherever the pool beside it runs cells.
    """

    async def parser(self, language: LanguageSpec) -> Parser:
        """The gate for `language`."""

    async def llm(self, spec: ModelSpec, role: str, acting: RehearsalSpec | None) -> Llm:
        """A caller of `spec`; `acting` says how a rehearsal model behaves."""

    async def embedder(self, spec: EmbedderSpec) -> Embedder:
        """The embedder of `spec`."""

    async def index(self, spec: IndexSpec, retrieval: RetrievalSpec) -> Index:
        """The index of `spec`, built first where there is none."""

    async def few_shots(self, spec: FewShotSpec, golden: Path, embedder: EmbedderSpec) -> FewShots:
        """The few-shot pool without the answers of the golden set. One that cannot be had is degraded, no error."""

    def truth(self, acting: RehearsalSpec) -> Path:
        """Where a rehearsal model of this behaviour notes what it spoiled, once it runs."""

    async def traffic(self) -> Traffic:
        """What the language-model calls are doing."""

    async def steer(self, steering: Steering) -> None:
        """Change how they are made, from now on."""
