"""From one configuration to its suites: explicit overrides and the points of a sweep, over a common part."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from core.lab.experiment import LONGEST_SUITE
from core.lab.source import Origin, Origins, Place
from core.model.frozen import digest

DEFAULT_SUITE = "main"


@dataclass(frozen=True)
class Override:
    """One suite: its name, what it changes in the common part, and where each change was written."""

    name: str
    values: Mapping[str, Any]
    places: Mapping[Place, Origin]


NOTHING = Override("", {}, {})


def overrides(data: Mapping[str, Any], origins: Origins) -> tuple[Override, ...]:
    """The suites that `suites:` and `sweep:` of `data` describe: every suite at every grid point, in the order written.

    A swept value is laid over the suite's own. What is swept names the suites, after the names of those that are
    written out if these are several. Raises ConfigError for malformed entries and for names used twice.
    """
    written = tuple(_explicit(data.get("suites"), origins))
    points = tuple(_points(data.get("sweep"), origins))
    if len(written) == 1 and points:
        written = (replace(written[0], name=""),)
    made = tuple(_at(suite, point) for suite in written or (NOTHING,) for point in points or (NOTHING,))
    # Names are folders, and some file systems take `a` and `A` for one.
    for name, times in Counter(suite.name.casefold() for suite in made).items():
        if times > 1:
            place = "sweep" if points else "suites"
            raise origins.fault(f"two suites are called {name!r}", (place,), remedy="give each suite its own name")
    return made


def merged(under: object, over: object) -> Any:
    """`over` laid on `under`: mappings key by key, anything else replaced. Neither is changed or shared."""
    if isinstance(under, Mapping) and isinstance(over, Mapping):
        both = {**under, **over}
        return {k: merged(under[k], v) if k in under and k in over else deepcopy(v) for k, v in both.items()}
    return deepcopy(over)


def _explicit(suites: object, origins: Origins) -> Iterator[Override]:
    if suites is None:
        return
    if not isinstance(suites, list):
        raise origins.fault(
            "must be a list of suites", ("suites",), remedy="write `suites:` and below it `- name: ...`"
        )
    for index, suite in enumerate(suites):
        place = ("suites", index)
        if not isinstance(suite, dict) or not isinstance(suite.get("name"), str):
            raise origins.fault("every suite is a mapping with a name", place, remedy="add `name: ...`")
        values = {key: value for key, value in suite.items() if key != "name"}
        yield Override(suite["name"], values, origins.moved(place, ()).places)


def _points(sweep: object, origins: Origins) -> Iterator[Override]:
    if sweep is None:
        return
    if not isinstance(sweep, dict) or not sweep:
        raise origins.fault(
            "must map dotted paths to lists of values", ("sweep",), remedy="write `retrieval.k: [4, 8]`"
        )
    axes = tuple(_axes(sweep, ("sweep",), origins))
    for point in itertools.product(*(axis.values for axis in axes)):
        yield _point(tuple(zip(axes, point, strict=True)))


@dataclass(frozen=True)
class _Axis:
    """One thing that is swept: its place in a suite, its values, and where they were written."""

    place: tuple[str, ...]
    values: Sequence[object]
    origin: Origin


def _axes(sweep: Mapping[str, Any], place: Place, origins: Origins) -> Iterator[_Axis]:
    """The lists in `sweep`; their paths may be written with dots, as nested mappings, or both."""
    for path, values in sweep.items():
        here = (*place, path)
        steps = tuple(step for part in here[1:] for step in str(part).split("."))
        if not all(steps) or steps[0] == "name":
            remedy = "write `retrieval.k: [4, 8]`; the values name the suites"
            raise origins.fault("is no part of a suite that can be swept", here, remedy=remedy)
        if isinstance(values, Mapping) and values:
            yield from _axes(values, here, origins)
        elif isinstance(values, list) and values:
            yield _Axis(steps, values, origins.of(here))
        else:
            raise origins.fault("must be a list of values", here, remedy=f"write `{'.'.join(steps)}: [...]`")


def _point(chosen: Sequence[tuple[_Axis, object]]) -> Override:
    values: dict[str, Any] = {}
    for axis, value in chosen:
        nested = value
        for step in reversed(axis.place):
            nested = {step: nested}
        values = merged(values, nested)
    name = "_".join(_label(axis.place[-1], value) for axis, value in chosen)[:LONGEST_SUITE]
    return Override(name, values, {axis.place: axis.origin for axis, _ in chosen})


def _label(key: str, value: object) -> str:
    """A readable, path-safe word for one swept value: text by itself, anything else with its key."""
    if isinstance(value, Mapping):
        value = value.get("name") or digest(value)[:8]
    word = re.sub(r"[^A-Za-z0-9._+-]+", "-", str(value)).strip("-.") or "empty"
    return word if isinstance(value, str) and word[0].isalnum() else f"{key}-{word}"


def _at(suite: Override, point: Override) -> Override:
    name = "_".join(filter(None, (suite.name, point.name))) or DEFAULT_SUITE
    return Override(name, merged(suite.values, point.values), {**suite.places, **point.places})


def pushed_down(data: Mapping[str, Any], origins: Origins, common: Sequence[str]) -> tuple[dict[str, Any], Origins]:
    """`data` with every suite written out in full: the keys `common` moved from the top into each suite."""
    suites: list[dict[str, Any]] = []
    places: dict[Place, Origin] = {}
    for index, override in enumerate(overrides(data, origins)):
        base = {key: data[key] for key in common if key in data}
        suites.append({"name": override.name, **merged(base, override.values)})
        for key in base:
            places.update(origins.moved((key,), ("suites", index, key)).places)
        places.update({("suites", index, *place): at for place, at in override.places.items()})
    top = {key: value for key, value in data.items() if key not in common and key not in {"suites", "sweep"}}
    return {**top, "suites": suites}, Origins(origins.root, {**origins.places, **places})
