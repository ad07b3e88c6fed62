"""Numbers and findings as a reader wants them: one spelling for Markdown and page alike."""

from __future__ import annotations

from collections.abc import Sequence

from core.measure.compare_sentences import named
from core.model.comparison import Claim, PairComparison
from core.model.degenerate import Degenerate
from core.model.evaluation import (
    Calibration,
    ConstructFailures,
    Estimate,
    EvaluationReport,
    GateResult,
    Interval,
    Metric,
    RunStatistics,
    SuiteSummary,
    VarianceSplit,
)

METRIC_NAMES = {
    Metric.FAITHFULNESS: "faithfulness",
    Metric.ANSWER_RELEVANCY: "answer relevancy",
    Metric.CONTEXT_RECALL: "context recall",
    Metric.CONTEXT_PRECISION: "context precision",
    Metric.GLOBAL: "global score",
}

NOT_MEASURED = "not measured"

CLAIM_NAMES = {
    Claim.B_BETTER: "better",
    Claim.A_BETTER: "worse",
    Claim.UNDECIDED: "undecided",
    Claim.NOT_TESTED: "not tested",
}
"""Of the second side against the first."""
CLAIM_MARKS = {Claim.B_BETTER: "better", Claim.A_BETTER: "worse", Claim.UNDECIDED: "none", Claim.NOT_TESTED: "none"}


def number(value: float | None, digits: int = 4) -> str:
    """`0.6254`; a missing value is said, never shown as zero."""
    return NOT_MEASURED if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    """`12.5 %`."""
    return NOT_MEASURED if value is None else f"{100 * value:.1f} %"


def plural(count: int, noun: str) -> str:
    """`1 answer`, `2 answers`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def signed(value: float | None, digits: int = 4) -> str:
    """`+0.0300` or `−0.0300`; a difference that rounds to nothing has no sign."""
    if value is None:
        return NOT_MEASURED
    text = f"{value:+.{digits}f}".replace("-", "−")
    return text if text.strip("+−0.") else text[1:]


def bounds(found: Interval | None) -> str:
    """`[0.5812, 0.6702]`, or a dash when it cannot be had."""
    return "–" if found is None else f"[{found.low:.4f}, {found.high:.4f}]".replace("-", "−")


def interval(estimate: Estimate) -> str:
    """`bounds` of an estimate."""
    return bounds(estimate.interval)


def denominators(estimate: Estimate) -> str:
    """`248 of 250`, with the reasons for the rest."""
    reasons = ", ".join(f"{reason.value} {count}" for reason, count in sorted(estimate.unscored.items()))
    return f"{estimate.n_scored} of {estimate.n_expected}" + (f" ({reasons})" if reasons else "")


def gate_line(gate: GateResult) -> str:
    """`hybrid: syntactic_validity on CODE_GENERATION 0.91, bar >= 0.95: missed`."""
    on = f" on {gate.query_type}" if gate.query_type else ""
    end = "met" if gate.passed else "missed"
    why = f" ({gate.reason})" if gate.reason else ""
    return f"{gate.suite}: {gate.metric}{on} {number(gate.value)}, bar {gate.comparator} {gate.threshold:g}: {end}{why}"


def calibration_line(calibration: Calibration) -> str:
    """What the gate did with the faults that were planted."""
    return (
        f"{plural(calibration.injected, 'fault')} injected, {calibration.caught} caught, {calibration.missed} missed; "
        f"{plural(calibration.false_alarms, 'false alarm')} on {plural(calibration.clean, 'clean answer')}"
    )


def gate_effect(suite: SuiteSummary) -> str:
    """What the gate changed, in one sentence."""
    raw, final = (getattr(suite.metric(Metric.GLOBAL), side).mean for side in ("raw", "final"))
    invalid = sum(question.invalid for question in suite.questions)
    bearing = sum(question.code_bearing for question in suite.questions)
    if raw is None or final is None:
        return f"The parser rejected {invalid} of {bearing} code-bearing answers; no global score could be formed."
    return (
        f"The judge alone would have said {number(raw)}. The parser rejected {invalid} of {bearing} code-bearing "
        f"answers, which brings the global score to {number(final)}{_verdict(suite)}."
    )


def _verdict(suite: SuiteSummary) -> str:
    """What became of the band, as the end of a sentence; nothing where no band is reached either way."""
    if suite.band == suite.raw_band:
        return f"; the verdict stays {suite.band}" if suite.band else ""
    return f"; the verdict goes from {suite.raw_band or 'none'} to {suite.band or 'none'}"


def rejected(suite: SuiteSummary) -> str:
    """`14 of 155 code-bearing answers`."""
    invalid = sum(question.invalid for question in suite.questions)
    return f"{invalid} of {plural(sum(question.code_bearing for question in suite.questions), 'code-bearing answer')}"


def peak(lines: Sequence[ConstructFailures]) -> int:
    """The greatest count of a confusion; at least 1."""
    return max((count for line in lines for count in line.by_category.values()), default=1)


def stability(suite: SuiteSummary) -> str:
    """How alike the runs of a suite are, in sentences."""
    final = suite.metric(Metric.GLOBAL).final
    known = [value for value in final.by_run if value is not None]
    said = [f"{plural(len(known), 'run')} with a global score"]
    if len(known) > 1:
        said = [
            f"Its {len(known)} runs score from {number(min(known))} to {number(max(known))}, "
            f"sd {number(final.sd_over_runs)}"
        ]
    bearing = [question for question in suite.questions if question.code_bearing > 1]
    flipped = [question for question in bearing if 0 < question.invalid < question.code_bearing]
    if bearing:
        said.append(
            f"{len(flipped)} of {plural(len(bearing), 'question')} with code in several runs "
            "got valid code in some and invalid code in others"
        )
    bands = [run.band or "none" for run in suite.runs]
    if len(set(bands)) > 1:
        said.append("the verdict is not the same in every run: " + ", ".join(bands))
    return ". ".join(sentence[0].upper() + sentence[1:] for sentence in said) + "."


STATISTICS_HEAD = (
    "metric", "95 % BCa interval", "questions that flip", "two runs differ", "largest gap", "dip p", "its power",
    "can see",
)  # fmt: skip


def run_statistics(found: RunStatistics) -> tuple[str, ...]:
    """One metric under STATISTICS_HEAD; where there is no number its reason stands."""
    name = next((METRIC_NAMES[metric] for metric in Metric if metric.value == found.metric), "syntactic validity")
    ends = found.bootstrap
    return (
        name,
        bounds(ends) if isinstance(ends, Interval) else ends.value,
        *(_share(value) for value in (found.flip_rate, found.disagreement, found.largest_gap_ratio)),
        found.dip_p.value if isinstance(found.dip_p, Degenerate) else number(found.dip_p),
        percent(found.dip_power),
        found.detectable.value if isinstance(found.detectable, Degenerate) else number(found.detectable),
    )


def _share(value: float | Degenerate) -> str:
    return value.value if isinstance(value, Degenerate) else percent(value)


def shares(split: VarianceSplit) -> tuple[float | None, float | None, float | None]:
    """The shares of question, run and judge in the variance; None where a part is not known."""
    parts = (split.question, split.run, split.judge)
    total = sum(part for part in parts if part is not None)
    if total <= 0 or None in parts:
        return (None, None, None)
    question, run, judge = (None if part is None else part / total for part in parts)
    return (question, run, judge)


def claims(pair: PairComparison) -> str:
    """`better on context recall; worse on nothing`, or why there is no comparison."""
    if pair.incomparable:
        return "not comparable"
    said = []
    for claim in (Claim.B_BETTER, Claim.A_BETTER):
        names = [named(found.metric) for found in pair.metrics if found.claim is claim]
        if names:
            said.append(f"{CLAIM_NAMES[claim]} on {', '.join(names)}")
    return "; ".join(said) or "no difference can be claimed"


def standing(report: EvaluationReport) -> str:
    """Whether these numbers may be cited."""
    state = "BINDING" if report.binding else "NON-BINDING"
    return f"{state}, PARTIAL" if report.partial else state


def summary(report: EvaluationReport) -> tuple[str, ...]:
    """The report in a few lines for a terminal."""
    lines = []
    for suite in report.suites:
        final = suite.metric(Metric.GLOBAL).final
        lines.append(
            f"{suite.suite}: {suite.band or 'no verdict'}, global score {number(final.mean)} {interval(final)}"
        )
        lines.append(gate_effect(suite))
        if suite.calibration is not None:
            lines.append(f"calibration of the gate: {calibration_line(suite.calibration)}")
    lines.extend(f"gate {gate_line(gate)}" for gate in report.gates)
    faults = plural(len(report.binding_faults), "reason")
    lines.append("binding" if report.binding else f"{standing(report)}: {faults}, listed in the report")
    return tuple(lines)
