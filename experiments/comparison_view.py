"""How a comparison looks on a terminal, wide or narrow. What may not be cited says so on every line."""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.style import Style
from rich.table import Column, Table
from rich.text import Text

from core.lab.report.comparison import ABSENT, bounds, confounders, left_out, number, table_of_validity
from core.measure.compare_sentences import NOT_CITABLE, amount, named, p_value, signed
from core.model.comparison import Claim, Comparison, DifferenceGateResult, MetricComparison, PairComparison

MARK = "not citable │ "
TABLE_WIDTH = 100
"""Columns that the table needs; narrower places get two lines for each metric."""
COLOURS = {Claim.B_BETTER: "green", Claim.A_BETTER: "red", Claim.UNDECIDED: "yellow", Claim.NOT_TESTED: "dim"}
SIGNS = {Claim.B_BETTER: "▲", Claim.A_BETTER: "▼", Claim.UNDECIDED: "·", Claim.NOT_TESTED: "–"}


def draw(console: Console, comparison: Comparison) -> None:
    """Print the whole comparison on `console`."""
    mark = "" if comparison.citable else MARK
    width = max(20, console.width - len(mark))
    for part in _parts(comparison, width):
        _print(console, part, mark, width)


def gate_line(result: DifferenceGateResult) -> str:
    """`gate faithfulness > -0.02 on B - A = hybrid - bm25: lower bound 0.012, met`."""
    end = "met" if result.passed else "missed"
    if result.value is None:
        return f"gate {result.gate.text} ({result.b} minus {result.a}): {end}, {result.reason}"
    return f"gate {result.gate.text} ({result.b} minus {result.a}): {result.on.value} {result.value:.4f}, {end}"


def _parts(comparison: Comparison, width: int) -> Iterator[RenderableType]:
    yield from _head(comparison)
    for pair in comparison.pairs:
        yield Text()
        yield Text.assemble(("A ", "dim"), (pair.a, "bold"), ("   B ", "dim"), (pair.b, "bold"))
        yield from [_table(pair, comparison.level)] if width >= TABLE_WIDTH else _stacked(pair)
        for found in pair.metrics:
            said = found.sentence.removesuffix(NOT_CITABLE).strip()
            yield Text.assemble((f"{SIGNS[found.claim]} ", f"bold {COLOURS[found.claim]}"), said)
        yield from (Text(f"  {line}", style="dim") for line in _footnotes(pair))
    if comparison.gates:
        yield Text()
    for result in comparison.gates:
        yield Text(gate_line(result), style="green" if result.passed else "bold red")


def _head(comparison: Comparison) -> Iterator[Text]:
    if not comparison.citable:
        faults = {side.run: side.binding_faults for side in comparison.sides if side.binding_faults}
        for run, reasons in faults.items():
            yield Text.assemble(("NON-BINDING ", "bold yellow"), f"{run}: {'; '.join(reasons)}")
    only = f", {comparison.query_type.value} alone" if comparison.query_type else ""
    stated = f", factor {comparison.factor.value}" if comparison.factor else ""
    yield Text(
        f"B minus A, paired by question{only}{stated}; p adjusted by Holm over {comparison.family} tests; "
        f"{comparison.resamples} resamples",
        style="dim",
    )


def _table(pair: PairComparison, level: float) -> Table:
    heads = ("A", "B", "B − A", f"{100 * level:g}% interval", "adj. p", "detectable", "questions")
    table = Table(
        Column("metric", no_wrap=True),
        *(Column(head, justify="right", no_wrap=True) for head in heads),
        box=SIMPLE_HEAD,
        pad_edge=False,
    )
    for found in pair.metrics:
        table.add_row(*_cells(found))
    return table


def _cells(found: MetricComparison) -> list[Text | str]:
    return [
        named(found.metric),
        number(found.a_mean),
        number(found.b_mean),
        Text(ABSENT if found.difference is None else signed(found.difference), style=COLOURS[found.claim]),
        bounds(found.interval),
        ABSENT if found.p_adjusted is None else p_value(found.p_adjusted),
        ABSENT if found.minimum_detectable is None else amount(found.minimum_detectable),
        str(found.n_questions),
    ]


def _stacked(pair: PairComparison) -> Iterator[Text]:
    for found in pair.metrics:
        name, a, b, difference, interval, p, detectable, questions = _cells(found)
        yield Text.assemble((str(name), "bold"), f"  {a} → {b}  ", difference)
        yield Text(f"  {interval}, adj. p {p}, detectable {detectable}, {questions} questions")


def _footnotes(pair: PairComparison) -> Iterator[str]:
    if pair.validity is not None:
        yield table_of_validity(pair, pair.validity)
    yield confounders(pair.differences)
    yield from (f"{said}." for said in map(left_out, pair.metrics) if said)


def _print(console: Console, part: RenderableType, mark: str, width: int) -> None:
    """Print `part`; with a `mark`, wrapped here so that each line can begin with it."""
    if not mark:
        console.print(part)
        return
    options = console.options.update(width=width, height=None, no_wrap=False, overflow="fold")
    for line in console.render_lines(part, options, pad=False):
        console.print(Segments([Segment(mark, Style(color="yellow")), *line, Segment.line()]), end="")
