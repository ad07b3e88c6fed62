"""Fractions of counted things: their intervals, the interval of a difference of two, and the test of a change."""

from __future__ import annotations

import math

from scipy.special import bdtr, ndtri

from core.measure.statistics import check_level


def wilson(successes: int, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """The score interval of a fraction (Wilson, J. Am. Stat. Assoc. 22, 1927): (low, high), always within 0 and 1.

    Nothing counted (n = 0) leaves everything possible: (0, 1). Raises ValueError for counts that cannot be, or a level
    outside (0, 1).
    """
    _check_counts(successes, n)
    z = _quantile(level)
    if n == 0:
        return 0.0, 1.0
    share = successes / n
    stretch = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / stretch
    reach = z / stretch * math.sqrt((share * (1 - share) + z * z / (4 * n)) / n)
    low = 0.0 if successes == 0 else max(0.0, centre - reach)
    return low, 1.0 if successes == n else min(1.0, centre + reach)


def newcombe(a_successes: int, a_n: int, b_successes: int, b_n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Interval of b's fraction minus a's, for two independent samples: (low, high).

    Newcombe, Interval estimation for the difference between independent proportions (Stat. Med. 17, 1998, 873-890),
    method 10: the Wilson limits of both, their distances added in squares. (-1, 1) when either counted nothing.
    For the same questions on both sides use `newcombe_paired`. Raises ValueError as `wilson`.
    """
    return _square_and_add((a_successes, a_n), (b_successes, b_n), 0.0, level)


def newcombe_paired(both: int, a_only: int, b_only: int, neither: int, *, level: float = 0.95) -> tuple[float, float]:
    """Interval of b's fraction minus a's when both answered the same questions: (low, high).

    The counts are questions where both, only one side, or neither succeeded. Newcombe, Improved confidence intervals
    for the difference between binomial proportions based on paired data (Stat. Med. 17, 1998, 2635-2650), method 10:
    as for independent samples, less what the correlation phi takes away, which is lowered by a continuity correction
    when positive. (-1, 1) when nothing was counted. Raises ValueError for negative counts, or the level.
    """
    if min(both, a_only, b_only, neither) < 0:
        raise ValueError(f"counts {both}, {a_only}, {b_only}, {neither}: none can be negative")
    n = both + a_only + b_only + neither
    phi = _phi(both, a_only, b_only, neither)
    return _square_and_add((both + a_only, n), (both + b_only, n), phi, level)


def mcnemar_exact(a_only: int, b_only: int) -> float:
    """Two-sided exact p that a change between two systems is as likely for the better as for the worse.

    The counts are questions where only one side succeeded; those where both did the same say nothing (McNemar,
    Psychometrika 12, 1947, with the binomial in place of its approximation). 1 when none changed. Raises ValueError for
    negative or broken counts.
    """
    if min(a_only, b_only) < 0 or a_only % 1 or b_only % 1:
        raise ValueError(f"counts {a_only} and {b_only}: they must be whole, and none negative")
    n = a_only + b_only
    return 1.0 if n == 0 else min(1.0, 2 * float(bdtr(min(a_only, b_only), n, 0.5)))


def _square_and_add(a: tuple[int, int], b: tuple[int, int], phi: float, level: float) -> tuple[float, float]:
    """b's fraction minus a's, between the roots of the squared distances to the opposite Wilson limits."""
    (a_low, a_high), (b_low, b_high) = wilson(*a, level=level), wilson(*b, level=level)
    if 0 in (a[1], b[1]):
        return -1.0, 1.0
    a_share, b_share = a[0] / a[1], b[0] / b[1]
    difference = b_share - a_share
    down = _joined(b_share - b_low, a_high - a_share, phi)
    up = _joined(b_high - b_share, a_share - a_low, phi)
    return max(-1.0, difference - down), min(1.0, difference + up)


def _joined(one: float, other: float, phi: float) -> float:
    return math.sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))


def _phi(both: int, a_only: int, b_only: int, neither: int) -> float:
    """Correlation of the two outcomes, 0 where one of them never varies."""
    n = both + a_only + b_only + neither
    margins = (both + a_only) * (b_only + neither) * (both + b_only) * (a_only + neither)
    if margins == 0:
        return 0.0
    cross = both * neither - a_only * b_only
    if cross > 0:
        return max(cross - n / 2, 0.0) / math.sqrt(margins)
    return cross / math.sqrt(margins)


def _quantile(level: float) -> float:
    check_level(level)
    return float(ndtri(0.5 + level / 2))


def _check_counts(successes: int, n: int) -> None:
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n}: a count of successes lies between 0 and the number counted")
