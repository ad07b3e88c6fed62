"""Are failures concentrated? Permutation tests over questions, whose runs fail together and count as one.

Three questions, each with Pearson's chi-squared statistic and the distribution that chance gives it:

    category              do the four failure categories occur equally often? Each question with a failure has one vote,
                          its commonest category; chance draws votes from four equal categories
    construct             do answers about some constructs fail more often? Chance deals the questions' failures, with
                          their numbers of answers, to other questions' constructs
    category x construct  do constructs fail each in its own way? Chance deals the questions' categories to other
                          failing questions

p is (hits + 1) / (samples + 1), which cannot be 0 (Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 9, 2010).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.measure.clusters import Floats
from core.model.evaluation import ConcentratedIn, Concentration
from core.model.frozen import seed_for
from core.model.judged import JudgedRow
from core.model.sample import GoldenQuestion
from core.model.syntax import Category, Validity

RESAMPLES = 9999
FEWEST_QUESTIONS = 5
"""Failing questions below which nothing is tested: no arrangement of fewer is rare enough to say anything."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class _Failures:
    """The questions with code, in order of their ids: the answers that bear code, those INVALID, and of what kind."""

    ids: tuple[str, ...]
    bearing: Floats
    invalid: Floats
    category: tuple[int | None, ...]
    """The commonest category of each, as its place in Category; None where nothing failed."""
    about: Floats
    """Questions x constructs: 1 where a correct answer is about the construct."""

    @property
    def failing(self) -> Floats:
        """The places of the questions with a failure."""
        return np.array([at for at, found in enumerate(self.category) if found is not None], dtype=np.float64)


def concentrations(
    rows: Sequence[JudgedRow], questions: Sequence[GoldenQuestion], *, seed: int, resamples: int = RESAMPLES
) -> tuple[Concentration, ...]:
    """The three tests over `rows`; `p` is None where too few questions failed."""
    found = _failures(rows, questions)
    tests: tuple[tuple[ConcentratedIn, _Test], ...] = (
        (ConcentratedIn.CATEGORY, _by_category),
        (ConcentratedIn.CONSTRUCT, _by_construct),
        (ConcentratedIn.CATEGORY_BY_CONSTRUCT, _by_both),
    )
    return tuple(_concentration(found, where, test, seed_for(seed, where), resamples) for where, test in tests)


_Test = Callable[[_Failures, np.random.Generator, int], tuple[float, Floats]]
"""The observed statistic, and as many that chance gave."""


def _concentration(found: _Failures, where: ConcentratedIn, test: _Test, seed: int, resamples: int) -> Concentration:
    failing = len(found.failing)
    statistic: float | None = None
    p: float | None = None
    if failing >= FEWEST_QUESTIONS and found.about.size:
        statistic, chance = test(found, np.random.default_rng(seed), resamples)
        p = (1 + int((chance >= statistic - _ROUNDING).sum())) / (1 + resamples)
    return Concentration(
        where=where,
        statistic=statistic,
        p=p,
        failing_questions=failing,
        invalid=int(found.invalid.sum()),
        resamples=resamples,
    )


def _failures(rows: Sequence[JudgedRow], questions: Sequence[GoldenQuestion]) -> _Failures:
    own: dict[str, list[JudgedRow]] = {}
    for row in rows:
        if row.syntax is not None:
            own.setdefault(row.id, []).append(row)
    asked = sorted((q for q in questions if q.id in own), key=lambda question: question.id)
    constructs = sorted({construct for question in asked for construct in question.constructs})
    return _Failures(
        ids=tuple(question.id for question in asked),
        bearing=np.array([len(own[q.id]) for q in asked], dtype=np.float64),
        invalid=np.array([sum(r.syntax is Validity.INVALID for r in own[q.id]) for q in asked], dtype=np.float64),
        category=tuple(_commonest(own[question.id]) for question in asked),
        about=np.array([[float(c in q.constructs) for c in constructs] for q in asked]).reshape(
            len(asked), len(constructs)
        ),
    )


def _commonest(rows: Sequence[JudgedRow]) -> int | None:
    counts = Counter(row.category for row in rows if row.category is not None)
    order = list(Category)
    return min(map(order.index, counts), key=lambda at: (-counts[order[at]], at)) if counts else None


def _by_category(found: _Failures, generator: np.random.Generator, resamples: int) -> tuple[float, Floats]:
    votes = [category for category in found.category if category is not None]
    kinds = len(Category)
    counts = np.bincount(votes, minlength=kinds)
    expected = len(votes) / kinds
    drawn = generator.multinomial(len(votes), [1 / kinds] * kinds, size=resamples)
    return float(((counts - expected) ** 2).sum() / expected), ((drawn - expected) ** 2).sum(axis=1) / expected


def _by_construct(found: _Failures, generator: np.random.Generator, resamples: int) -> tuple[float, Floats]:
    orders = _orders(len(found.ids), generator, resamples)
    observed = _construct_statistic(found, found.invalid[None], found.bearing[None])
    return float(observed[0]), _construct_statistic(found, found.invalid[orders], found.bearing[orders])


def _construct_statistic(found: _Failures, invalid: Floats, bearing: Floats) -> Floats:
    """Chi-squared of failures by construct against the overall rate; one value for each arrangement."""
    rate = found.invalid.sum() / found.bearing.sum()
    seen, expected = invalid @ found.about, rate * (bearing @ found.about)
    return np.asarray(((seen - expected) ** 2 / np.maximum(expected, _ROUNDING)).sum(axis=1))


def _by_both(found: _Failures, generator: np.random.Generator, resamples: int) -> tuple[float, Floats]:
    places = found.failing.astype(np.intp)
    about = found.about[places]
    votes = np.eye(len(Category))[[category for category in found.category if category is not None]]
    expected = votes.sum(axis=0)[:, None] * about.sum(axis=0)[None] / len(votes)
    observed = _association(votes[None], about, expected)
    chance = _association(votes[_orders(len(votes), generator, resamples)], about, expected)
    return float(observed[0]), chance


def _association(votes: Floats, about: Floats, expected: Floats) -> Floats:
    """Chi-squared of category x construct counts; `votes[arrangement, question, category]`."""
    seen = np.einsum("aqk,qc->akc", votes, about, optimize=True)
    return np.asarray(((seen - expected) ** 2 / np.maximum(expected, _ROUNDING)).sum(axis=(1, 2)))


def _orders(count: int, generator: np.random.Generator, resamples: int) -> NDArray[np.intp]:
    """Random orders of `count` things, one a row."""
    return generator.permuted(np.tile(np.arange(count), (resamples, 1)), axis=1)
