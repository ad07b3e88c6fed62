"""Whether the same question gets the same outcome when it is asked again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.measure.clusters import Floats, as_matrix, is_finite
from core.model.degenerate import Degenerate


@dataclass(frozen=True)
class FlipRate:
    """How often outcomes change between runs. Both shares are None where `degenerate` says why."""

    rate: float | None
    """Questions whose outcome is not the same in all their runs, over questions with at least two."""
    disagreement: float | None
    """Chance that two runs of one question differ: the mean over questions of the differing share of its pairs."""
    questions: int
    """With at least two scored runs."""
    degenerate: Degenerate | None = None


def flip_rate(outcomes: ArrayLike) -> FlipRate:
    """Flips of `outcomes[question, run]`, compared for equality: VALID or not, a band, a rounded score.

    NaN is no outcome. Disagreement is 1 minus the observed agreement of Fleiss (Psychol. Bull. 76, 1971, equation 2,
    averaged over questions), so that it does not grow with the number of runs as the rate does.
    """
    matrix = as_matrix(outcomes)
    if not is_finite(matrix):
        return FlipRate(None, None, 0, Degenerate.NOT_FINITE)
    scored = [row[~np.isnan(row)] for row in matrix]
    repeated = [row for row in scored if len(row) > 1]
    if not repeated:
        return FlipRate(None, None, 0, Degenerate.ONE_RUN if any(map(len, scored)) else Degenerate.NOTHING_SCORED)
    differing = [_disagreement(row) for row in repeated]
    return FlipRate(
        rate=sum(share > 0 for share in differing) / len(repeated),
        disagreement=float(np.mean(differing)),
        questions=len(repeated),
    )


def _disagreement(outcomes: Floats) -> float:
    runs = len(outcomes)
    agreeing = sum(count * (count - 1) for count in Counter(outcomes.tolist()).values())
    return 1.0 - agreeing / (runs * (runs - 1))
