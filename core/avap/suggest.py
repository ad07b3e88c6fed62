"""Did you mean: the nearest known word, by edits, within a bound that keeps nonsense unanswered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

MAX_CANDIDATES: Final = 300
_LONGEST: Final = 48


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate with the fewest edits from `name`, capitals aside; None when all are too far.

    A name may be off by about a third of its length, at most three edits. Equal candidates: the first in order.
    A candidate at one edit ends the search.
    Looks at MAX_CANDIDATES candidates at most, so that a program of thousands of functions stays cheap.
    """
    if len(name) > _LONGEST:
        return None
    bound = min(3, (len(name) + 1) // 3)
    folded = name.casefold()
    best: tuple[int, str] | None = None
    for count, candidate in enumerate(candidates):
        if count >= MAX_CANDIDATES:
            break
        if abs(len(candidate) - len(name)) > bound:
            continue
        edits = edit_distance(folded, candidate.casefold(), bound)
        if edits <= bound and (best is None or edits < best[0]):
            best = (edits, candidate)
            bound = edits
        if bound <= 1 and best is not None:
            break
    return best[1] if best else None


def edit_distance(left: str, right: str, bound: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours that turn `left` into `right`.

    A distance above `bound` is given as `bound + 1`, and found out early.
    """
    before_last: list[int] = []
    last = list(range(len(right) + 1))
    for row, sign in enumerate(left, 1):
        current = [row]
        for column, other in enumerate(right, 1):
            cost = min(last[column] + 1, current[-1] + 1, last[column - 1] + (sign != other))
            if row > 1 and column > 1 and sign == right[column - 2] and left[row - 2] == other:
                cost = min(cost, before_last[column - 2] + 1)
            current.append(cost)
        if min(current) > bound:
            return bound + 1
        before_last, last = last, current
    return min(last[-1], bound + 1)
