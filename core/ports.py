"""The outside world as Assay sees it. Adapters raise core.errors; checks classify them once; callers decide."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from core.model.prompt import Completion, Prompt
from core.model.retrieval import IndexManifest, Query, TextKind
from core.model.sample import Passage, Sample
from core.model.syntax import ParseResult, ParserInfo
from core.model.verdict import Verdict

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Matrix = NDArray[numpy.float32]
else:
    Matrix = Any

Item = TypeVar("Item")
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


@dataclass(frozen=True)
class Done(Generic[Item, Result]):
    """The end of one item's work: exactly one of `result` and `error` is set."""

    item: Item
    result: Result | None = None
    error: Exception | None = None


class Pool(Protocol):
    """Runs a body over items, `limit` at a time, in any order. Errors are values: one bad cell loses no other."""

    def map(
        self, body: Callable[[Item], Awaitable[Result]], items: Sequence[Item], *, limit: int
    ) -> AsyncIterator[Done[Item, Result]]:
        """Run `body` over `items`."""


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
