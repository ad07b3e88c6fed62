"""Finding a pattern in a text, every step counted."""

from __future__ import annotations

from core.avap.execution.limits import Meter
from core.avap.execution.patterns import Fork, Jump, Look, Pattern, Stand, Step, Take, compiled


def first_match(pattern: str, text: str, meter: Meter) -> str | None:
    """The first whole match of the regular expression `pattern` in `text`, or None.

    Raises Failure for a pattern that cannot be used and LimitReached when the search takes too many steps.
    """
    program = compiled(pattern)
    meter.work(len(program))
    tried: set[int] = set()
    for start in range(len(text) + 1):
        end = _match(program, text, start, tried, meter)
        if end is not None:
            return text[start:end]
    return None


def _match(program: Pattern, text: str, start: int, tried: set[int], meter: Meter) -> int | None:
    """Where the match that begins at `start` ends; `tried` keeps what is known to lead nowhere."""
    waiting = [(0, start)]
    width = len(text) + 1
    while waiting:
        index, place = waiting.pop()
        if index == len(program):
            return place
        if index * width + place in tried:
            continue
        tried.add(index * width + place)
        meter.work(1)
        waiting += _followers(program[index], index, place, text, meter)
    return None


def _followers(step: Step, index: int, place: int, text: str, meter: Meter) -> list[tuple[int, int]]:
    """What to try after `step`, the preferred one last."""
    if isinstance(step, Take):
        return [(index + 1, place + 1)] if place < len(text) and step.test(text[place]) else []
    if isinstance(step, Fork):
        return [(index + step.second, place), (index + step.first, place)]
    if isinstance(step, Jump):
        return [(index + step.offset, place)]
    if isinstance(step, Stand):
        return [(index + 1, place)] if step.holds(text, place) else []
    assert isinstance(step, Look)
    found = _match(step.pattern, text, place, set(), meter) is not None
    return [(index + 1, place)] if found is step.wanted else []
