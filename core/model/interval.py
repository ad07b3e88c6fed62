"""A confidence interval, shared by estimates of one suite and by comparisons of two."""

from __future__ import annotations

from core.model.frozen import Frozen


class Interval(Frozen):
    """A confidence interval."""

    low: float
    high: float
    level: float = 0.95
