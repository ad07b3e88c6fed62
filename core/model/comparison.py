"""The comparison of suites on the same questions: what was found, how sure it is, and what may be said of it.

Every difference is B minus A. Whatever has no number says why; a sentence claims nothing that its numbers do not show.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from core.model.frozen import Frozen
from core.model.interval import Interval
from core.model.judged import Metric, UnscoredReason
from core.model.sample import QueryType
from core.model.specs import IsNumber, Positive

VALIDITY = "syntactic_validity"
"""Beside the judged metrics; compared by McNemar's test over questions."""

COMPARED = (*(metric.value for metric in Metric), VALIDITY)
"""Everything that a comparison tests unless told otherwise, in the order of reports."""

NATIVE_SYNTAX = "native_syntax"
"""Share of the answers with code that hold no construct of another language: what ADR-0007 calls failure mode 1."""

COMPARABLE = (*COMPARED, NATIVE_SYNTAX)
"""Everything that it can be told to test. More is better, whichever it is."""


class Factor(StrEnum):
    """What may differ between compared suites only when it is stated to be what the comparison is about."""

    RETRIEVAL_MODE = "retrieval_mode"
    ANSWER_PROMPTS = "answer_prompts"
    """The prompts of the assistant under test; those of the judge may never differ."""


class CompareSpec(Frozen):
    """The `compare:` section of an evaluation. Part of the identity of a run."""

    baseline: str | None = None
    """The suite that all others are compared with; None compares all pairs."""
    metrics: tuple[str, ...] = COMPARED
    level: Annotated[float, IsNumber, Field(gt=0.5, lt=1.0)] = 0.95
    """Of the intervals; 1 - level is the familywise error rate of the claims."""
    resamples: Positive = 9999
    """Sign flips of the permutation test, where trying all of them takes longer."""
    factor: Factor | None = None
    """The difference that the comparison is about, where suites would be incomparable otherwise."""

    @model_validator(mode="after")
    def _metrics_are_known_and_different(self) -> Self:
        unknown = [metric for metric in self.metrics if metric not in COMPARABLE]
        if unknown or not self.metrics or len(set(self.metrics)) < len(self.metrics):
            raise ValueError(f"metrics must be some of {', '.join(COMPARABLE)}, each once")
        return self


class Side(Frozen):
    """One suite of one run, as it is compared."""

    label: str
    """`suite` within one run, `run:suite` across runs; unique within a comparison."""
    run: str
    """`<experiment>/<name>-<fp12>`."""
    fingerprint: str
    suite: str
    rows: int
    binding_faults: tuple[str, ...] = ()
    """Every reason why numbers of this run may not be cited."""


class Difference(Frozen):
    """One setting that two suites do not share: what their difference may be due to."""

    setting: str
    """Dotted, as `retrieval.k`."""
    a: str
    b: str


class LeftOut(Frozen):
    """Questions that could not be paired, by what was missing where."""

    side: str
    """Label of the side that lacks a score."""
    reason: UnscoredReason | None
    """None for a question that this side was never asked."""
    questions: int


class PairedTest(StrEnum):
    """How a p-value was had."""

    PERMUTATION = "paired_permutation"
    """Random sign flips of the questions' differences."""
    EXACT_PERMUTATION = "exact_paired_permutation"
    """All sign flips."""
    MCNEMAR = "mcnemar_exact"


class Claim(StrEnum):
    """What a test allows to be said."""

    B_BETTER = "b_better"
    A_BETTER = "a_better"
    UNDECIDED = "undecided"
    """No difference can be claimed, which does not show that there is none."""
    NOT_TESTED = "not_tested"
    """There was nothing to test, or what was measured is not the same thing; `why_not` says which."""


class MetricComparison(Frozen):
    """One metric of one pair, over the questions that both sides have a score for.

    A question's score is the mean over its scored runs. For syntactic validity it is 1 where every code-bearing answer
    of the question was valid and 0 otherwise, over as many runs as both sides have.
    """

    metric: str
    n_questions: int
    """Paired questions."""
    left_out: tuple[LeftOut, ...]
    """The other questions. One that both sides lack is counted under A."""
    a_mean: float | None
    b_mean: float | None
    difference: float | None
    """Mean over questions of B minus A; None without paired questions."""
    interval: Interval | None
    """Of the difference, not adjusted for the number of tests; clustered by question, Newcombe's for validity."""
    test: PairedTest | None
    p: float | None
    """Two-sided, before adjustment."""
    p_adjusted: float | None
    """By Holm over the whole family; the claim goes by this one."""
    minimum_detectable: float | None
    """The least true difference that this many questions show with a power of .80, at the level that Holm's correction
    leaves the smallest p-value. None where the questions' differences do not vary."""
    questions_needed: int | None
    """To see a true difference as large as the one observed, in the same sense; None without one."""
    claim: Claim
    sentence: str
    """What may be said, in one sentence; says itself when it may not be cited."""
    why_not: str = ""
    """Why nothing was tested."""


class ValidityTable(Frozen):
    """The questions of McNemar's test. One counts as valid on a side when all its code-bearing answers there were."""

    both: int
    a_only: int
    b_only: int
    neither: int
    runs: int
    """Runs that count: as many as both sides have, so that neither side has more chances to fail."""
    a_interval: Interval | None
    """Wilson's, of the share of questions that are valid on side A."""
    b_interval: Interval | None
    a_valid_answers: int
    """Valid answers of side A, over all its runs and questions: the numerator of its `syntactic_validity`."""
    a_answers: int
    """Code-bearing answers of side A."""
    b_valid_answers: int
    b_answers: int


class PairComparison(Frozen):
    """Two sides, metric by metric."""

    a: str
    """Label of the first side: the baseline where there is one."""
    b: str
    differences: tuple[Difference, ...]
    """All settings in which the two differ; with more than one, no single one of them explains a result."""
    incomparable: tuple[str, ...] = ()
    """Why the two may not be compared; then there are no metrics."""
    metrics: tuple[MetricComparison, ...] = ()
    validity: ValidityTable | None = None
    """None where no question bore code on both sides."""

    def metric(self, name: str) -> MetricComparison | None:
        """The comparison of one metric; None where it was not asked for."""
        return next((found for found in self.metrics if found.metric == name), None)


class GateOn(StrEnum):
    """What a gate on a difference looks at."""

    BOUND = "bound"
    """The end of the interval that is worse for the gate: it passes when the data show that the bar is met."""
    ESTIMATE = "estimate"
    """The difference as estimated: it passes half of the time when the truth sits on the bar."""


class GateComparator(StrEnum):
    """How a gate on a difference compares."""

    MORE = ">"
    AT_LEAST = ">="
    LESS = "<"
    AT_MOST = "<="


class DifferenceGate(Frozen):
    """A bar for B minus A, as `faithfulness > -0.02`."""

    metric: str
    comparator: GateComparator
    threshold: float
    text: str
    """As it was written."""


class DifferenceGateResult(Frozen):
    """One gate on one pair. What has no number fails: no evidence is not a pass."""

    a: str
    b: str
    gate: DifferenceGate
    on: GateOn
    value: float | None
    """What was held against the bar: a bound of the interval, or the estimate."""
    passed: bool
    reason: str = ""
    """Why there is no value."""


class Comparison(Frozen):
    """All pairs that were compared, as one family of tests."""

    schema_version: int = 1
    sides: tuple[Side, ...]
    baseline: str | None
    """None when all pairs were compared."""
    factor: Factor | None
    level: float
    resamples: int
    query_type: QueryType | None = None
    """The only type of question that was looked at; None is all."""
    family: int
    """Tests that Holm's correction is over: those of all pairs and metrics that gave a p-value."""
    citable: bool
    """False as soon as one side is not binding; every sentence then says so."""
    pairs: tuple[PairComparison, ...]
    gates: tuple[DifferenceGateResult, ...] = ()

    @property
    def gates_passed(self) -> bool:
        """Whether every gate holds on every pair."""
        return all(gate.passed for gate in self.gates)
