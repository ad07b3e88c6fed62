"""The report as one HTML page that needs nothing else: no network, no script that must run, readable on a phone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from core.lab.report import plots, words
from core.model.evaluation import Block, EvaluationReport, JudgedRow, Metric, SuiteSummary
from core.model.syntax import Validity

SHOWN_REJECTIONS = 24
"""Rejected answers shown in full per suite; the rest are in the journal."""


@dataclass(frozen=True)
class Plots:
    """The drawings of one suite, as SVG text; empty when there is nothing to draw."""

    questions: str
    confusion: str


@dataclass(frozen=True)
class CodeLine:
    """A line of a rejected program with what the parser said of it."""

    number: int
    text: str
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Rejection:
    """A rejected answer, with its program under the parser's eyes."""

    row: JudgedRow
    code: tuple[CodeLine, ...]


def page(report: EvaluationReport, rows: Sequence[JudgedRow]) -> str:
    """The page as HTML text."""
    environment = Environment(
        loader=PackageLoader("core.lab.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(words=words, Metric=Metric)
    return environment.get_template("page.html.j2").render(
        report=report,
        overview=plots.metrics_plot(report.suites),
        run_spread=plots.runs_plot(report.suites),
        drawings={s.suite: Plots(plots.questions_plot(s), plots.confusion_plot(s)) for s in report.suites},
        rejections={s.suite: _rejections(s, rows) for s in report.suites},
    )


def _rejections(suite: SuiteSummary, rows: Sequence[JudgedRow]) -> list[Rejection]:
    """One rejected answer per question first, so that the reader sees breadth before repetition."""
    invalid = [r for r in rows if r.suite == suite.suite and r.syntax is Validity.INVALID]
    seen: dict[str, int] = {}
    ranked = []
    for row in sorted(invalid, key=lambda r: (r.run, r.id)):
        seen[row.id] = seen.get(row.id, 0) + 1
        ranked.append((seen[row.id], row.run, row.id, row))
    ranked.sort(key=lambda entry: entry[:3])
    return [_rejection(entry[-1]) for entry in ranked[:SHOWN_REJECTIONS]]


def _rejection(row: JudgedRow) -> Rejection:
    bad = next(b for b in row.blocks if b.result is not None and b.result.verdict is Validity.INVALID)
    return Rejection(row, tuple(_code_lines(bad)))


def _code_lines(block: Block) -> list[CodeLine]:
    assert block.result is not None
    said: dict[int, list[str]] = {}
    for diagnostic, line in zip(block.result.diagnostics, block.result.trace, strict=False):
        said.setdefault(diagnostic.line, []).append(line)
    # Not splitlines: the parser counts line feeds, and U+2028 is a character of a text like any other.
    lines = block.code.removesuffix("\n").split("\n")
    return [CodeLine(n, text, tuple(said.get(n, ()))) for n, text in enumerate(lines, start=1)]
