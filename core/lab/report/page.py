"""The report as one HTML page: what it says stands in the page itself, what it lets one explore is embedded as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Template

from core.lab.report import comparison, failures, history, words
from core.lab.report.assets import environment, report_assets, templates
from core.lab.report.embedding import embed, script_json
from core.lab.report.marks import Scale, difference_scales, scale
from core.model.evaluation import Estimate, EvaluationReport, JudgedRow, Metric, QuestionSummary, SuiteSummary
from core.model.syntax import Category


@dataclass(frozen=True)
class Scales:
    """The axes of the page's plots."""

    board: Scale
    """Of the global scores and their intervals, close up."""
    score: Scale
    """Of all means; from 0 to 1 unless a cosine is negative."""
    runs: Scale
    """Of the global scores of single runs, close up."""


@dataclass(frozen=True)
class AskedQuestion:
    """A question beside its score in every suite."""

    id: str
    type: str
    text: str
    by_suite: tuple[QuestionSummary | None, ...]

    @property
    def scored(self) -> bool:
        """Whether it has a global score in any suite."""
        return any(summary is not None and summary.global_score is not None for summary in self.by_suite)


@cache
def template() -> Template:
    """The template of the page and all it includes, compiled: a good part of what a page takes, and once is enough."""
    loaded = environment(templates())
    loaded.globals.update(
        words=words, comparing=comparison, failing=failures, history=history, Metric=Metric, Category=Category
    )
    for name in loaded.list_templates():
        loaded.get_template(name)
    return loaded.get_template("page.html.j2")


def page(report: EvaluationReport, rows: Sequence[JudgedRow]) -> str:
    """The page as HTML text; equal reports and rows give equal text, in whatever order the rows come."""
    assets = report_assets()
    data = embed([suite.suite for suite in report.suites], rows)
    return template().render(
        report=report,
        scales=_scales(report),
        differences=difference_scales(report.comparison),
        questions=_questions(report.suites),
        policy=assets.policy,
        style=assets.style,
        script=assets.script,
        listing=script_json(data.listing),
        passages=script_json(data.passages),
        details=[script_json(question) for question in data.questions],
    )


def _scales(report: EvaluationReport) -> Scales:
    estimates = [
        estimate for suite in report.suites for summary in suite.metrics for estimate in (summary.raw, summary.final)
    ]
    overall = [suite.metric(Metric.GLOBAL) for suite in report.suites]
    return Scales(
        board=scale(value for summary in overall for value in (summary.raw.mean, *_reach(summary.final))),
        score=scale((estimate.mean for estimate in estimates), including=(0.0, 1.0)),
        runs=scale(value for summary in overall for value in summary.final.by_run),
    )


def _reach(estimate: Estimate) -> tuple[float | None, ...]:
    interval = estimate.interval
    return (estimate.mean,) if interval is None else (estimate.mean, interval.low, interval.high)


def _questions(suites: Sequence[SuiteSummary]) -> tuple[AskedQuestion, ...]:
    """Every question once, worst first over all suites; those without any score come last."""
    by_suite: list[Mapping[str, QuestionSummary]] = [{q.id: q for q in suite.questions} for suite in suites]
    first = {question.id: question for known in reversed(by_suite) for question in known.values()}
    asked = [
        AskedQuestion(id_, question.type, question.question, tuple(known.get(id_) for known in by_suite))
        for id_, question in first.items()
    ]
    return tuple(sorted(asked, key=lambda question: (_mean_score(question), question.id)))


def _mean_score(question: AskedQuestion) -> float:
    known = [q.global_score for q in question.by_suite if q is not None and q.global_score is not None]
    return sum(known) / len(known) if known else float("inf")
