"""Structured replies: their JSON schema, and a reader that accepts exactly what was asked for.

A schema sent along guarantees form at best, never which ids come back or how many; some servers ignore it altogether.
What does not fit is a ReplyFault that says what is wrong in words fit for sending back.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ReplyFault(ValueError):
    """A reply that is not what was asked for."""


class IdKind(StrEnum):
    """How the items of a reply are named."""

    NUMBER = "integer"
    NAME = "string"


@dataclass(frozen=True)
class ReplyItem:
    """One item of a reply; what its shape does not have stays at the default."""

    id: str
    text: str = ""
    value: int = 0
    reason: str = ""


@dataclass(frozen=True)
class ReplyShape:
    """An object with one list, `items`, whose members carry an id and the named fields; empty names are absent."""

    items: str
    ids: IdKind = IdKind.NUMBER
    text: str = ""
    value: str = ""
    """A field that is 0 or 1."""
    reason: str = ""

    def schema(self) -> dict[str, Any]:
        """JSON schema within what structured outputs support."""
        fields: dict[str, Any] = {"id": {"type": self.ids.value}}
        fields |= {name: {"type": "string"} for name in (self.text, self.reason) if name}
        fields |= {self.value: {"type": "integer", "enum": [0, 1]}} if self.value else {}
        return _closed_object({self.items: {"type": "array", "items": _closed_object(fields)}})

    def read(self, reply: str, expected: Sequence[str] | None = None) -> tuple[ReplyItem, ...]:
        """The items of `reply`, in the order of the `expected` ids; without those, ids must count 1, 2, ...

        Raises ReplyFault.
        """
        data = _load(reply)
        if not isinstance(data, dict) or set(data) != {self.items} or not isinstance(data[self.items], list):
            raise ReplyFault(f'the reply must be one JSON object with the single key "{self.items}", a list')
        items = [self._item(item, f"{self.items}[{i}]") for i, item in enumerate(data[self.items])]
        wanted = [str(i) for i in range(1, len(items) + 1)] if expected is None else list(expected)
        _compare_ids([item.id for item in items], wanted)
        by_id = {item.id: item for item in items}
        return tuple(by_id[id_] for id_ in wanted)

    def _item(self, item: object, place: str) -> ReplyItem:
        names = [name for name in ("id", self.text, self.value, self.reason) if name]
        if not isinstance(item, dict) or set(item) != set(names):
            raise ReplyFault(f"{place} must be an object with exactly the keys {', '.join(names)}")
        return ReplyItem(
            id=self._id(item["id"], place),
            text=_text(item[self.text], f"{place}.{self.text}") if self.text else "",
            value=_bit(item[self.value], f"{place}.{self.value}") if self.value else 0,
            reason=_string(item[self.reason], f"{place}.{self.reason}") if self.reason else "",
        )

    def _id(self, value: object, place: str) -> str:
        if type(value) is not (int if self.ids is IdKind.NUMBER else str):
            raise ReplyFault(f"{place}.id is {json.dumps(value)}; it must be a JSON {self.ids.value}")
        return _string(str(value), f"{place}.id")


def _closed_object(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _load(reply: str) -> object:
    try:
        return json.loads(reply, object_pairs_hook=_unique_keys, parse_constant=_no_constant)
    except ReplyFault:
        raise
    except (ValueError, RecursionError) as error:
        raise ReplyFault(f"the reply is not JSON ({error})") from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        [(twice, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ReplyFault(f"an object has the key {twice!r} more than once")
    return unique


def _no_constant(name: str) -> object:
    raise ReplyFault(f"{name} is not JSON")


def _string(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise ReplyFault(f"{place} must be a string")
    if not value.isprintable() and _has_surrogate(value):
        raise ReplyFault(f"{place} holds half of a surrogate pair")
    return value


def _has_surrogate(text: str) -> bool:
    """Whether `text` has no UTF-8 form, and so could never be written to a record."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def _text(value: object, place: str) -> str:
    text = _string(value, place)
    if not text.strip():
        raise ReplyFault(f"{place} is blank")
    return text


def _bit(value: object, place: str) -> int:
    if type(value) is not int or value not in (0, 1):
        raise ReplyFault(f"{place} is {json.dumps(value)}; it must be 0 or 1")
    return value


def _compare_ids(found: list[str], wanted: list[str]) -> None:
    counts = Counter(found)
    for fault, ids in (
        ("missing", [id_ for id_ in wanted if id_ not in counts]),
        ("unasked-for", [id_ for id_ in counts if id_ not in wanted]),
        ("repeated", [id_ for id_, count in counts.items() if count > 1]),
    ):
        if ids:
            raise ReplyFault(f"{fault} id {_few(ids)}; wanted exactly: {', '.join(wanted) or 'none'}")


def _few(ids: list[str]) -> str:
    """Some of `ids`, each cut short: they are the model's words, and go back to it and into the row."""
    shown = ", ".join(id_ if len(id_) <= 40 else f"{id_[:40]}..." for id_ in ids[:5])
    return f"{shown} and {len(ids) - 5} more" if len(ids) > 5 else shown
