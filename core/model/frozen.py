"""The base of every boundary type, and the one canonical form that identity is computed from."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from pydantic import BaseModel, ConfigDict

_PLAIN = frozenset({str, int, bool, type(None)})
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
type_of_json = dict[str, Any] | list[Any] | str | int | float | bool | None


class Frozen(BaseModel):
    """An immutable value: unknown fields are errors, NaN is not a number anyone can mean."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


def canonical(value: object) -> type_of_json:
    """`value` reduced to plain JSON types with one spelling each.

    Raises TypeError for anything whose order or text is not settled (sets, bytes, arbitrary objects)
    and ValueError for NaN and infinities: what has no canonical form has no identity.
    """
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, float):
        return _canonical_number(value)
    if isinstance(value, (dict, Mapping)):  # the concrete type first: asking an abstract one takes longer
        if not all(isinstance(key, str) for key in value):
            raise TypeError("only text keys have a canonical form")
        return {key: item if type(item) in _PLAIN else canonical(item) for key, item in sorted(value.items())}
    if isinstance(value, (list, tuple, Sequence)) and not isinstance(value, (bytes, bytearray)):
        return [item if type(item) in _PLAIN else canonical(item) for item in value]
    if isinstance(value, BaseModel):
        return canonical(value.model_dump(mode="json"))
    raise TypeError(f"{type(value).__name__} has no canonical form")


def _canonical_number(value: float) -> int | float:
    if not math.isfinite(value):
        raise ValueError(f"{value!r} has no canonical form")
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def canonical_json(value: object) -> str:
    """The text that is hashed: sorted keys, no spaces, UTF-8 kept as it is, integral floats written as integers."""
    return _ENCODER.encode(canonical(value))


def canonical_object(members: Mapping[str, str]) -> str:
    """The canonical JSON of an object whose members are canonical JSON already."""
    return "{" + ",".join(f"{canonical_json(name)}:{members[name]}" for name in sorted(members)) + "}"


def digest(value: object) -> str:
    """sha256, in hex, of the canonical JSON of `value`."""
    return digest_of(canonical_json(value))


def digest_of(text: str) -> str:
    """sha256, in hex, of canonical JSON."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def seed_for(root: int, *path: str | int) -> int:
    """A 63-bit seed for the place `path`, derived from the run's one root seed; the same on every machine."""
    return int(digest([root, *path])[:16], 16) >> 1
