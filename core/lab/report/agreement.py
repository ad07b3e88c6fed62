"""Whether a report and the rows it is to be shown with belong together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum, isclose

from core.model.evaluation import EvaluationReport, JudgedRow, MetricSummary, SuiteSummary


def disagreements(report: EvaluationReport, rows: Sequence[JudgedRow]) -> tuple[str, ...]:
    """What `report` says otherwise than `rows` do, one line each; empty when the report may be shown with them."""
    names = {suite.suite for suite in report.suites}
    strangers = sorted({row.suite for row in rows} - names)
    found = [f"the report has no suite {name}" for name in strangers]
    for suite in report.suites:
        found.extend(_of_suite(suite, [row for row in rows if row.suite == suite.suite]))
    return tuple(found)


def _of_suite(suite: SuiteSummary, rows: Sequence[JudgedRow]) -> Iterator[str]:
    if suite.n_rows != len(rows):
        yield f"suite {suite.suite}: the report counts {suite.n_rows} rows, there are {len(rows)}"
        return
    for summary in suite.metrics:
        yield from _of_metric(suite.suite, summary, rows)


def _of_metric(suite: str, summary: MetricSummary, rows: Sequence[JudgedRow]) -> Iterator[str]:
    finals = [score for row in rows if (score := row.scores[summary.metric].final) is not None]
    mean = fsum(finals) / len(finals) if finals else None
    if not _equal(mean, summary.final.mean):
        yield f"suite {suite}: {summary.metric.value} is {summary.final.mean} in the report and {mean} over the rows"


def _equal(a: float | None, b: float | None) -> bool:
    return a is b if a is None or b is None else isclose(a, b, rel_tol=0.0, abs_tol=1e-9)
