"""What may be said of one metric of one pair, in one sentence that claims no more than its numbers."""

from __future__ import annotations

from dataclasses import dataclass

from core.model.comparison import VALIDITY, Claim, MetricComparison
from core.model.interval import Interval

NOT_CITABLE = "Non-binding: may not be cited."
"""Ends every sentence about runs that are not binding."""


@dataclass(frozen=True)
class Terms:
    """What a sentence needs to know beside its numbers."""

    a: str
    b: str
    citable: bool
    hindrance: str
    """What kept the test from ever giving a p-value small enough; empty where nothing did."""


def sentence(found: MetricComparison, terms: Terms) -> str:
    """One sentence, with its caution where the runs may not be cited."""
    said = {
        Claim.B_BETTER: _better,
        Claim.A_BETTER: _better,
        Claim.UNDECIDED: _undecided,
        Claim.NOT_TESTED: _not_tested,
    }[found.claim](found, terms)
    return said if terms.citable else f"{said} {NOT_CITABLE}"


def amount(value: float) -> str:
    """`0.041`; what three decimals would round to nothing is given with two digits."""
    return f"{value:.3f}" if value == 0.0 or abs(value) >= 0.0005 else f"{value:.1e}"


def signed(value: float) -> str:
    """`+0.041` or `-0.041`; zero, and what rounds to it, has no sign."""
    return f"{value:+.3f}" if abs(value) >= 0.0005 else "0.000"


def p_value(p: float) -> str:
    """`0.032`, or `< 0.001`."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def named(metric: str) -> str:
    """A metric as prose writes it."""
    return metric.replace("_", " ")


def _better(found: MetricComparison, terms: Terms) -> str:
    b_won = found.claim is Claim.B_BETTER
    better, worse = (terms.b, terms.a) if b_won else (terms.a, terms.b)
    assert found.difference is not None, "a claim has a difference"
    return (
        f"{better} is better than {worse} on {named(found.metric)} by {amount(abs(found.difference))}"
        f"{_unit(found)} ({_numbers(found, 1 if b_won else -1)}; {found.n_questions} questions)."
    )


def _undecided(found: MetricComparison, terms: Terms) -> str:
    assert found.difference is not None, "an undecided test has a difference"
    shown = f"{terms.b} minus {terms.a} is {signed(found.difference)}{_unit(found)}, {_numbers(found, 1)}"
    return (
        f"No difference in {named(found.metric)} between {terms.a} and {terms.b} can be claimed ({shown}): "
        f"{_what_was_possible(found, terms)}."
    )


def _not_tested(found: MetricComparison, terms: Terms) -> str:
    return f"Nothing can be said of {named(found.metric)} between {terms.a} and {terms.b}: {found.why_not}."


def _what_was_possible(found: MetricComparison, terms: Terms) -> str:
    questions = f"{found.n_questions} questions"
    if terms.hindrance:
        return f"{terms.hindrance} no difference, however large, could have been claimed on its own"
    if found.minimum_detectable is None:
        alike = "two score the same" if found.difference == 0.0 else "difference is the same"
        return f"the {alike} on all {questions}, so what these could have shown is not known"
    possible = (
        f"a difference under {amount(found.minimum_detectable)} could not have been seen reliably with {questions}"
    )
    if found.questions_needed is None or found.questions_needed <= found.n_questions:
        return possible
    assert found.difference is not None, "questions are needed to see a difference"
    needed = f"{found.questions_needed:,}"
    return f"{possible}; about {needed} questions would be needed to see one of {amount(abs(found.difference))}"


def _numbers(found: MetricComparison, sign: int) -> str:
    parts = [] if found.interval is None else [_interval(found.interval, sign)]
    if found.p_adjusted is not None:
        parts.append(f"adjusted p {p_value(found.p_adjusted)}")
    return ", ".join(parts)


def _interval(interval: Interval, sign: int) -> str:
    low, high = sorted((sign * interval.low, sign * interval.high))
    return f"{100 * interval.level:g}% CI {low:.3f} to {high:.3f}"


def _unit(found: MetricComparison) -> str:
    return " in the share of questions whose code is always valid" if found.metric == VALIDITY else ""
