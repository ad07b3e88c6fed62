"""Many tests at once: what is left of a p value when it had company."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """p values adjusted so that the chance of any false rejection stays at the level, in the order given.

    Holm, A simple sequentially rejective multiple test procedure (Scand. J. Stat. 6, 1979): the i-th smallest of m is
    multiplied by m - i + 1, no adjusted value is smaller than one before it, and none exceeds 1. Valid under any
    dependence. None stays None and is no part of the family. Raises ValueError for a p outside [0, 1].
    """
    ranked = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(ranked):
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"p value {place} is {p}; it must lie between 0 and 1")
        highest = max(highest, min(1.0, (len(ranked) - rank) * p))
        adjusted[place] = highest
    return tuple(adjusted)
