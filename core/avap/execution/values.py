"""The values of a running program. None is ever changed in place, so no value can contain itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from core.model.frozen import type_of_json


@dataclass(frozen=True, slots=True)
class Routine:
    """A declared function, named where a value stands."""

    name: str

    def __repr__(self) -> str:
        return f"function {self.name}"


@dataclass(frozen=True, slots=True)
class Connector:
    """An opened connector, known by its token."""

    token: str

    def __repr__(self) -> str:
        return f"connector {self.token}"


@dataclass(frozen=True, slots=True)
class Module:
    """What `import name` brings in; its file is never read."""

    name: str

    def __repr__(self) -> str:
        return f"module {self.name}"


Scalar: TypeAlias = bool | int | float | str | None
Value: TypeAlias = "Scalar | list[Value] | tuple[Value, ...] | dict[Scalar, Value] | Routine | Connector | Module"

CELL: Final = 8
"""Bytes that one element of a container is counted with."""
MAX_BITS: Final = 14_000
"""Bits of the largest integer; short of the 4,300 digits beyond which Python writes none."""

_CONTAINERS: Final = frozenset({list, tuple, dict})
_KINDS: Final[dict[type, str]] = {
    type(None): "None",
    bool: "a truth value",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
    tuple: "a tuple",
    dict: "a dict",
    Routine: "a function",
    Connector: "a connector",
    Module: "a module",
}


def kind_of(value: Value) -> str:
    """What a message calls `value`: `a text`, `a number`."""
    return _KINDS[type(value)]


class TooLarge(Exception):  # never leaves core.avap.execution
    """A value is larger than it may be, or nested deeper."""


def size_of(value: Value, most: int, nesting: int) -> int:
    """Bytes of `value` written out, parts that it shares with itself counted each time.

    Raises TooLarge beyond `most` bytes or `nesting` levels of containers.
    """
    total, levels = 0, 0
    level: list[Any] = [value]
    while level:
        levels += 1
        kinds = set(map(type, level))
        total += _own_sizes(level, kinds)
        if total > most or levels > nesting + 1:
            raise TooLarge
        level = [] if kinds.isdisjoint(_CONTAINERS) else [part for item in level for part in _parts(item)]
    return total


def _own_sizes(values: list[Any], kinds: set[type]) -> int:
    """Bytes of `values` without their parts; many of one kind are counted at the speed of C."""
    if kinds == {int}:
        return sum(map(int.bit_length, values)) // 8
    if kinds == {str}:
        return sum(map(len, values)) * (1 if all(map(str.isascii, values)) else 4)
    return sum(map(_own_size, values))


def _own_size(value: Value) -> int:
    if isinstance(value, str):
        return len(value) if value.isascii() else 4 * len(value)
    if isinstance(value, (list, tuple)):
        return CELL + CELL * len(value)
    if isinstance(value, dict):
        return CELL + 2 * CELL * len(value)
    return value.bit_length() // 8 if isinstance(value, int) else 0


def _parts(value: Value) -> Iterable[Value]:
    if isinstance(value, dict):
        return (*value, *value.values())
    return value if isinstance(value, (list, tuple)) else ()


def plain(value: Value) -> Any:
    """`value` as JSON knows it: tuples become lists, keys text, and what has no JSON its description."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): plain(item) for key, item in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return repr(value)


def from_json(data: type_of_json) -> Value:
    """`data`, which came out of JSON, as a value; nothing is copied, since nothing is ever changed."""
    value: Any = data
    return value  # type: ignore[no-any-return]
