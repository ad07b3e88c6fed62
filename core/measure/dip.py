"""The dip: how far a sample's distribution is from the nearest one with a single mode.

Hartigan and Hartigan, The dip test of unimodality (Ann. Stat. 13, 1985), section 5: shrink the interval that holds the
mode until the distance there no longer exceeds what the tails outside it already need. Left of it the nearest
distribution is the greatest convex minorant of the empirical one, right of it the least concave majorant.

Everything here counts in steps of the empirical distribution: the value at the i-th smallest of n is i, just before it
i - 1, so that a curve through the points (x[i], i) is one step from the far corner.
"""

from __future__ import annotations

from collections.abc import Sequence


def dip(values: Sequence[float]) -> float:
    """Largest distance to the nearest unimodal distribution, between 1 / (2 n) and 1/4; 0 for no values.

    Equal to R's and Python's diptest without their option to return 0. Time is linear in n after sorting, times the
    few steps that the interval takes to shrink.
    """
    x = sorted(values)
    if len(x) < 4 or x[0] == x[-1]:
        return 1 / (2 * len(x)) if x else 0.0
    low, high, needed = 0, len(x) - 1, 1.0
    while True:
        below = _hull(x, low, high, 1)
        above = _hull(x, low, high, -1)
        distance, left, right = _widest(x, below, above)
        if distance <= needed:
            break
        needed = max(needed, _tail(x, below, low, left), _tail(x, above, right, high))
        if (left, right) == (low, high):
            break
        low, high = left, right
    return needed / (2 * len(x))


def _hull(x: Sequence[float], low: int, high: int, side: int) -> list[int]:
    """Vertices of the curve through the points (x[i], i) between `low` and `high`, both included.

    It is the minorant, which bends to the left, where `side` is 1, and the majorant where it is -1.
    """
    kept = [low]
    for i in range(low + 1, high + 1):
        last, at = kept[-1], x[i]
        while len(kept) > 1:
            before = kept[-2]
            # Positive when the way over the three points bends to the left, negative to the right.
            if ((x[last] - x[before]) * (i - before) - (last - before) * (at - x[before])) * side > 0:
                break
            kept.pop()
            last = before
        kept.append(i)
    return kept


def _widest(x: Sequence[float], below: Sequence[int], above: Sequence[int]) -> tuple[float, int, int]:
    """The largest distance between the hulls, and the interval between the vertices on either side of it."""
    widest, left, right = 0.0, below[0], below[-1]
    place = 0
    for vertex in below:
        while above[place + 1] < vertex:
            place += 1
        distance = _at(x, above, place, vertex) - vertex + 1
        if distance > widest:
            widest, left, right = distance, vertex, above[place + 1]
    place = 0
    for vertex in above:
        while place + 2 < len(below) and below[place + 1] <= vertex:
            place += 1
        distance = vertex - _at(x, below, place, vertex) + 1
        if distance > widest:
            widest, left, right = distance, below[place], vertex
    return widest, left, right


def _at(x: Sequence[float], hull: Sequence[int], place: int, i: int) -> float:
    """Height of the hull at x[i], on the edge that starts at vertex `place`."""
    start, end = hull[place], hull[place + 1]
    width = x[end] - x[start]
    return start + (end - start) * (x[i] - x[start]) / width if width > 0 else float(end)


def _tail(x: Sequence[float], hull: Sequence[int], low: int, high: int) -> float:
    """The largest distance between a hull and the far corner of the points from `low` to `high`."""
    widest = 1.0
    for place in range(len(hull) - 1):
        if low <= hull[place] and hull[place + 1] <= high:
            between = range(hull[place], hull[place + 1] + 1)
            widest = max(widest, *(abs(_at(x, hull, place, i) - i) + 1 for i in between))
    return widest
