"""Where the marks of a plot go. Templates draw them as SVG whose coordinates are percentages: such a plot takes the
width and the colours of the page it stands on, a phone's and a dark one's included, and no library decides its bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from core.model.comparison import VALIDITY, Comparison, MetricComparison

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
MOST_TICKS = 6


@dataclass(frozen=True)
class Scale:
    """A horizontal axis from `low` to `high`."""

    low: float
    high: float
    step: float
    """Between two ticks."""

    def at(self, value: float) -> str:
        """The place of `value` as `12.34%`; what lies beyond an end is drawn at that end."""
        share = (value - self.low) / (self.high - self.low)
        return f"{100 * min(max(share, 0.0), 1.0):.2f}%"

    def between(self, start: float, end: float) -> str:
        """The width from `start` to `end`, as `12.34%`."""
        return f"{float(self.at(end)[:-1]) - float(self.at(start)[:-1]):.2f}%"

    @property
    def ticks(self) -> tuple[float, ...]:
        """The round values on the axis."""
        first, last = math.ceil(self.low / self.step - 1e-9), math.floor(self.high / self.step + 1e-9)
        return tuple(n * self.step for n in range(first, last + 1))

    def label(self, value: float) -> str:
        """`value` with as many digits as tell two ticks apart."""
        digits = max(0, -math.floor(math.log10(self.step) + 1e-9))
        if round(self.step, digits) != self.step:
            digits += 1
        return f"{value + 0.0:.{digits}f}".replace("-", "−")


def scale(values: Iterable[float | None], *, including: Iterable[float] = ()) -> Scale:
    """The axis, with round ends, that shows all of `values` and `including`. Without either it is that of a share."""
    known = [value for value in (*values, *including) if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if low == high:
        low, high = low - 0.05, high + 0.05
    step = _step((high - low) / (MOST_TICKS - 1))
    return Scale(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, step)


@dataclass(frozen=True)
class DifferenceScales:
    """The axes of a comparison's plots."""

    mean: Scale
    validity: Scale
    """Of valid code, whose differences are shares of questions and much larger."""

    def of(self, metric: str) -> Scale:
        """The axis that `metric` is drawn on."""
        return self.validity if metric == VALIDITY else self.mean


def difference_scales(comparison: Comparison | None) -> DifferenceScales:
    """The axes that show every difference of `comparison` with its interval, and zero."""
    found = [metric for pair in comparison.pairs for metric in pair.metrics] if comparison else []
    validity = [_reach(metric) for metric in found if metric.metric == VALIDITY]
    means = [_reach(metric) for metric in found if metric.metric != VALIDITY]
    return DifferenceScales(*(scale(chain.from_iterable(each), including=(0.0,)) for each in (means, validity)))


def _reach(found: MetricComparison) -> tuple[float | None, ...]:
    return (found.difference, *((found.interval.low, found.interval.high) if found.interval else ()))


def _step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in STEPS if factor * power >= least * (1 - 1e-9))
