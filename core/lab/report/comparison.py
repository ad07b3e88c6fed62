"""A comparison in words: a section of the Markdown report, and lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.measure.compare_sentences import amount, named, p_value, signed
from core.model.comparison import (
    Claim,
    Comparison,
    Difference,
    LeftOut,
    MetricComparison,
    PairComparison,
    ValidityTable,
)
from core.model.interval import Interval

ABSENT = "–"
SHOWN_CLAIMS = 12
"""Claims in a terminal's summary; the report has all."""
HEAD = ("metric", "A", "B", "B − A", "interval", "p", "adjusted p", "least detectable", "questions")


def section(comparison: Comparison) -> Iterator[str]:
    """The lines of `## Comparison`, every pair with its table, its sentences and what the two differ in."""
    yield from ("", "## Comparison", "", f"{standing(comparison)} {method(comparison)}")
    for pair in comparison.pairs:
        yield from ("", f"### A = {pair.a}, B = {pair.b}", "")
        yield from _pair(pair)


def standing(comparison: Comparison) -> str:
    """Whether it may be cited."""
    return "**Binding.**" if comparison.citable else "**Non-binding: nothing here may be cited.**"


def method(comparison: Comparison) -> str:
    """How the numbers were had, in three sentences."""
    only = f" Only {comparison.query_type} questions count." if comparison.query_type else ""
    stated = f" The stated factor is {comparison.factor}." if comparison.factor else ""
    return (
        f"Differences are B minus A, paired by question.{only}{stated} p-values are adjusted by Holm's method over "
        f"{comparison.family} tests; intervals are {100 * comparison.level:g}% and not adjusted. The least detectable "
        "difference is seen with a power of .80 at the level of the strictest of these tests."
    )


def summary(comparison: Comparison) -> tuple[str, ...]:
    """What may be claimed, for a terminal: the claims, and how many tests were undecided."""
    tests = [found for pair in comparison.pairs for found in pair.metrics]
    claimed = [found.sentence for found in tests if found.claim in {Claim.A_BETTER, Claim.B_BETTER}]
    undecided = sum(found.claim is Claim.UNDECIDED for found in tests)
    refused = [f"{pair.a} and {pair.b} are not compared: {'; '.join(pair.incomparable)}" for pair in comparison.pairs
               if pair.incomparable]  # fmt: skip
    more = [f"{len(claimed) - SHOWN_CLAIMS} more claims are in the report"] if len(claimed) > SHOWN_CLAIMS else []
    count = f"compared: {len(claimed)} of {comparison.family} tests show a difference, {undecided} are undecided"
    return (count, *claimed[:SHOWN_CLAIMS], *more, *refused)


def cells(found: MetricComparison) -> tuple[str, ...]:
    """One line of the table, in the order of HEAD."""
    return (
        named(found.metric),
        number(found.a_mean),
        number(found.b_mean),
        ABSENT if found.difference is None else signed(found.difference),
        bounds(found.interval),
        probability(found.p),
        probability(found.p_adjusted),
        ABSENT if found.minimum_detectable is None else amount(found.minimum_detectable),
        str(found.n_questions),
    )


def number(value: float | None) -> str:
    """Three decimals; a dash for what is not there."""
    return ABSENT if value is None else f"{value:.3f}"


def probability(p: float | None, name: str = "") -> str:
    """A p-value behind its `name`; a dash for what is not there."""
    return ABSENT if p is None else f"{name}{p_value(p)}"


def bounds(interval: Interval | None) -> str:
    """`0.012 to 0.070`."""
    return ABSENT if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"


def table_of_validity(pair: PairComparison, table: ValidityTable) -> str:
    """McNemar's table and what it stands on, in one sentence."""
    questions = table.both + table.a_only + table.b_only + table.neither
    runs = "1 run" if table.runs == 1 else f"{table.runs} runs"
    return (
        f"Of {questions} questions with code on both sides, over {runs}, the code was always valid on both sides for "
        f"{table.both}, only for {pair.a} on {table.a_only}, only for {pair.b} on {table.b_only}, for neither on "
        f"{table.neither}; shares {bounds(table.a_interval)} and {bounds(table.b_interval)} (Wilson). "
        f"Of all code-bearing answers {table.a_valid_answers} of {table.a_answers} were valid for {pair.a}, "
        f"{table.b_valid_answers} of {table.b_answers} for {pair.b}."
    )


def confounders(differences: Sequence[Difference]) -> str:
    """What the two sides differ in, and what follows from it."""
    if not differences:
        return "They differ in no recorded setting: what is seen is chance, or what the record does not hold."
    named_settings = "; ".join(f"{each.setting}: {each.a or 'none'} | {each.b or 'none'}" for each in differences)
    single = len(differences) == 1
    end = "" if single else " With several, none of them alone is shown to be the cause."
    return f"They differ in {len(differences)} {'setting' if single else 'settings'} ({named_settings}).{end}"


def left_out(found: MetricComparison) -> str:
    """Which questions could not be paired; empty when all could."""
    reasons = ", ".join(_missing(each) for each in found.left_out)
    return f"{named(found.metric)} leaves out {reasons}" if reasons else ""


def _missing(each: LeftOut) -> str:
    why = "never asked" if each.reason is None else each.reason.value
    return f"{each.questions} for {each.side} ({why})"


def _pair(pair: PairComparison) -> Iterator[str]:
    if pair.incomparable:
        yield from (f"- not comparable: {reason}" for reason in pair.incomparable)
        return
    yield "| " + " | ".join(HEAD) + " |"
    yield "|" + "---|" * len(HEAD)
    yield from ("| " + " | ".join(cells(found)) + " |" for found in pair.metrics)
    yield ""
    yield from (f"- {found.sentence}" for found in pair.metrics)
    if pair.validity is not None:
        yield f"- {table_of_validity(pair, pair.validity)}"
    yield f"- {confounders(pair.differences)}"
    yield from (f"- Questions: {said}." for said in map(left_out, pair.metrics) if said)
