"""Errors of means over questions x runs, where the runs of one question are anything but independent.

Treating 50 x 5 answers as 250 independent ones gives intervals that cover 61% where 95% is claimed; clustering by
question restores it. Resampling and paired comparisons build on the same clusters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scipy.special import stdtrit

from core.model.degenerate import Degenerate
from core.model.interval import Interval

ByQuestion = Iterable[Iterable[float | None] | float | None]
"""Scores by question: `scores[q][r]`, an array or rows of unequal length, with NaN or None for unscored; a question
without runs of its own is one run."""

LARGEST = 1e100
"""Scores beyond it overflow when they are squared and summed: as good as infinite."""


@dataclass(frozen=True)
class ClusteredMean:
    """A mean with its error clustered by question. What is undefined is None, and `degenerate` says why."""

    mean: float | None
    """Over all scores, so that a question counts as often as it was scored."""
    error: float | None
    interval: Interval | None
    """Mean -/+ t(df) times the error."""
    df: int | None
    """Questions - 1."""
    questions: int
    """With at least one score."""
    degenerate: Degenerate | None = None
    """ALL_EQUAL goes with an error of 0 and an interval of no width."""


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean, exactly rounded whatever the order; None of nothing."""
    return math.fsum(values) / len(values) if values else None


def standard_deviation(values: Sequence[float]) -> float | None:
    """Sample standard deviation (ddof 1); None below two values."""
    if len(values) < 2:
        return None
    centre = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def clustered_mean(scores: ByQuestion, level: float = 0.95) -> ClusteredMean:
    """The mean over all scores with an error that is robust to any dependence within a question.

    With G clusters and N scores the error is sqrt(G / (G - 1) * sum over g of (sum over i in g of (x_gi - mean))^2) /
    N: the sandwich estimator of Liang and Zeger (Biometrika 73, 1986) for a mean, with the small-sample correction of
    CR1 (Cameron and Miller, J. Human Resources 50, 2015, section VI), G / (G - 1) * (N - 1) / (N - K), whose second
    factor is 1 for the one parameter K of a mean. It is what statsmodels' `OLS(y, ones).fit(cov_type="cluster")` gives.
    The interval has G - 1 degrees of freedom, those of the questions and not of the answers. For equal cluster sizes
    the error is the standard deviation (ddof 1) of the question means over sqrt(G). NaN is unscored, and questions
    without scores do not count; their order changes no bit. Raises ValueError for a level outside (0, 1).
    """
    check_level(level)
    clusters = _scored(scores)
    values = [value for cluster in clusters for value in cluster]
    groups = len(clusters)
    if any(abs(value) > LARGEST for value in values):
        return ClusteredMean(None, None, None, None, groups, Degenerate.NOT_FINITE)
    centre = mean(values)
    if centre is None or groups < 2:
        reason = Degenerate.ONE_QUESTION if groups else Degenerate.NOTHING_SCORED
        return ClusteredMean(centre, None, None, None, groups, reason)
    if min(values) == max(values):
        certain = Interval(low=values[0], high=values[0], level=level)
        return ClusteredMean(values[0], 0.0, certain, groups - 1, groups, Degenerate.ALL_EQUAL)
    error = _error(clusters, centre)
    reach = float(stdtrit(groups - 1, 0.5 + level / 2)) * error
    interval = Interval(low=centre - reach, high=centre + reach, level=level)
    return ClusteredMean(centre, error, interval, groups - 1, groups)


def cluster_standard_error(scores: ByQuestion) -> float | None:
    """The error of `clustered_mean`: None below two questions and for infinite scores, which it tells apart."""
    return clustered_mean(scores).error


def clustered_interval(scores: ByQuestion, level: float = 0.95) -> Interval | None:
    """The interval of `clustered_mean`: None below two questions and for infinite scores, which it tells apart.

    Raises ValueError for a level outside (0, 1).
    """
    return clustered_mean(scores, level).interval


def check_level(level: float) -> None:
    """Raises ValueError for a confidence level that is not a probability strictly between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}; it must lie between 0 and 1")


def _error(clusters: Sequence[Sequence[float]], centre: float) -> float:
    count = sum(map(len, clusters))
    meat = math.fsum(math.fsum(value - centre for value in cluster) ** 2 for cluster in clusters)
    return math.sqrt(len(clusters) / (len(clusters) - 1) * meat) / count


def _scored(scores: ByQuestion) -> list[list[float]]:
    rows = (row if isinstance(row, Iterable) else (row,) for row in scores)
    clusters = [[float(value) for value in row if value is not None and not math.isnan(value)] for row in rows]
    return [cluster for cluster in clusters if cluster]
