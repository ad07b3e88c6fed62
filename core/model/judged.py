"""One judged row: a question, its answer in one run, what the gate said of the code, what the judges scored."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from core.model.frozen import Frozen
from core.model.prompt import StopReason, Usage
from core.model.record import FewShotStatus
from core.model.sample import Passage, QueryType
from core.model.syntax import Category, ParseResult, Validity


class BlockKind(StrEnum):
    """Why a code block of an answer was, or was not, sent to the parser."""

    CODE = "code"
    """Labelled avap, or unlabelled in a CODE_GENERATION answer: parsed."""
    FOREIGN = "foreign_block"
    """Labelled as another language: counted, never parsed."""
    UNLABELLED = "unlabelled"
    """No label, outside CODE_GENERATION: may be output or a shell line."""
    INDENTED = "indented"
    """Set off by four spaces and no fence: may be a wrapped list item."""
    EMPTY = "empty"
    """A fence around nothing."""


class Block(Frozen):
    """A code block of an answer. `result` is there exactly when the kind is CODE and the parser was asked."""

    kind: BlockKind
    label: str
    """First word of the info string, lower case; empty when there is none."""
    line: int
    """Line of the answer, from 1, on which the block opens."""
    closed: bool
    """False for a fence that the answer never closes."""
    code: str
    result: ParseResult | None = None


class UnscoredReason(StrEnum):
    """Why a metric has no number. Counted in reports, so the list is short; the row's `detail` has the particulars."""

    NO_ANSWER = "no_answer"
    """The generator refused or gave an empty text."""
    NO_STATEMENTS = "no_statements"
    """The judge found nothing to verify."""
    NO_PASSAGES = "no_passages"
    NO_CODE = "no_code"
    """The answer bears no code: syntactic validity does not apply."""
    NO_GOLD = "no_gold"
    """The question names no gold passages: recall does not apply."""
    UNDEFINED = "undefined"
    """An embedding without direction."""
    MALFORMED = "malformed_reply"
    TRUNCATED = "truncated_reply"
    DECLINED = "judge_declined"
    """The judge model declined to answer."""
    REFUSED = "request_refused"
    """The provider refused the judge request."""
    PART_UNSCORED = "part_unscored"
    """The global score of a row that lacks one of its four parts."""
    MISSING = "row_missing"
    """The run did not get to this row."""


class Finding(Frozen):
    """One thing a judge was asked about: a statement, a passage or a generated question."""

    id: str
    text: str
    value: Annotated[int, Field(ge=0, le=1)]
    """1 is supported, attributed, useful or noncommittal, as the metric asks."""
    reason: str = ""


class Score(Frozen):
    """One metric of one row: `raw` as judged, `final` after the gate.

    `reason` and `detail` say why `raw` is absent. An INVALID answer has final faithfulness and relevancy 0.0 even
    where the judge gave no raw score: the parser's word is enough.
    """

    raw: float | None
    final: float | None
    reason: UnscoredReason | None = None
    detail: str = ""
    findings: tuple[Finding, ...] = ()

    @model_validator(mode="after")
    def _absence_has_a_reason(self) -> Self:
        if (self.raw is None) != (self.reason is not None):
            raise ValueError(f"raw score {self.raw} does not fit reason {self.reason}")
        if self.raw is not None and self.final is None:
            raise ValueError("a scored metric has a final score")
        return self


class Metric(StrEnum):
    """The judged metrics of a row, and their mean."""

    FAITHFULNESS = "faithfulness"
    ANSWER_RELEVANCY = "answer_relevancy"
    CONTEXT_RECALL = "context_recall"
    CONTEXT_PRECISION = "context_precision"
    GLOBAL = "global_score"


JUDGED_METRICS = (
    Metric.FAITHFULNESS,
    Metric.ANSWER_RELEVANCY,
    Metric.CONTEXT_RECALL,
    Metric.CONTEXT_PRECISION,
)
"""The four whose mean is the global score."""

OVERRIDDEN_METRICS = (Metric.FAITHFULNESS, Metric.ANSWER_RELEVANCY)
"""Those that an INVALID answer scores 0.0 on (ADR-0007, section 2)."""


class Scores(Frozen):
    """All metrics of one row."""

    faithfulness: Score
    answer_relevancy: Score
    context_recall: Score
    context_precision: Score
    global_score: Score
    """Mean of the four finals (raw: of the four raws); unscored when one of the four is."""

    def __getitem__(self, metric: Metric) -> Score:
        score: Score = getattr(self, metric.value)
        return score

    def items(self) -> Iterator[tuple[Metric, Score]]:
        """Every metric with its score, in the order of `Metric`."""
        return ((metric, self[metric]) for metric in Metric)


class Call(Frozen):
    """One reply that a row stands on. Rows may share one: `key` tells, so that a report counts its cost once."""

    prompt: str
    """Name and version, as `judge.support@1`."""
    role: str
    """`generator` or `judge`."""
    model: str
    key: str
    message_id: str
    stop: StopReason
    usage: Usage
    cost_usd: float


class FewShots(Frozen):
    """The examples that went into the prompt of one answer, nearest first."""

    status: FewShotStatus
    k_configured: int
    ids: tuple[str, ...] = ()
    similarities: tuple[float, ...] = ()
    reason: str = ""
    """Why the injection is degraded."""

    @property
    def k_effective(self) -> int:
        """How many examples were injected."""
        return len(self.ids)


class JudgedRow(Frozen):
    """One question answered and judged in one run of one suite; `id` is the question's, unique within its cell."""

    id: str
    suite: str
    run: int
    type: QueryType
    language: str
    answerable: bool
    question: str
    reference: str
    gold_passages: tuple[str, ...]
    constructs: tuple[str, ...]
    query: str
    """The question as reformulated for the search."""
    passages: tuple[Passage, ...]
    """As retrieved, best first; P1 in the prompts is the first."""
    few_shots: FewShots
    answer: str
    answer_stop: StopReason
    answer_fault: str = ""
    """What the provider said when it refused the request for an answer."""
    message_id: str
    """Of the generation: joins the rehearsal's truth file. Empty when the provider refused the request."""
    blocks: tuple[Block, ...]
    syntax: Validity | None
    """INVALID if one block is; None when the answer bears no code."""
    category: Category | None = None
    """Of the first INVALID block."""
    scores: Scores
    """Of the first judging: asking the judge again changes no score."""
    judged_again: tuple[Scores, ...] = ()
    """The same answer under further judgings; they tell how far the judge agrees with itself."""
    noncommittal: bool | None
    """Whether the answer declined: every question generated back from it was judged noncommittal. None: unjudged."""
    calls: tuple[Call, ...]
    elapsed_s: float

    @model_validator(mode="after")
    def _gate_came_first(self) -> Self:
        code = [block for block in self.blocks if block.kind is BlockKind.CODE]
        if any(block.result is None for block in code):
            raise ValueError(f"{self.id}: a code block without a parser verdict cannot be in a judged row")
        if (self.syntax is None) != (not code):
            raise ValueError(f"{self.id}: syntax verdict {self.syntax} does not fit {len(code)} code blocks")
        return self
