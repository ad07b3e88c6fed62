"""What can be asked of a value: index, slice, attribute, and the methods of one explicit table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.limits import Meter
from core.avap.execution.values import CELL, Scalar, Value, kind_of


def item_of(value: Value, key: Value) -> Value:
    """`value[key]`. Raises Failure."""
    if isinstance(value, dict):
        if isinstance(key, (list, tuple, dict)) or key not in value:
            raise Failure(f"the dict has no key {_shown(key)}")
        return value[as_key(key)]
    if not isinstance(value, (str, list, tuple)):
        raise Failure(f"{kind_of(value)} has no elements", ErrorKind.TYPE)
    if not isinstance(key, int):
        raise Failure(f"{kind_of(value)} is indexed by a whole number, not by {_shown(key)}", ErrorKind.TYPE)
    if not -len(value) <= key < len(value):
        raise Failure(f"index {_shown(key)} is outside {kind_of(value)} of {len(value)}")
    return value[key]


def slice_of(value: Value, bounds: Sequence[Value], meter: Meter) -> Value:
    """`value[start:stop:step]`, `bounds` being the three. Raises Failure and LimitReached."""
    if not isinstance(value, (str, list, tuple)):
        raise Failure(f"{kind_of(value)} cannot be sliced", ErrorKind.TYPE)
    numbers = [bound for bound in bounds if bound is None or isinstance(bound, int)]
    if len(numbers) != len(bounds):
        raise Failure("a slice is given by whole numbers", ErrorKind.TYPE)
    start, stop, step = numbers
    if step == 0:
        raise Failure("the step of a slice cannot be 0")
    return meter.made(value[start:stop:step])


def attribute_of(value: Value, name: str) -> Value:
    """`value.name`: the key of a dict. Raises Failure."""
    if isinstance(value, dict):
        return item_of(value, name)
    raise Failure(f"{kind_of(value)} has no attribute '{name}'", ErrorKind.TYPE)


def call_method(value: Value, name: str, arguments: Sequence[Value], meter: Meter) -> Value:
    """`value.name(arguments)` for texts, lists and dicts. Raises Failure and LimitReached."""
    method = _METHODS.get((type(value), name))
    if method is None:
        hint = "; write x = x + [item]" if isinstance(value, list) and name == "append" else ""
        raise Failure(f"{kind_of(value)} has no method '{name}'{hint}", ErrorKind.TYPE)
    if not method.least <= len(arguments) <= len(method.kinds):
        raise Failure(f"{name} does not take {len(arguments)} arguments", ErrorKind.TYPE)
    for argument, kinds in zip(arguments, method.kinds, strict=False):
        if not isinstance(argument, kinds):
            raise Failure(f"{name} does not take {kind_of(argument)}", ErrorKind.TYPE)
    meter.read(value, *arguments)
    if method.largest is not None:
        meter.reserve(method.largest(value, *arguments))
    return meter.made(method.run(value, *arguments))


def as_key(value: Value) -> Scalar:
    """`value` as the key of a dict. Raises Failure."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise Failure(f"{kind_of(value)} cannot be the key of a dict", ErrorKind.TYPE)


def replaced_size(text: str, old: str, new: str) -> int:
    """Bytes that `text` may have after `old` has been replaced by `new`."""
    return 4 * (len(text) + text.count(old) * len(new))


def _shown(key: Value) -> str:
    text = repr(key) if isinstance(key, (str, int, float, bool)) or key is None else kind_of(key)
    return text if len(text) <= 60 else text[:57] + "..."


def _joined(separator: str, items: Sequence[Value]) -> str:
    if not all(isinstance(item, str) for item in items):
        raise Failure("join needs a list of texts", ErrorKind.TYPE)
    return separator.join(map(str, items))


def _place(items: Sequence[Value], item: Value) -> int:
    if item not in items:
        raise Failure("the element is not in the list")
    return items.index(item)


@dataclass(frozen=True, slots=True)
class _Method:
    run: Callable[..., Any]
    kinds: tuple[Any, ...] = ()
    """For each argument the types it may have."""
    least: int = 0
    largest: Callable[..., int] | None = None
    """Bytes of the result at most, where it may outgrow the value and the arguments."""


_TEXT: Final = (str,)
_METHODS: Final[dict[tuple[type, str], _Method]] = {
    **{(str, name): _Method(getattr(str, name)) for name in ("upper", "lower", "title", "capitalize")},
    **{(str, name): _Method(getattr(str, name)) for name in ("isdigit", "isalpha", "isalnum", "isspace")},
    **{(str, name): _Method(getattr(str, name), _TEXT) for name in ("strip", "lstrip", "rstrip")},
    **{(str, name): _Method(getattr(str, name), _TEXT, 1) for name in ("startswith", "endswith", "find", "count")},
    (str, "split"): _Method(str.split, _TEXT, 0, lambda text, *_: CELL * 2 * len(text)),
    (str, "replace"): _Method(str.replace, (str, str), 2, replaced_size),
    (str, "join"): _Method(_joined, ((list, tuple),), 1, lambda separator, items: 4 * len(separator) * len(items)),
    (list, "index"): _Method(_place, (object,), 1),
    (list, "count"): _Method(list.count, (object,), 1),
    (tuple, "index"): _Method(_place, (object,), 1),
    (tuple, "count"): _Method(tuple.count, (object,), 1),
    (dict, "get"): _Method(lambda value, key, other=None: value.get(as_key(key), other), (object, object), 1),
    (dict, "keys"): _Method(list),
    (dict, "values"): _Method(lambda value: list(value.values())),
    (dict, "items"): _Method(lambda value: [tuple(pair) for pair in value.items()]),
}
