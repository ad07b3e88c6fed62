"""Finding values by many names in nested JSON, and what is left that no name stood for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

ROOT = "."
"""The name of the value itself."""


Path = tuple[str, ...]
"""Keys from the outside in, by letters and digits alone."""


@dataclass(frozen=True)
class Finder:
    """Looks into one JSON value, through objects and not into lists, and remembers what has been taken."""

    data: Any
    prefix: str = ""
    """Place of `data` in the file."""
    taken: set[str] = field(default_factory=set)
    """Places that were taken, in the whole file."""

    @cached_property
    def _index(self) -> Mapping[Path, list[tuple[str, Any]]]:
        found: dict[Path, list[tuple[str, Any]]] = {}
        for path, place, value in _walk(self.data, (), self.prefix):
            found.setdefault(path, []).append((place or ROOT, value))
        return found

    def hits(self, names: Iterable[str]) -> list[tuple[str, Any]]:
        """Every place that one of `names` stands for, with its value, each once; a null is understood as nothing."""
        found = {place: value for name in names for place, value in self._index.get(_path(name), ())}
        self.taken.update(place for place, value in found.items() if value is None)
        return [(place, value) for place, value in found.items() if value is not None]

    def take(self, place: str) -> None:
        """Count the value at `place` as understood, with all that is in it."""
        self.taken.add(place)

    def inside(self, place: str, data: Any) -> Finder:
        """A finder for `data`, which stands at `place`; what it takes counts here too."""
        return Finder(data, place, self.taken)


def leftovers(data: Any, taken: set[str]) -> Mapping[str, int]:
    """The places of plain values that nobody took, list positions as `*` -> how often; sorted."""
    return dict(sorted(Counter(_general(place) for place in _leaves(data, "", taken)).items()))


def joined(prefix: str, step: object) -> str:
    """`a.b` and `c` as `a.b.c`; a dot in a key is written `\\.`."""
    key = str(step).replace("\\", "\\\\").replace(".", "\\.")
    return f"{prefix}.{key}" if prefix else key


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """`Answer-Relevancy`, `answerRelevancy` and `answer_relevancy` as one."""
    return re.sub(r"[\W_]+", "", name.casefold())


@lru_cache(maxsize=4096)
def _path(name: str) -> Path:
    return tuple(step for step in map(plain, name.split(".")) if step)


def _walk(data: Any, path: Path, place: str) -> Iterator[tuple[Path, str, Any]]:
    yield path, place, data
    for key, value in data.items() if isinstance(data, dict) else ():
        yield from _walk(value, (*path, plain(key)), joined(place, key))


def _leaves(data: Any, place: str, taken: set[str]) -> Iterator[str]:
    if place in taken:
        return
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from _leaves(value, joined(place, key), taken)
    elif isinstance(data, list) and data:
        for position, value in enumerate(data):
            yield from _leaves(value, joined(place, position), taken)
    else:
        yield place or ROOT


def _general(place: str) -> str:
    return re.sub(r"(?<![^.])\d+(?![^.])", "*", place)
