"""Bootstrap over questions: a question is drawn with all its runs, because its runs are anything but independent."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from core.measure.clusters import Floats, all_equal, clusters_of
from core.measure.statistics import check_level
from core.model.degenerate import Degenerate
from core.model.interval import Interval

RESAMPLES = 9999
"""With the observed value it makes 10,000: p values and percentiles are round numbers."""
_CELLS = 4_000_000
"""Question draws held at a time: 32 MB of indices."""
_TOGETHER = 2
"""Intervals calculated at a time: a third would have to wait for the interpreter, and holds its draws meanwhile."""


def bca_interval(
    scores: ArrayLike, *, resamples: int = RESAMPLES, level: float = 0.95, seed: int
) -> Interval | Degenerate:
    """Bias-corrected and accelerated bootstrap interval of the mean over all scores; `scores[question, run]`.

    Efron, Better bootstrap confidence intervals (J. Am. Stat. Assoc. 82, 1987), as `scipy.stats.bootstrap` computes it:
    questions are drawn with replacement, the mean of a draw is the sum of its scores over their number, and the
    acceleration comes from leaving out one question at a time. Where every question has equally many scores this is
    scipy's interval of the question means with `rng=numpy.random.default_rng(seed)`, and as there the order of the
    questions is part of the input. Raises ValueError for a level outside (0, 1) or no resamples.
    """
    [found] = bca_intervals([scores], resamples=resamples, level=level, seeds=[seed])
    return found


def bca_intervals(
    scores: Sequence[ArrayLike], *, resamples: int = RESAMPLES, level: float = 0.95, seeds: Sequence[int]
) -> list[Interval | Degenerate]:
    """`bca_interval` of each of `scores` with the seed in its place; side by side, as numpy lets other threads run."""
    from scipy import stats

    # What is ignored is so in all threads: each of them must not set it for itself.
    with warnings.catch_warnings(), ThreadPoolExecutor(_TOGETHER) as threads:
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        return list(threads.map(partial(_interval, resamples, level), scores, seeds))


def _interval(resamples: int, level: float, scores: ArrayLike, seed: int) -> Interval | Degenerate:
    check_level(level)
    if resamples < 1:
        raise ValueError(f"{resamples} resamples; at least one is needed")
    clusters = clusters_of(scores)
    if isinstance(clusters, Degenerate):
        return clusters
    if all_equal(clusters.means):
        return Degenerate.ALL_EQUAL
    low, high = _bca(clusters.means * clusters.weights, clusters.weights, resamples, level, seed)
    if not (math.isfinite(low) and math.isfinite(high)):
        return Degenerate.ONE_SIDED_RESAMPLES
    return Interval(low=low, high=high, level=level)


def _bca(sums: Floats, weights: Floats, resamples: int, level: float, seed: int) -> tuple[float, float]:
    from scipy import stats

    # Where all questions weigh 1 the same draws of the sums alone give the same bits, in half the time.
    alike = bool(np.all(weights == 1.0))
    found = stats.bootstrap(
        (sums,) if alike else (sums, weights),
        _mean if alike else _ratio,
        n_resamples=resamples,
        batch=max(1, _CELLS // len(sums)),
        vectorized=True,
        paired=not alike,
        confidence_level=level,
        method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(found.low), float(found.high)


def _mean(sums: Floats, axis: int = -1) -> Floats:
    return np.asarray(sums.sum(axis=axis) / sums.shape[axis])


def _ratio(sums: Floats, weights: Floats, axis: int = -1) -> Floats:
    return np.asarray(sums.sum(axis=axis) / weights.sum(axis=axis))
