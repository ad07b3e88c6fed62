"""Scores of an old file: their places, their scale, their values. A number that could mean two things means none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.adapters.legacy.places import Finder
from core.model.legacy import FoundScore, LegacyMapping, LegacyMetric, ScaleRead


@dataclass(frozen=True)
class WrittenScore:
    """A score as a file has it: `value` is what was written, `number` what that says; null is written as None."""

    place: str
    value: str | int | float | bool | None
    number: float | None
    is_percent: bool
    """Whether a `%` says so."""


def written_scores(finder: Finder, mapping: LegacyMapping, complaints: list[str]) -> dict[LegacyMetric, WrittenScore]:
    """Every score below `finder`; what is ambiguous or unreadable goes to `complaints`."""
    found = {}
    for metric, names in mapping.metrics.items():
        score = _written(finder, tuple(_names(names, mapping)), metric, complaints)
        if score is not None:
            found[metric] = score
    return found


def scale_of(scores: Iterable[WrittenScore], chosen: ScaleRead | None) -> ScaleRead:
    """What the numbers range over: as chosen, else as all of them together show.

    Nothing above 1 is a share; everything above 1, zeros apart, a percentage; anything else is undecided.
    """
    if chosen is not None:
        return chosen
    numbers = [score.number for score in scores if score.number and not score.is_percent]
    if all(number <= 1 for number in numbers):
        return ScaleRead.SHARE
    return ScaleRead.PERCENT if all(number > 1 for number in numbers) else ScaleRead.UNDECIDED


def read_scores(
    written: Mapping[LegacyMetric, WrittenScore], scale: ScaleRead, complaints: list[str]
) -> dict[LegacyMetric, FoundScore]:
    """`written` on the scale from 0 to 1; what lies outside its range goes to `complaints`."""
    return {metric: _read(metric, score, scale, complaints) for metric, score in written.items()}


def _names(names: Sequence[str], mapping: LegacyMapping) -> Iterator[str]:
    for container in mapping.containers:
        for name in names:
            yield from (f"{container}.{name}.{statistic}" for statistic in mapping.statistics)


def _written(finder: Finder, names: Sequence[str], metric: LegacyMetric, complaints: list[str]) -> WrittenScore | None:
    hits = [(place, value) for place, value in finder.hits(names) if not isinstance(value, dict | list)]
    readings = [(place, value, _number(value)) for place, value in hits]
    for place, value, reading in readings:
        if reading is None:
            complaints.append(f"{place}: {value!r} is no score")
            finder.take(place)
    scores = [WrittenScore(place, value, *reading) for place, value, reading in readings if reading is not None]
    for score in scores:
        finder.take(score.place)
    if len({(score.number, score.is_percent) for score in scores}) > 1:
        shown = ", ".join(f"{score.place} = {score.value}" for score in scores)
        complaints.append(f"{metric.value} stands there with different values, none is taken: {shown}")
        return None
    return scores[0] if scores else None


def _number(value: Any) -> tuple[float, bool] | None:
    """A number and whether it is marked as a percentage; None for what is no number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value), False
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        number = float(text.removesuffix("%").strip())
    except ValueError:
        return None
    return (number, text.endswith("%")) if math.isfinite(number) else None


def _read(metric: LegacyMetric, score: WrittenScore, scale: ScaleRead, complaints: list[str]) -> FoundScore:
    number, is_percent = score.number, score.is_percent or scale is ScaleRead.PERCENT
    if number is None or (scale is ScaleRead.UNDECIDED and number and not score.is_percent):
        return FoundScore(place=score.place, written=score.value, score=None)
    share = number / 100 if is_percent else number
    least = -1.0 if metric in {LegacyMetric.ANSWER_RELEVANCY, LegacyMetric.GLOBAL} else 0.0
    if not least <= share <= 1.0:
        complaints.append(f"{score.place}: {score.value!r} is outside of what {metric.value} can be")
        return FoundScore(place=score.place, written=score.value, score=None)
    return FoundScore(place=score.place, written=score.value, score=share)
