"""What a number of questions can show: power, the smallest effect it finds, and how many questions an effect needs.

For a two-sided one-sample or paired t test over question means: an effect of size delta with standard deviation sd over
n questions makes t noncentral with n - 1 degrees of freedom and noncentrality delta / sd x sqrt(n) (Cohen, Statistical
Power Analysis for the Behavioral Sciences, 1988, chapter 2, in its exact form).
"""

from __future__ import annotations

import math

from core.model.degenerate import Degenerate

POWER = 0.8
ALPHA = 0.05
_MOST_QUESTIONS = 10_000_000


def paired_power(effect: float, sd: float, questions: int, *, alpha: float = ALPHA) -> float | Degenerate:
    """The chance that the paired t test finds a true difference `effect`; equal to statsmodels' TTestPower.

    `sd` is that of the differences over questions. Raises ValueError for an alpha outside (0, 1) or a negative sd.
    """
    _check(sd, alpha)
    found = _undefined(sd, questions)
    return found if found is not None else _power(abs(effect) / sd, questions, alpha)


def minimum_detectable_effect(
    sd: float, questions: int, *, power: float = POWER, alpha: float = ALPHA
) -> float | Degenerate:
    """The smallest true difference that `questions` find with chance `power`, in the unit of `sd`.

    `sd` is the standard deviation (ddof 1) of the differences over questions. ValueError as in `paired_power`, and for
    a power that is not between alpha and 1.
    """
    _check(sd, alpha, power)
    found = _undefined(sd, questions)
    if found is not None:
        return found
    from scipy.optimize import brentq

    high = 1.0
    while _power(high, questions, alpha) < power:
        high *= 2
    return sd * float(brentq(lambda size: _power(size, questions, alpha) - power, 0.0, high, xtol=1e-14))


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


def _power(size: float, questions: int, alpha: float) -> float:
    from scipy import stats

    df = questions - 1
    shift = size * math.sqrt(questions)
    critical = stats.t.isf(alpha / 2, df)
    return float(stats.nct.sf(critical, df, shift) + stats.nct.cdf(-critical, df, shift))


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
