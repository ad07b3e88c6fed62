"""Two systems on the same questions, compared question by question: b minus a.

Pairing takes away what makes questions easy or hard for both: at 50 questions and a difference of .10 it finds .87
where comparing the two means finds .50. A question's value is its mean over the scored runs; it counts when both sides
have one.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from core.measure.bootstrap import RESAMPLES
from core.measure.clusters import Floats, all_equal, as_matrix, is_finite, question_means
from core.measure.multiplicity import holm
from core.measure.permutation import sign_flips
from core.measure.power import minimum_detectable_effect
from core.measure.statistics import check_level
from core.model.degenerate import Degenerate
from core.model.interval import Interval

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, eq=False)
class PairedDifferences:
    """One difference for each question that both sides scored."""

    values: Floats
    degenerate: Degenerate | None
    """NOTHING_SCORED and NOT_FINITE leave no values; ONE_QUESTION one; ALL_EQUAL no spread."""

    @cached_property
    def mean(self) -> float | None:
        """None without values."""
        return math.fsum(self.values) / len(self.values) if len(self.values) else None

    @cached_property
    def sd(self) -> float | None:
        """Standard deviation (ddof 1); exactly 0 where all are equal, None below two."""
        if len(self.values) < 2:
            return None
        return 0.0 if self.degenerate is Degenerate.ALL_EQUAL else _sd(self.values)

    @cached_property
    def error(self) -> float | None:
        """Standard error of the mean; None below two questions."""
        return None if self.sd is None else self.sd / math.sqrt(len(self.values))


@dataclass(frozen=True)
class PairedT:
    """Student's t for paired differences. What is undefined is None, and `degenerate` says why."""

    difference: float | None
    t: float | None
    p: float | None
    """Two-sided."""
    df: int | None
    """Questions - 1."""
    degenerate: Degenerate | None = None


@dataclass(frozen=True)
class PairedPermutation:
    """The sign-flip test. What is undefined is None, and `degenerate` says why."""

    difference: float | None
    p: float | None
    """Two-sided."""
    exact: bool
    """Whether all sign patterns were counted; else a seeded sample of them."""
    degenerate: Degenerate | None = None


@dataclass(frozen=True)
class PairedComparison:
    """Everything about one pair under one metric, and its p value among those of its family."""

    questions: int
    """Scored on both sides."""
    difference: float | None
    sd: float | None
    """Of the differences, ddof 1."""
    interval: Interval | Degenerate
    t: PairedT
    permutation: PairedPermutation
    p_adjusted: float | None
    """The permutation's p after Holm over the family; None where there is none."""
    minimum_detectable_effect: float | Degenerate
    """The smallest true difference that this many questions with this spread find in 80% of repetitions."""


def paired_differences(a: ArrayLike, b: ArrayLike) -> PairedDifferences:
    """b minus a over question means; `a[question, run]` and `b[question, run]` may differ in their runs.

    Raises ValueError when they have different numbers of questions.
    """
    first, second = as_matrix(a), as_matrix(b)
    if len(first) != len(second):
        raise ValueError(f"{len(first)} questions against {len(second)}: a pair needs the same ones in the same order")
    if not (is_finite(first) and is_finite(second)):
        return PairedDifferences(np.empty(0), Degenerate.NOT_FINITE)
    lefts, rights = question_means(first), question_means(second)
    both = ~(np.isnan(lefts) | np.isnan(rights))
    lefts, rights = lefts[both], rights[both]
    if len(lefts) == 0:
        return PairedDifferences(np.empty(0), Degenerate.NOTHING_SCORED)
    values = rights - lefts
    scale = float(max(np.abs(lefts).max(), np.abs(rights).max()))
    if len(values) == 1:
        return PairedDifferences(values, Degenerate.ONE_QUESTION)
    return PairedDifferences(values, Degenerate.ALL_EQUAL if all_equal(values, scale) else None)


def paired_t(a: ArrayLike, b: ArrayLike) -> PairedT:
    """Paired t test of b against a over question means (Student, Biometrika 6, 1908), as `scipy.stats.ttest_rel`.

    `p` and `t` are None where the differences do not vary, also where they are all the same and not 0: with no spread
    there is nothing to measure the difference by. Raises ValueError for different numbers of questions.
    """
    return _t(paired_differences(a, b))


def paired_interval(a: ArrayLike, b: ArrayLike, *, level: float = 0.95) -> Interval | Degenerate:
    """The interval of the mean difference, clustered by question: mean -/+ t(questions - 1) x sd / sqrt(questions).

    Differences that are all equal give an interval of no width. Raises ValueError as `paired_t`, and for the level.
    """
    check_level(level)
    return _interval(paired_differences(a, b), level)


def paired_permutation(a: ArrayLike, b: ArrayLike, *, resamples: int = RESAMPLES, seed: int) -> PairedPermutation:
    """Sign-flip test of b against a over question means: exact up to 2^n <= resamples, else seeded Monte Carlo.

    Differences that are all 0 have p 1 and are named ALL_EQUAL. Neither the order of the questions nor which side comes
    first changes p. Raises ValueError as `paired_t`, and for no resamples. Sources: `core.measure.permutation`.
    """
    return paired_family({0: (a, b)}, resamples=resamples, seed=seed)[0].permutation


def paired_family(
    pairs: Mapping[Key, tuple[ArrayLike, ArrayLike]], *, resamples: int = RESAMPLES, level: float = 0.95, seed: int
) -> dict[Key, PairedComparison]:
    """Every pair of `pairs` (key -> a[question, run], b[question, run]) compared, adjusted by Holm over all of them.

    A family is whatever is decided together, such as all pairs of suites under all metrics. The permutations share
    one sign matrix; each result but `p_adjusted` is what the pair has on its own under the same seed.
    Raises ValueError as `paired_t` and `paired_permutation`, and for the level.
    """
    check_level(level)
    differences = {key: paired_differences(*pair) for key, pair in pairs.items()}
    permutations = _permutations(differences, resamples, seed)
    adjusted = holm([found.p for found in permutations.values()])
    return {
        key: PairedComparison(
            questions=len(found.values),
            difference=found.mean,
            sd=found.sd,
            interval=_interval(found, level),
            t=_t(found),
            permutation=permutations[key],
            p_adjusted=p,
            minimum_detectable_effect=_detectable(found),
        )
        for (key, found), p in zip(differences.items(), adjusted, strict=True)
    }


def _permutations(
    differences: Mapping[Key, PairedDifferences], resamples: int, seed: int
) -> dict[Key, PairedPermutation]:
    testable = {key: found for key, found in differences.items() if len(found.values) > 1}
    flips = sign_flips([found.values for found in testable.values()], resamples=resamples, seed=seed)
    flipped = dict(zip(testable, flips, strict=True))
    results = {}
    for key, found in differences.items():
        test = flipped.get(key)
        untestable = found.degenerate if test is None or not np.any(found.values) else None
        results[key] = PairedPermutation(
            difference=found.mean,
            p=None if test is None else test.p,
            exact=test is not None and test.exact,
            degenerate=untestable,
        )
    return results


def _t(found: PairedDifferences) -> PairedT:
    df = len(found.values) - 1 if len(found.values) > 1 else None
    if found.degenerate is not None or df is None or found.error is None or found.mean is None:
        return PairedT(found.mean, None, None, df, found.degenerate)
    t = found.mean / found.error
    return PairedT(found.mean, t, float(2 * stdtr(df, -abs(t))), df)


def _interval(found: PairedDifferences, level: float) -> Interval | Degenerate:
    if found.mean is None or found.error is None:
        return found.degenerate or Degenerate.NOTHING_SCORED
    reach = float(stdtrit(len(found.values) - 1, 0.5 + level / 2)) * found.error
    return Interval(low=found.mean - reach, high=found.mean + reach, level=level)


def _detectable(found: PairedDifferences) -> float | Degenerate:
    if found.sd is None:
        return found.degenerate or Degenerate.NOTHING_SCORED
    return minimum_detectable_effect(found.sd, len(found.values))


def _sd(values: Floats) -> float:
    centre = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((values - centre) ** 2) / (len(values) - 1))
