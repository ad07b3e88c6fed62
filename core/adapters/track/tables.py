"""Tables for W&B: judged rows with both scores, confusion, scoreboard, gates, comparisons. Cells are scalars."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from core.adapters.track.view import Scalar, Table
from core.model.comparison import Comparison
from core.model.evaluation import Confusion, EvaluationReport, SuiteSummary
from core.model.interval import Interval
from core.model.judged import JudgedRow, Metric

ROW_COLUMNS = (
    "id", "run", "type", "language", "answerable", "question", "answer", "reference", "syntax", "category", "trace",
    *(f"{metric.value}/{side}" for metric in Metric for side in ("final", "raw", "unscored")),
    "constructs", "few_shots", "passages", "noncommittal", "usd", "seconds", "message_id",
)  # fmt: skip
BOARD_COLUMNS = (
    "suite", "metric", "final", "low", "high", "clustered_error", "sd_over_runs", "raw", "scored", "expected", "band",
)  # fmt: skip
COMPARISON_COLUMNS = (
    "a", "b", "metric", "a_mean", "b_mean", "difference", "low", "high", "p_adjusted", "minimum_detectable",
    "questions", "claim", "sentence",
)  # fmt: skip


def judged_rows(rows: Sequence[JudgedRow]) -> Table:
    """One line per answer, by run and question."""
    ordered = sorted(rows, key=lambda row: (row.run, row.id))
    return Table(ROW_COLUMNS, tuple(map(_judged_row, ordered)))


def any_rows(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows of an experiment that W&B is told nothing else about: every key a column, nested values as JSON."""
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    made = [_one_type([_scalar(row.get(key)) for row in rows]) for key in columns]
    return Table(columns, tuple(zip(*made, strict=True)))


def words(column: str, lines: Sequence[str]) -> Table:
    """A list of words as a table of one column."""
    return Table((column,), tuple((line,) for line in lines))


def sheets(files: Mapping[str, bytes]) -> dict[str, Table]:
    """The CSV files of a report, numbers as numbers and empty fields as unknown."""
    found = {name.removesuffix(".csv"): content for name, content in files.items() if name.endswith(".csv")}
    return {name: _sheet(content.decode("utf-8")) for name, content in found.items()}


def of_suite(suite: SuiteSummary) -> dict[str, Table]:
    """What the parser rejected, and what the judged metrics came to run by run."""
    return {
        "confusion": confusion_cells(suite.confusion),
        "constructs": confusion_constructs(suite.confusion),
        "runs": _runs(suite),
        "statistics": _statistics(suite),
        "variance": Table(
            ("metric", "question", "run", "judge", "questions", "runs", "judgings"),
            tuple((v.metric.value, v.question, v.run, v.judge, v.n_questions, v.runs, v.judgings)
                  for v in suite.variance),
        ),
    }  # fmt: skip


def of_report(report: EvaluationReport) -> dict[str, Table]:
    """Scoreboard, gates, and comparisons where there are any."""
    gates = tuple(
        (g.suite, g.metric, g.query_type, g.comparator.value, g.threshold, g.value, g.passed, g.reason)
        for g in report.gates
    )
    found = {
        "scoreboard": Table(BOARD_COLUMNS, tuple(row for suite in report.suites for row in _board(suite))),
        "gates": Table(("suite", "metric", "query_type", "comparator", "bar", "value", "passed", "reason"), gates),
        "caveats": words("caveat", report.caveats),
    }
    return found | ({"comparison": comparison(report.comparison)} if report.comparison else {})


def comparison(of: Comparison) -> Table:
    """Every metric of every pair; a pair that may not be compared is one line with the reason."""
    rows: list[tuple[Scalar, ...]] = []
    for pair in of.pairs:
        if pair.incomparable:
            blank = (None,) * (len(COMPARISON_COLUMNS) - 4)
            rows.append((pair.a, pair.b, *blank, "incomparable", "; ".join(pair.incomparable)))
        for m in pair.metrics:
            low, high = (m.interval.low, m.interval.high) if m.interval else (None, None)
            rows.append((
                pair.a, pair.b, m.metric, m.a_mean, m.b_mean, m.difference, low, high, m.p_adjusted,
                m.minimum_detectable, m.n_questions, m.claim.value, m.sentence,
            ))  # fmt: skip
    return Table(COMPARISON_COLUMNS, tuple(rows))


def confusion_cells(of: Confusion) -> Table:
    """Rejected answers by failure category, question and construct."""
    cells = ((c.category.value, c.question, ", ".join(c.constructs), c.count, _list(c.runs)) for c in of.cells)
    return Table(("category", "question", "constructs", "count", "runs"), tuple(cells))


def confusion_constructs(of: Confusion) -> Table:
    """Failures of each construct by category, beside what corpus and few-shot pool hold on it."""
    categories = sorted({category for line in of.constructs for category in line.by_category})
    head = ("construct", "questions", "code_bearing", "invalid", "passages", "examples")
    lines = (
        (c.node_type, c.questions, c.code_bearing, c.invalid, c.passages, c.examples,
         *(c.by_category.get(category, 0) for category in categories))
        for c in of.constructs
    )  # fmt: skip
    return Table((*head, *(category.value for category in categories)), tuple(lines))


def numbers_in(value: Any, path: str = "") -> dict[str, int | float]:
    """The finite numbers in nested JSON objects, by dotted path; lists are left to the report's artifact."""
    if isinstance(value, Mapping):
        steps = ((f"{path}.{key}" if path else str(key), item) for key, item in value.items())
        return {name: number for step, item in steps for name, number in numbers_in(item, step).items()}
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return {path: value} if is_number and path else {}


def _judged_row(row: JudgedRow) -> tuple[Scalar, ...]:
    scores = (
        part
        for _, score in row.scores.items()
        for part in (score.final, score.raw, score.reason.value if score.reason else None)
    )
    trace = [line for block in row.blocks if block.result is not None for line in block.result.trace]
    return (
        row.id, row.run, row.type.value, row.language, row.answerable, row.question, row.answer, row.reference,
        row.syntax.value if row.syntax else None, row.category.value if row.category else None, "\n".join(trace),
        *scores,
        ", ".join(row.constructs), ", ".join(row.few_shots.ids), ", ".join(p.id for p in row.passages),
        row.noncommittal, math.fsum(call.cost_usd for call in row.calls), row.elapsed_s, row.message_id,
    )  # fmt: skip


def _board(suite: SuiteSummary) -> list[tuple[Scalar, ...]]:
    lines: list[tuple[Scalar, ...]] = []
    named = [(m.metric.value, m.final, m.raw.mean) for m in suite.metrics]
    named.append(("syntactic_validity", suite.syntax.overall, suite.syntax.overall.mean))
    for name, final, raw in named:
        low, high = (final.interval.low, final.interval.high) if final.interval else (None, None)
        band = suite.band if name == Metric.GLOBAL else None
        lines.append((suite.suite, name, final.mean, low, high, final.cluster_se, final.sd_over_runs, raw,
                      final.n_scored, final.n_expected, band))  # fmt: skip
    return lines


def _runs(suite: SuiteSummary) -> Table:
    head = ("run", "rows", *(f"{m.value}/{side}" for m in Metric for side in ("final", "raw")), "validity", "band")
    lines = (
        (r.run, r.rows, *(side.get(m) for m in Metric for side in (r.final, r.raw)), r.syntactic_validity, r.band)
        for r in suite.runs
    )
    return Table(head, tuple(lines))


def _statistics(suite: SuiteSummary) -> Table:
    """What runs and questions say beyond the mean; the report names why a number is missing, here it is left out."""
    keys = ("flip_rate", "disagreement", "largest_gap_ratio", "dip", "dip_p", "dip_power", "detectable")
    rows = []
    for line in suite.statistics:
        ends = (line.bootstrap.low, line.bootstrap.high) if isinstance(line.bootstrap, Interval) else (None, None)
        rest = (value if isinstance(value, float) else None for value in (getattr(line, key) for key in keys))
        rows.append((line.metric, *ends, *rest))
    return Table(("metric", "bootstrap_low", "bootstrap_high", *keys), tuple(rows))


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _sheet(text: str) -> Table:
    head, *lines = list(csv.reader(io.StringIO(text))) or [[]]
    columns = [_one_type([_field(line[at]) if at < len(line) else None for line in lines]) for at in range(len(head))]
    return Table(tuple(head), tuple(zip(*columns, strict=True)))


def _field(text: str) -> Scalar:
    if text == "":
        return None
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def _one_type(column: Sequence[Scalar]) -> Sequence[Scalar]:
    """`column`, as words where it mixes words and numbers: W&B wants one type in a column."""
    kinds = {float if type(value) is int else type(value) for value in column if value is not None}
    return column if len(kinds) <= 1 else [None if value is None else str(value) for value in column]


def _scalar(value: Any) -> Scalar:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return json.dumps(value, ensure_ascii=False)
