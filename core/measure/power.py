"""What a number of questions can show: power, the smallest effect it finds, and how many questions an effect needs.

For a two-sided one-sample or paired t test over question means: an effect of size delta with standard deviation sd over
n questions makes t noncentral with n - 1 degrees of freedom and noncentrality delta / sd x sqrt(n) (Cohen, Statistical
Power Analysis for the Behavioral Sciences, 1988, chapter 2, in its exact form).
"""

from __future__ import annotations

import math
from functools import lru_cache

from scipy.special import nctdtr, stdtrit

from core.model.degenerate import Degenerate

POWER = 0.8
ALPHA = 0.05
_MOST_QUESTIONS = 10_000_000
_LARGEST_SHIFT = 1e9
"""Beyond it scipy's noncentral t is NaN everywhere; here every effect is found long before."""


def paired_power(effect: float, sd: float, questions: int, *, alpha: float = ALPHA) -> float | Degenerate:
    """The chance that the paired t test finds a true difference `effect`; equal to statsmodels' TTestPower.

    `sd` is that of the differences over questions. Raises ValueError for an alpha outside (0, 1) or a negative sd.
    """
    _check(sd, alpha)
    reason = _undefined(sd, questions)
    return _power(abs(effect) / sd, questions, alpha) if reason is None else reason


def minimum_detectable_effect(
    sd: float, questions: int, *, power: float = POWER, alpha: float = ALPHA
) -> float | Degenerate:
    """The smallest true difference that `questions` find with chance `power`, in the unit of `sd`.

    `sd` is the standard deviation (ddof 1) of the differences over questions. ValueError as in `paired_power`, and for
    a power that is not between alpha and 1.
    """
    _check(sd, alpha, power)
    reason = _undefined(sd, questions)
    if reason is not None:
        return reason
    size = _smallest_size(questions, power, alpha)
    return Degenerate.OUT_OF_REACH if size is None else sd * size


def questions_needed(effect: float, sd: float, *, power: float = POWER, alpha: float = ALPHA) -> int | Degenerate:
    """The fewest questions that find a true difference `effect` with chance `power`. ValueError as above.

    No effect is OUT_OF_REACH, and so is one that would need more than ten million questions.
    """
    _check(sd, alpha, power)
    if sd == 0.0:
        return Degenerate.ALL_EQUAL
    size = abs(effect) / sd
    if _power(size, _MOST_QUESTIONS, alpha) < power:
        return Degenerate.OUT_OF_REACH
    few, enough = 1, 2
    while _power(size, enough, alpha) < power:
        few, enough = enough, enough * 2
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if _power(size, middle, alpha) >= power else (middle, enough)
    return enough


@lru_cache(maxsize=256)
def _smallest_size(questions: int, power: float, alpha: float) -> float | None:
    """In standard deviations; None when no effect that can be calculated with is found so often."""
    from scipy.optimize import brentq

    highest = _LARGEST_SHIFT / math.sqrt(questions)
    if _power(highest, questions, alpha) < power:
        return None
    high = 1.0
    while _power(high, questions, alpha) < power:
        high *= 2
    return float(brentq(lambda size: _power(size, questions, alpha) - power, 0.0, high, xtol=1e-14))


def _power(size: float, questions: int, alpha: float) -> float:
    df = questions - 1
    shift = min(size * math.sqrt(questions), _LARGEST_SHIFT)
    critical = -float(stdtrit(df, alpha / 2))
    return 1.0 - _below(critical, df, shift) + _below(-critical, df, shift)


def _below(t: float, df: int, shift: float) -> float:
    """The chance of less than `t`; scipy says NaN for the far tail below the shift, where there is none."""
    found = float(nctdtr(df, shift, t))
    return 0.0 if math.isnan(found) and t < shift else found


def _undefined(sd: float, questions: int) -> Degenerate | None:
    if questions < 2:
        return Degenerate.ONE_QUESTION if questions == 1 else Degenerate.NOTHING_SCORED
    return Degenerate.ALL_EQUAL if sd == 0.0 else None


def _check(sd: float, alpha: float, power: float | None = None) -> None:
    if not (sd >= 0.0 and math.isfinite(sd)):
        raise ValueError(f"sd is {sd}; a standard deviation is at least 0")
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha is {alpha}; it must lie between 0 and 1")
    if power is not None and not alpha < power < 1.0:
        raise ValueError(f"power is {power}; it must lie between alpha ({alpha}) and 1")
