"""The report as Markdown: what fits in a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.lab.report import comparison, history
from core.lab.report.failures import concentrated, urgent
from core.lab.report.words import (
    METRIC_NAMES,
    STATISTICS_HEAD,
    calibration_line,
    denominators,
    gate_effect,
    gate_line,
    interval,
    number,
    run_statistics,
    standing,
)
from core.model.evaluation import EvaluationReport, SuiteSummary


def markdown(report: EvaluationReport) -> str:
    """The whole report as Markdown text."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: EvaluationReport) -> Iterator[str]:
    yield f"# {report.experiment} / {report.name}: {standing(report)}"
    yield ""
    yield (
        f"{report.n_rows} of {report.n_expected} judged rows, {report.runs} runs per suite, seed {report.seed}, "
        f"fingerprint `{report.fingerprint[:12]}`."
    )
    for suite in report.suites:
        yield from _suite(suite)
    if report.comparison is not None:
        yield from comparison.section(report.comparison)
    yield from history.sections(report)
    if report.gates:
        yield from _list("Gates", [gate_line(gate) for gate in report.gates])
    if report.binding_faults:
        yield from _list("Why these numbers may not be cited", report.binding_faults)
    yield from _list("What these numbers cannot show", report.caveats)


def _suite(suite: SuiteSummary) -> Iterator[str]:
    yield from ("", f"## {suite.suite}: {suite.band or 'no verdict'}", "", gate_effect(suite), "")
    yield from _table(
        ("metric", "final", "sd over runs", "clustered error", "95 % interval", "before the gate", "scored"),
        [
            (
                METRIC_NAMES[m.metric], number(m.final.mean), number(m.final.sd_over_runs), number(m.final.cluster_se),
                interval(m.final), number(m.raw.mean), denominators(m.final),
            )
            for m in suite.metrics
        ],
    )  # fmt: skip
    syntax = suite.syntax.overall
    yield from (
        "",
        f"Syntactic validity {number(syntax.mean)}, interval {interval(syntax)}, over {denominators(syntax)}.",
    )
    if suite.statistics:
        yield from ("", "### What its runs and questions say", "")
        yield from _table(STATISTICS_HEAD, [run_statistics(found) for found in suite.statistics])
    if suite.calibration is not None:
        yield from ("", f"Calibration of the gate: {calibration_line(suite.calibration)}.")
    if suite.variance:
        yield from ("", f"### Where the variance comes from ({suite.variance[0].judgings} judgings per answer)", "")
        yield from _table(
            ("metric", "question", "run", "judge", "questions"),
            [
                (
                    METRIC_NAMES[v.metric],
                    number(v.question, 6),
                    number(v.run, 6),
                    number(v.judge, 6),
                    str(v.n_questions),
                )
                for v in suite.variance
            ],
        )
    if suite.confusion.cells:
        yield from ("", "### Which answers the parser rejected", "")
        yield from _table(
            ("category", "question", "times", "constructs"),
            [(c.category.value, c.question, str(c.count), ", ".join(c.constructs)) for c in suite.confusion.cells],
        )
        yield ""
        yield from (f"- {concentrated(found)}" for found in suite.confusion.concentrations)
    if suite.confusion.document_next:
        yield from ("", "### What to document next", "")
        yield from _table(
            ("construct", "score", "failures laid to it", "passages", "examples", "thinner"),
            [
                (c.node_type, number(c.score), number(c.failures, 2), str(c.passages), str(c.examples), c.thin.value)
                for c in urgent(suite.confusion)
            ],
        )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def _list(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield from ("", f"## {title}", "")
        yield from (f"- {item}" for item in items)
