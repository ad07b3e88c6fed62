"""A campaign that was published before it could be checked: its numbers as data, and how a run stands beside them."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from core.model.conduct import Conduct
from core.model.deviation import Deviation
from core.model.frozen import Frozen
from core.model.judged import Metric
from core.model.specs import Natural, Positive, Share


class ForensicCount(Frozen):
    """What an inspection of a suite's stored answers found: entries, so that one entry can count in two columns."""

    foreign: Natural
    """With the syntax of another language, whole programs and single constructs alike."""
    hallucinated: Natural
    """With invented commands."""
    invalid: Natural
    """Estimated to be invalid, each once."""


class PublishedSuite(Frozen):
    """One row of the published table."""

    suite: str
    """The suite of the configuration that repeats it."""
    embedding: str
    index: str
    faithfulness: Share
    answer_relevancy: Share
    context_recall: Share
    context_precision: Share
    global_score: Share
    verdict: str
    forensic: ForensicCount | None = None

    def score(self, metric: Metric) -> float:
        """The published score."""
        value: float = getattr(self, metric.value)
        return value


class PublishedCampaign(Frozen):
    """A published table, where it stands, and what is known of how it came about."""

    source: str
    date: Annotated[str, Field(pattern=r"^20\d{2}-[01]\d-[0-3]\d$")]
    questions: Positive
    decimals: Annotated[int, Field(ge=1, le=12)] = 4
    """That scores were rounded to."""
    conduct: Conduct
    notes: tuple[str, ...] = ()
    """What a reader of the table must know beside it."""
    suites: Annotated[tuple[PublishedSuite, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _suites_are_named_once(self) -> Self:
        names = [suite.suite for suite in self.suites]
        if len(set(names)) < len(names):
            raise ValueError("a suite is published twice")
        return self


class Recomputation(Frozen):
    """A published global score beside the mean of its published parts."""

    published: float
    mean: float
    """Exact, not rounded."""
    agrees: bool
    """Whether rounding explains the distance."""


class PublishedMetric(Frozen):
    """One metric as published and as this run has it; None where nothing could be scored."""

    metric: Metric
    published: float
    raw: float | None
    """Before the gate: the nearest thing to what was published."""
    final: float | None


class AgainstPublished(Frozen):
    """One published suite and what became of it."""

    published: PublishedSuite
    recomputed: Recomputation
    metrics: tuple[PublishedMetric, ...]
    """The four, then their mean; empty for a suite that this run does not have."""
    raw_verdict: str | None = None
    """Band before the gate; None for a score below all bands, or none."""
    verdict: str | None = None
    """Band after it."""
    syntactic_validity: float | None = None
    code_bearing_per_run: float | None = None
    """Answers, on average over the runs."""
    invalid_per_run: float | None = None

    @property
    def was_run(self) -> bool:
        """Whether this run has the suite."""
        return bool(self.metrics)


class PublishedResult(Frozen):
    """A published campaign against the run that repeats it."""

    source: str
    date: str
    questions: int
    non_binding: tuple[str, ...]
    """Why the published scores may not be cited."""
    suites: tuple[AgainstPublished, ...]
    deviations: tuple[Deviation, ...]
    """What this run does otherwise."""
    notes: tuple[str, ...] = ()
