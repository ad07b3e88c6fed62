"""A published campaign and a rerun in words: sections of the Markdown report, and lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from core.lab.report.words import METRIC_NAMES, number, percent, plural
from core.model.deviation import Deviation, RerunOf
from core.model.evaluation import EvaluationReport
from core.model.judged import Metric
from core.model.published import AgainstPublished, PublishedMetric, PublishedResult

ABSENT = "–"
SCORES_HEAD = ("metric", "published", "here, before the gate", "here, after the gate")
VERDICTS_HEAD = (
    "suite", "published", "global", "here, before the gate", "here, after the gate", "valid code here",
    "invalid entries then", "invalid answers per run here",
)  # fmt: skip


def sections(report: EvaluationReport) -> Iterator[str]:
    """The lines of what the run repeats; none for a run that repeats nothing."""
    if report.published is not None:
        yield from _published(report.published)
    if report.rerun_of is not None:
        yield from ("", f"## Rerun of {report.rerun_of.run}", "", rerun_sentence(report.rerun_of), "")
        yield from (f"- {deviation(each)}" for each in report.rerun_of.deviations)


def summary(report: EvaluationReport) -> tuple[str, ...]:
    """The same in a few lines for a terminal."""
    lines = []
    if report.published is not None:
        lines = [f"published {report.published.date}, {verdict_line(suite)}" for suite in report.published.suites]
        lines.append(
            f"the published scores are non-binding for {plural(len(report.published.non_binding), 'reason')}, and this "
            f"run deviates in {plural(len(report.published.deviations), 'point')}: both are listed in the report"
        )
    if report.rerun_of is not None:
        lines.append(rerun_sentence(report.rerun_of))
    return tuple(lines)


def introduction(found: PublishedResult) -> str:
    """What the table is, and what it is not."""
    return (
        f"Published on {found.date} ({found.source}), {found.questions} questions. The published scores may not be "
        f"cited. The nearest thing to them here is the score before the gate; with {len(found.deviations)} deviations, "
        "listed below, a distance between the two has no single cause."
    )


def verdict_line(suite: AgainstPublished) -> str:
    """`harrier: ACCEPTABLE 0.7109; here ACCEPTABLE 0.7003 before the gate, ACCEPTABLE 0.6921 after it, ...`."""
    then = f"{suite.published.suite}: {suite.published.verdict} {number(suite.published.global_score)}"
    if not suite.was_run:
        return f"{then}; not run here"
    overall = suite.metrics[-1]
    return (
        f"{then}; here {suite.raw_verdict or 'no verdict'} {number(overall.raw)} before the gate, "
        f"{suite.verdict or 'no verdict'} {number(overall.final)} after it, "
        f"syntactic validity {percent(suite.syntactic_validity)}"
    )


def verdict_cells(suite: AgainstPublished) -> tuple[str, ...]:
    """One line of the table of verdicts, in the order of VERDICTS_HEAD."""
    published = suite.published
    counted = ABSENT if published.forensic is None else f"~{published.forensic.invalid}"
    if not suite.was_run:
        return (published.suite, published.verdict, global_score(suite), "not run", "not run", ABSENT, counted, ABSENT)
    overall = suite.metrics[-1]
    return (
        published.suite,
        published.verdict,
        global_score(suite),
        f"{suite.raw_verdict or 'no verdict'} {number(overall.raw)}",
        f"{suite.verdict or 'no verdict'} {number(overall.final)}",
        percent(suite.syntactic_validity),
        counted,
        invalid_share(suite),
    )


def global_score(suite: AgainstPublished) -> str:
    """The published score, marked where it is not the mean of its parts."""
    check = suite.recomputed
    return f"{check.published:.4f}" if check.agrees else f"{check.published:.4f} (its parts give {check.mean:.5f})"


def invalid_share(suite: AgainstPublished) -> str:
    """`5.2 of 31.0 with code`."""
    if suite.invalid_per_run is None or suite.code_bearing_per_run is None:
        return ABSENT
    return f"{suite.invalid_per_run:.1f} of {suite.code_bearing_per_run:.1f} with code"


def score_cells(found: PublishedMetric) -> tuple[str, ...]:
    """One line of a suite's table of scores, in the order of SCORES_HEAD."""
    name = METRIC_NAMES[found.metric]
    return (f"**{name}**" if found.metric is Metric.GLOBAL else name, number(found.published), number(found.raw),
            number(found.final))  # fmt: skip


def deviation(each: Deviation) -> str:
    """`judge: a -> b (why)`, with the area in front."""
    note = f" ({each.note})" if each.note else ""
    return f"{each.area.value}: {each.setting}: {each.was} → {each.now}{note}"


def rerun_sentence(rerun: RerunOf) -> str:
    """What is repeated and in how many points it is not the same."""
    if not rerun.deviations:
        return f"A rerun of {rerun.run} without any recorded deviation."
    return (
        f"A rerun of {rerun.run} with {plural(len(rerun.deviations), 'deviation')}: "
        "a difference between the two is theirs or chance."
    )


def _published(found: PublishedResult) -> Iterator[str]:
    yield from ("", "## Published against new", "", introduction(found), "")
    yield from _table(VERDICTS_HEAD, [verdict_cells(suite) for suite in found.suites])
    for suite in found.suites:
        if suite.was_run:
            yield from ("", f"### {suite.published.suite}, published against new", "")
            yield from _table(SCORES_HEAD, [score_cells(metric) for metric in suite.metrics])
    for title, items in (
        ("Why the published scores may not be cited", found.non_binding),
        ("What this run does otherwise", [deviation(each) for each in found.deviations]),
        ("What to know of the published table", found.notes),
    ):
        if items:
            yield from ("", f"### {title}", "")
            yield from (f"- {item}" for item in items)


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
