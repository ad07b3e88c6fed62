"""Reading YAML without forgetting where each value was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from core.errors import ConfigError

Place = tuple[str | int, ...]
"""A path into nested mappings and lists."""


def dotted(place: Place) -> str:
    """`place` as people write it: `suites.0.retrieval.mode`."""
    return ".".join(str(step) for step in place)


@dataclass(frozen=True)
class Origin:
    """Where a value was written. Line 0 is unknown, as for the command line."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Origins:
    """The origin of every value of a configuration."""

    root: Origin
    places: Mapping[Place, Origin] = field(default_factory=dict)

    def of(self, place: Place) -> Origin:
        """The origin of `place`, or of the nearest thing around it."""
        for length in range(len(place), 0, -1):
            if place[:length] in self.places:
                return self.places[place[:length]]
        return self.root

    def fault(self, what: str, place: Place, *, remedy: str) -> ConfigError:
        """The error that says `what` is wrong with the value at `place`, naming where it was written."""
        at, path = self.of(place), dotted(place)
        return ConfigError(f"{at}: {path}: {what}", file=at.file, line=at.line, path=path, remedy=remedy)

    def under(self, later: Origins) -> Origins:
        """These origins once the values of `later` were merged over them."""
        return Origins(later.root, {**self.places, **later.places})

    def within(self, data: object) -> Origins:
        """These origins without those of values that are no longer in `data`: a list replaces a list whole."""
        there = {place for place, _ in walk(data)}
        return Origins(self.root, {place: at for place, at in self.places.items() if place in there})

    def moved(self, old: Place, new: Place) -> Origins:
        """The origins of everything at and below `old`, as if it stood at `new`."""
        kept = {new + place[len(old) :]: at for place, at in self.places.items() if place[: len(old)] == old}
        return Origins(self.root, kept)


@dataclass(frozen=True)
class Source:
    """One YAML mapping, interpolations unresolved, with the origins of its values."""

    data: Mapping[str, Any]
    origins: Origins


def read(file: Path) -> Source:
    """The mapping in `file`. Raises ConfigError, with the line where the text is at fault."""
    name = str(file)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{name} cannot be read: {error}", file=name, remedy="check the path and its encoding"
        ) from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is not None and not isinstance(node, yaml.MappingNode):
            raise ConfigError(f"{name} must be a mapping of keys to values", file=name, line=1)
        data = OmegaConf.to_container(OmegaConf.create(text), resolve=False)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise ConfigError(
            f"{Origin(name, line)}: {error.problem}", file=name, line=line, remedy="mend the YAML"
        ) from error
    except (yaml.YAMLError, OmegaConfBaseException, RecursionError) as error:
        what = str(error).partition("\n")[0]
        raise ConfigError(f"{name}: {what}", file=name, remedy="mend the YAML") from error
    origins = Origins(Origin(name), {place: Origin(name, line) for place, line in _lines(node, ())} if node else {})
    _only_text_keys(data, origins)
    return Source(mapping(data), origins)


def mapping(value: object) -> dict[str, Any]:
    """`value`, known to be a mapping with text keys, typed as one."""
    assert isinstance(value, dict)
    return {str(key): item for key, item in value.items()}


def walk(value: object, place: Place = ()) -> Iterator[tuple[Place, object]]:
    """`value` and everything inside it, with the place of each."""
    yield place, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        yield from walk(item, (*place, step))


def _lines(node: yaml.Node, place: Place) -> Iterator[tuple[Place, int]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*place, key.value), key.start_mark.line + 1
            yield from _lines(value, (*place, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield (*place, index), value.start_mark.line + 1
            yield from _lines(value, (*place, index))


def _only_text_keys(data: object, origins: Origins) -> None:
    for place, value in walk(data):
        for key in value if isinstance(value, dict) else ():
            if not isinstance(key, str):
                raise origins.fault(f"key {key!r} is not text", (*place, str(key)), remedy="quote the key")
