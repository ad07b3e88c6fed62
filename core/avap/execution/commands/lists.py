"""Lists and JSON objects: manual sections II and VI."""

from __future__ import annotations

import json
import re
from typing import Final, NoReturn

from core.avap.execution.access import as_key, item_of
from core.avap.execution.commands.registry import command
from core.avap.execution.conversions import whole
from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.values import Value, from_json, kind_of
from core.avap.execution.world import World

_MAX_JSON_DEPTH: Final = 100
_SIGNS_PER_STEP: Final = 16
"""Signs of JSON that are read in the time of a step."""
_JSON_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


@command("getListLen", variables=("list",))
def get_list_len(_: World, list: Value) -> Value:  # noqa: A002  the vocabulary's word
    """The number of elements; of a text, of its signs."""
    if isinstance(list, (str, tuple, dict)) or type(list) is _LIST:
        return len(list)
    raise Failure(f"getListLen needs a list, not {kind_of(list)}", ErrorKind.TYPE)


@command("variableToList")
def variable_to_list(_: World, value: Value) -> Value:
    """A list stays one, a tuple becomes one, anything else becomes its one element."""
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, list) else [value]


@command("itemFromList", variables=("list",))
def item_from_list(_: World, list: Value, index: Value) -> Value:  # noqa: A002  the vocabulary's word
    """The element at a place counted from 0."""
    if not isinstance(list, (tuple, str)) and type(list) is not _LIST:
        raise Failure(f"itemFromList needs a list, not {kind_of(list)}", ErrorKind.TYPE)
    return item_of(list, whole(index, "the index of itemFromList"))


@command("AddVariableToJSON", extends=("target",))
def add_variable_to_json(_: World, key: Value, value: Value, target: Value = None) -> Value:
    """The target with one key more; a new object when there was no target."""
    if target is not None and not isinstance(target, dict):
        raise Failure(f"AddVariableToJSON needs a JSON object to add to, not {kind_of(target)}", ErrorKind.TYPE)
    return {**(target or {}), as_key(key): value}


@command("variableFromJSON")
def variable_from_json(world: World, source: Value, key: Value) -> Value:
    """The value under a key of an object, or of the JSON text of one; None when it has no such key."""
    data = _parsed(world, source) if isinstance(source, str) else source
    if not isinstance(data, dict):
        raise Failure(f"variableFromJSON needs a JSON object, not {kind_of(data)}", ErrorKind.TYPE)
    return data.get(as_key(key))


def _parsed(world: World, text: str) -> Value:
    world.meter.work(len(text) // _SIGNS_PER_STEP)
    if _depth(text) > _MAX_JSON_DEPTH:
        raise Failure(f"the JSON text has more than {_MAX_JSON_DEPTH} levels")
    try:
        return from_json(json.loads(text, parse_constant=_refuse_constant, parse_float=_finite))
    except ValueError as error:
        raise Failure(f"the text is not JSON: {error}") from None


def _depth(text: str) -> int:
    """How many brackets of `text`, outside its strings, are open at once."""
    deepest = depth = 0
    for sign in re.findall(r"[\[\]{}]", _JSON_STRING.sub("", text)):
        depth += 1 if sign in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _finite(text: str) -> float:
    number = float(text)
    if number in {float("inf"), float("-inf")}:
        _refuse_constant(text)
    return number


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


_LIST: Final = list
