"""Errors of means over questions x runs, where the runs of one question are anything but independent.

Treating 50 x 5 answers as 250 independent ones gives intervals that cover 61% where 95% is claimed; clustering by
question restores it. Resampling and paired comparisons build on the same clusters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from scipy.special import stdtrit

from core.model.evaluation import Interval

Clusters = Iterable[Iterable[float]]
"""Scores by question: `scores[q][r]`, a matrix or, where scores are missing, rows of unequal length."""


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean, exactly rounded whatever the order; None of nothing."""
    return math.fsum(values) / len(values) if values else None


def standard_deviation(values: Sequence[float]) -> float | None:
    """Sample standard deviation (ddof 1); None below two values."""
    if len(values) < 2:
        return None
    centre = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def cluster_standard_error(scores: Clusters) -> float | None:
    """Standard error of the mean over all scores, robust to any dependence within a question. None below two questions.

    With G clusters and N scores: sqrt(G / (G - 1) * sum over g of (sum over i in g of (x_gi - mean))^2) / N, the
    sandwich estimator of Liang and Zeger (Biometrika 73, 1986) for a mean, with the small-sample factor G / (G - 1) of
    Cameron and Miller (J. Human Resources 50, 2015). For equal cluster sizes it is the standard deviation (ddof 1) of
    the question means over sqrt(G). Questions without scores do not count. Raises ValueError for NaN and infinities.
    """
    clusters = _clusters(scores)
    if len(clusters) < 2:
        return None
    count = sum(map(len, clusters))
    centre = math.fsum(value for cluster in clusters for value in cluster) / count
    meat = math.fsum(math.fsum(value - centre for value in cluster) ** 2 for cluster in clusters)
    groups = len(clusters)
    return math.sqrt(groups / (groups - 1) * meat) / count


def clustered_interval(scores: Clusters, level: float = 0.95) -> Interval | None:
    """Mean -/+ t(G - 1) times the clustered standard error. None below two questions; ValueError as there.

    The degrees of freedom are those of the G questions (Cameron and Miller 2015, section VI), not of the answers.
    """
    check_level(level)
    clusters = _clusters(scores)
    error = cluster_standard_error(clusters)
    centre = mean([value for cluster in clusters for value in cluster])
    if error is None or centre is None:
        return None
    reach = float(stdtrit(len(clusters) - 1, 0.5 + level / 2)) * error
    return Interval(low=centre - reach, high=centre + reach, level=level)


def check_level(level: float) -> None:
    """Raises ValueError for a confidence level that is not a probability strictly between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}; it must lie between 0 and 1")


def _clusters(scores: Clusters) -> list[list[float]]:
    clusters = [[float(value) for value in cluster] for cluster in scores]
    if any(not math.isfinite(value) for cluster in clusters for value in cluster):
        raise ValueError("a score is not a finite number; leave unscored answers out")
    return [cluster for cluster in clusters if cluster]
