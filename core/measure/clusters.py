"""Scores by question, as arrays: axis 0 questions, axis 1 runs, NaN where an answer is unscored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.measure.statistics import LARGEST
from core.model.degenerate import Degenerate

Floats = NDArray[np.float64]

_ROUNDING = 1e-13
"""Values that differ by less than this share of the largest differ only in how they were rounded."""
_SMALLEST = 1e-100
"""Differences below it vanish when they are squared and cubed."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """The scored questions: for each, the sum of its scores and how many there are (at least one)."""

    sums: Floats
    counts: Floats

    @property
    def means(self) -> Floats:
        """The mean of each question over its scored runs."""
        return self.sums / self.counts

    @property
    def weights(self) -> Floats:
        """How much each question's mean counts in the mean over all scores: 1 each where all have equally many."""
        return np.ones_like(self.counts) if np.ptp(self.counts) == 0 else self.counts


def as_matrix(scores: ArrayLike) -> Floats:
    """`scores` with one row for each question; a vector is one run. ValueError for more than two axes."""
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim > 2:
        raise ValueError(f"scores have {array.ndim} axes; expected questions x runs")
    return array.reshape(-1, 1) if array.ndim < 2 else array


def is_finite(array: Floats) -> bool:
    """Whether every score that is there can be calculated with."""
    return bool(np.all(np.isnan(array) | (np.abs(array) <= LARGEST)))


def all_equal(values: Floats, scale: float | None = None) -> bool:
    """Whether `values` (at least one) differ by no more than rounding, measured against `scale`: their largest."""
    largest = float(np.abs(values).max()) if scale is None else scale
    return float(np.ptp(values)) <= max(_ROUNDING * largest, _SMALLEST)


def question_means(scores: ArrayLike) -> Floats:
    """The mean over the scored runs of each question, NaN for a question without any."""
    matrix = as_matrix(scores)
    scored = ~np.isnan(matrix)
    counts = scored.sum(axis=1)
    sums = np.where(scored, matrix, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def clusters_of(scores: ArrayLike) -> Clusters | Degenerate:
    """The questions that have a score, at least two of them, or why there are none to speak of."""
    matrix = as_matrix(scores)
    if not is_finite(matrix):
        return Degenerate.NOT_FINITE
    scored = ~np.isnan(matrix)
    kept = scored.any(axis=1)
    if kept.sum() < 2:
        return Degenerate.ONE_QUESTION if kept.any() else Degenerate.NOTHING_SCORED
    sums = np.where(scored, matrix, 0.0)[kept].sum(axis=1)
    return Clusters(sums, scored[kept].sum(axis=1).astype(np.float64))
