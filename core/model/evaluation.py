"""The report over judged rows. Equal rows and records give equal bytes; what the clock decides is in `timing`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from core.model.comparison import Comparison
from core.model.degenerate import Degenerate
from core.model.deviation import RerunOf
from core.model.frozen import Frozen
from core.model.interval import Interval
from core.model.judged import (
    JUDGED_METRICS,
    OVERRIDDEN_METRICS,
    Block,
    BlockKind,
    Call,
    FewShots,
    Finding,
    JudgedRow,
    Metric,
    Score,
    Scores,
    UnscoredReason,
)
from core.model.prompt import Usage
from core.model.published import PublishedResult
from core.model.record import FewShotRecord, ModelRecord, ParserRecord
from core.model.sample import QueryType
from core.model.specs import BandSpec, Comparator, Fault
from core.model.syntax import Category

__all__ = [
    "JUDGED_METRICS",
    "OVERRIDDEN_METRICS",
    "Block",
    "BlockKind",
    "Calibration",
    "CalibrationLine",
    "Call",
    "Comparison",
    "ConcentratedIn",
    "Concentration",
    "Confusion",
    "ConfusionCell",
    "ConstructCoverage",
    "ConstructFailures",
    "DocumentNext",
    "Estimate",
    "EvaluationReport",
    "FewShotSummary",
    "FewShots",
    "Finding",
    "GateResult",
    "IndexFacts",
    "Interval",
    "JudgedRow",
    "Metric",
    "MetricSummary",
    "QuestionSummary",
    "RetrievalSummary",
    "RunMeans",
    "RunStatistics",
    "Score",
    "Scores",
    "Spend",
    "SuiteSummary",
    "SyntaxSummary",
    "Thin",
    "Timing",
    "UnanswerableSummary",
    "UnscoredReason",
    "VarianceSplit",
]


class Estimate(Frozen):
    """A mean over rows with its uncertainty. n_expected = n_scored + n_unscored, and the reasons sum to n_unscored."""

    mean: float | None
    """Over the scored rows of all runs; None when there are none."""
    sd_over_runs: float | None
    """Standard deviation (ddof 1) of the run means; None below two runs."""
    cluster_se: float | None
    """Standard error clustered by question; None below two questions."""
    interval: Interval | None
    """t-based, questions - 1 degrees of freedom; Wilson's over questions for a fraction that is 0 or 1 everywhere."""
    by_run: tuple[float | None, ...]
    """The mean of each run, in order, run 1 first."""
    n_expected: int
    n_scored: int
    n_unscored: int
    n_questions: int
    """Questions with at least one scored row: the clusters."""
    unscored: Mapping[UnscoredReason, int]


class MetricSummary(Frozen):
    """One judged metric: final counts, raw is kept for audit."""

    metric: Metric
    final: Estimate
    raw: Estimate


class SyntaxSummary(Frozen):
    """The gate's verdicts: valid code-bearing answers over code-bearing answers."""

    overall: Estimate
    by_type: Mapping[QueryType, Estimate]
    """Every query type of the golden set; its mean is None where no answer bore code."""
    n_blocks: int
    """Blocks sent to the parser."""
    n_foreign_blocks: int
    """Blocks labelled as another language, which are not sent."""
    n_foreign_only: int
    """CODE_GENERATION answers whose only blocks are foreign: they escape the gate, so they are counted."""
    n_unclosed: int


class RunMeans(Frozen):
    """One run of a suite in one line."""

    run: int
    rows: int
    final: Mapping[Metric, float | None]
    raw: Mapping[Metric, float | None]
    syntactic_validity: float | None
    band: str | None


class QuestionSummary(Frozen):
    """One question over all runs."""

    id: str
    type: QueryType
    question: str
    rows: int
    global_score: float | None
    global_raw: float | None
    invalid: int
    """Runs whose answer was INVALID."""
    code_bearing: int
    categories: Mapping[Category, int]


class IndexFacts(Frozen):
    """Which index was searched, without the moment it was built."""

    name: str
    version: str
    engine: str
    pipeline: str
    embedder: str
    corpus_sha256: str
    count: int


class RetrievalSummary(Frozen):
    """What was searched and whether the gold passages came back."""

    mode: str
    index: IndexFacts
    k_mean: float | None
    """Passages per row, as retrieved."""
    gold_recall: Estimate
    """Share of a question's gold sections among its passages."""


class FewShotSummary(Frozen):
    """Few-shot injection, as recorded at the start and as it went."""

    configured: FewShotRecord
    status: str
    """`off`, `ok` or `degraded`: degraded as soon as one row is."""
    k_mean: float | None
    k_min: int | None
    k_max: int | None
    degraded_rows: int
    reasons: tuple[str, ...]


class ConfusionCell(Frozen):
    """INVALID answers to one question with one failure category."""

    category: Category
    question: str
    constructs: tuple[str, ...]
    """Node types that a correct answer is about."""
    count: int
    runs: tuple[int, ...]


class ConstructCoverage(Frozen):
    """How well the prompts could have taught a construct."""

    node_type: str
    passages: int
    """Passages of the corpus whose code uses it."""
    examples: int
    """Few-shot examples that list it."""


class ConstructFailures(Frozen):
    """Failures of the questions about one construct, with the coverage that could explain them."""

    node_type: str
    questions: int
    code_bearing: int
    invalid: int
    by_category: Mapping[Category, int]
    passages: int | None
    """Of the corpus, whose code uses it; None when that was not counted."""
    examples: int | None
    """In the few-shot pool; None when that was not counted."""


class Thin(StrEnum):
    """Where a construct is shown least."""

    DOCUMENTATION = "documentation"
    EXAMPLES = "few-shot examples"


class DocumentNext(Frozen):
    """A construct that is worth documenting, or showing in examples; see core.measure.priorities for the score."""

    node_type: str
    score: float
    """Failures / (1 + passages + examples)."""
    failures: float
    """INVALID answers laid to it: each counts once, in equal parts for the constructs that it is about."""
    invalid: int
    """INVALID answers to questions about it."""
    code_bearing: int
    passages: int
    examples: int
    thin: Thin
    """Which of the two shows it less."""


class ConcentratedIn(StrEnum):
    """What failures may be concentrated in."""

    CATEGORY = "category"
    CONSTRUCT = "construct"
    CATEGORY_BY_CONSTRUCT = "category x construct"


class Concentration(Frozen):
    """Whether failures are concentrated, by a permutation test over questions; see core.measure.concentration."""

    where: ConcentratedIn
    statistic: float | None
    """Pearson's chi-squared."""
    p: float | None
    """None where too few questions failed."""
    failing_questions: int
    invalid: int
    resamples: int


class Confusion(Frozen):
    """Failure category x question x construct."""

    cells: tuple[ConfusionCell, ...]
    constructs: tuple[ConstructFailures, ...]
    """Most invalid answers first."""
    document_next: tuple[DocumentNext, ...] = ()
    """Most urgent first."""
    concentrations: tuple[Concentration, ...] = ()


class CalibrationLine(Frozen):
    """The gate against one kind of injected fault."""

    fault: Fault
    injected: int
    caught: int
    missed: int
    categories: Mapping[Category, int]
    """What the parser called those it caught."""


class Calibration(Frozen):
    """The gate against the truth that a rehearsal keeps about itself."""

    injected: int
    caught: int
    missed: int
    clean: int
    """Code-bearing answers that were not spoiled."""
    false_alarms: int
    by_fault: tuple[CalibrationLine, ...]
    missed_rows: tuple[str, ...]
    """As `suite.run-01/GD-C-003`."""
    false_alarm_rows: tuple[str, ...]


class UnanswerableSummary(Frozen):
    """Rows whose question the corpus does not answer: declining is right."""

    questions: int
    rows: int
    declined: int
    answered: int
    unjudged: int
    """Rows where the judge gave no usable word on it."""
    declined_answerable: int
    """Rows of the other questions that declined although the corpus answers: over-refusal."""


class Spend(Frozen):
    """What the replies cost. A reply that several rows share counts once."""

    calls: int
    usage: Usage
    usd: float
    by_role: Mapping[str, Spend] = {}


class GateResult(Frozen):
    """One gate on one suite."""

    suite: str
    metric: str
    query_type: str | None
    comparator: Comparator
    threshold: float
    value: float | None
    passed: bool
    reason: str = ""


class VarianceSplit(Frozen):
    """Where the variance of one score of one answer comes from. The three parts are variances, not shares."""

    metric: Metric
    question: float | None
    """Between questions: some are harder. None where the scores do not tell it."""
    run: float | None
    """Between the answers of one question in different runs."""
    judge: float | None
    """Between judgings of one and the same answer."""
    n_questions: int
    """Questions with at least one score."""
    runs: int
    judgings: int


class RunStatistics(Frozen):
    """What the runs and questions of a suite say of one metric beyond its mean; a name stands where no number can."""

    metric: str
    bootstrap: Interval | Degenerate
    """BCa over questions: beside the clustered interval it shows what skew does."""
    flip_rate: float | Degenerate
    """Questions whose score is not the same in all runs, over questions with at least two scored runs."""
    disagreement: float | Degenerate
    """Chance that two runs of one question differ."""
    largest_gap_ratio: float | Degenerate
    """Largest gap between the run means in order, over their range."""
    dip: float | Degenerate
    """Hartigan's dip of the run means."""
    dip_p: float | Degenerate
    """That they have one mode; not assessable below 20 runs."""
    dip_power: float
    """Chance that the test notices two modes 4 of their standard deviations apart at this number of runs."""
    detectable: float | Degenerate
    """The smallest distance of the mean from a fixed value that so many questions find in 80 % of repetitions."""


class SuiteSummary(Frozen):
    """One suite over all its runs."""

    suite: str
    n_expected: int
    n_rows: int
    generator: ModelRecord
    judge: ModelRecord
    parser: ParserRecord
    metrics: tuple[MetricSummary, ...]
    """The four, then their mean."""
    syntax: SyntaxSummary
    band: str | None
    """Of the final global score; None when it is unscored or below every band."""
    raw_band: str | None
    """What the band would have been without the gate."""
    runs: tuple[RunMeans, ...]
    questions: tuple[QuestionSummary, ...]
    retrieval: RetrievalSummary
    few_shot: FewShotSummary
    confusion: Confusion
    calibration: Calibration | None
    """None for a generator that keeps no truth about its answers."""
    unanswerable: UnanswerableSummary
    spend: Spend
    variance: tuple[VarianceSplit, ...] = ()
    """Of the judged metrics; empty when answers were judged once."""
    statistics: tuple[RunStatistics, ...] = ()
    """Of the final judged metrics, their mean, and syntactic validity; empty in reports written without them."""

    def metric(self, metric: Metric) -> MetricSummary:
        """The summary of one metric."""
        return next(summary for summary in self.metrics if summary.metric is metric)


class Timing(Frozen):
    """Everything about a run that the clock decides; the only part of a report that may differ between equal runs."""

    created_at: str = ""
    index_built_at: Mapping[str, str] = {}
    """By suite."""
    row_seconds_mean: float | None = None
    row_seconds_p50: float | None = None
    row_seconds_max: float | None = None


class EvaluationReport(Frozen):
    """All that the JSON report holds."""

    schema_version: int = 1
    experiment: str
    name: str
    fingerprint: str
    seed: int
    runs: int
    binding: bool
    binding_faults: tuple[str, ...]
    """Every reason why these numbers may not be cited in a decision."""
    partial: bool
    """Rows are missing."""
    n_expected: int
    n_rows: int
    n_usable: int
    """Rows with a score of any kind; none means that the run shows nothing, whatever it counted."""
    bands: tuple[BandSpec, ...]
    gates: tuple[GateResult, ...]
    gates_passed: bool
    suites: tuple[SuiteSummary, ...]
    spend: Spend
    prompts: Mapping[str, str]
    metric_versions: tuple[str, ...]
    caveats: tuple[str, ...] = ()
    """What these numbers cannot show, in words."""
    comparison: Comparison | None = None
    """Of the suites, where `compare:` asks for it and there are at least two."""
    published: PublishedResult | None = None
    """Where the run repeats a published campaign."""
    rerun_of: RerunOf | None = None
    """Where the run was started as a rerun of another."""
    timing: Timing = Timing()
