"""Numbers and findings as a reader wants them: one spelling for Markdown and page alike."""

from __future__ import annotations

from core.model.evaluation import Calibration, Estimate, EvaluationReport, GateResult, Metric, SuiteSummary

METRIC_NAMES = {
    Metric.FAITHFULNESS: "faithfulness",
    Metric.ANSWER_RELEVANCY: "answer relevancy",
    Metric.CONTEXT_RECALL: "context recall",
    Metric.CONTEXT_PRECISION: "context precision",
    Metric.GLOBAL: "global score",
}

NOT_MEASURED = "not measured"


def number(value: float | None, digits: int = 4) -> str:
    """`0.6254`; a missing value is said, never shown as zero."""
    return NOT_MEASURED if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    """`12.5 %`."""
    return NOT_MEASURED if value is None else f"{100 * value:.1f} %"


def plural(count: int, noun: str) -> str:
    """`1 answer`, `2 answers`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def interval(estimate: Estimate) -> str:
    """`[0.58, 0.67]`, or a dash when it cannot be had."""
    return "–" if estimate.interval is None else f"[{estimate.interval.low:.4f}, {estimate.interval.high:.4f}]"


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
