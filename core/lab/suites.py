"""From one configuration to its suites: explicit overrides and the points of a sweep, over a common part."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from core.lab.source import Origin, Origins, Place
from core.model.frozen import digest

DEFAULT_SUITE = "main"
LONGEST_NAME = 100


@dataclass(frozen=True)
class Override:
    """One suite: its name, what it changes in the common part, and where each change was written."""

    name: str
    values: Mapping[str, Any]
    places: Mapping[Place, Origin]


def overrides(data: Mapping[str, Any], origins: Origins) -> tuple[Override, ...]:
    """The suites that `suites:` and `sweep:` of `data` describe: every suite at every grid point, in the order written.

    A swept value is laid over the suite's own. Raises ConfigError for malformed entries and for names used twice.
    """
    explicit = tuple(_explicit(data.get("suites"), origins)) or (None,)
    points = tuple(_points(data.get("sweep"), origins)) or (None,)
    made = tuple(_at(suite, point) for suite in explicit for point in points)
    for name, times in Counter(suite.name for suite in made).items():
        if times > 1:
            raise origins.fault(f"two suites are called {name!r}", ("suites",), remedy="give each suite its own name")
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
    for path, values in sweep.items():
        if not isinstance(values, list) or not values:
            raise origins.fault("must be a list of values", ("sweep", path), remedy=f"write `{path}: [...]`")
    for point in itertools.product(*(range(len(values)) for values in sweep.values())):
        yield _point({path: sweep[path][at] for path, at in zip(sweep, point, strict=True)}, origins)


def _point(chosen: Mapping[str, Any], origins: Origins) -> Override:
    values: dict[str, Any] = {}
    places: dict[Place, Origin] = {}
    for path, value in chosen.items():
        steps = path.split(".")
        nested = value
        for step in reversed(steps):
            nested = {step: nested}
        values = merged(values, nested)
        places[tuple(steps)] = origins.of(("sweep", path))
    return Override("_".join(itertools.starmap(_label, chosen.items()))[:LONGEST_NAME], values, places)


def _label(path: str, value: object) -> str:
    """A readable, path-safe word for one swept value: text by itself, anything else with its key."""
    if isinstance(value, Mapping):
        value = value.get("name") or digest(value)[:8]
    word = re.sub(r"[^A-Za-z0-9._+-]+", "-", str(value)).strip("-.") or "empty"
    return word if isinstance(value, str) and word[0].isalnum() else f"{path.rpartition('.')[2]}-{word}"


def _at(suite: Override | None, point: Override | None) -> Override:
    if suite is None or point is None:
        return suite or point or Override(DEFAULT_SUITE, {}, {})
    values = merged(suite.values, point.values)
    return Override(f"{suite.name}_{point.name}", values, {**suite.places, **point.places})


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
