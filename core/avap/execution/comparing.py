"""Comparisons: Python's in expressions, and the looser ones of an `if` in mode 1."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Final

from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.formatting import text_of
from core.avap.execution.limits import Meter
from core.avap.execution.values import Value, kind_of

_NUMERIC: Final = re.compile(r"\s*[-+]?[0-9]{1,4000}(?:\.[0-9]{1,4000})?\s*", re.ASCII)
_ORDER: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compare(symbol: str, left: Value, right: Value, meter: Meter) -> bool:
    """`left symbol right` as in Python; `is` holds for equal values of one type. Raises Failure and LimitReached."""
    meter.read(left, right)
    if symbol in {"==", "!="}:
        return (left == right) is (symbol == "==")
    if symbol in {"is", "is not"}:
        return (type(left) is type(right) and left == right) is (symbol == "is")
    if symbol in {"in", "not in"}:
        return contains(right, left) is (symbol == "in")
    try:
        return bool(_ORDER[symbol](left, right))
    except TypeError:
        text = f"'{symbol}' does not order {kind_of(left)} and {kind_of(right)}"
        raise Failure(text, ErrorKind.TYPE) from None


def compare_loosely(symbol: str, left: Value, right: Value, meter: Meter) -> bool:
    """The condition of an `if` in mode 1.

    Numbers and texts that look like numbers are compared as numbers, containers by their parts, all else as text; None
    equals only None and has no order. With `in`, elements are compared in the same way. Raises Failure, LimitReached.
    """
    meter.read(left, right)
    if symbol == "in":
        return _contains_loosely(right, left, meter)
    if symbol in {"=", "==", "!="}:
        return _equal(left, right, meter) is (symbol != "!=")
    if left is None or right is None:
        return False
    numbers = _number(left), _number(right)
    if None not in numbers:
        return bool(_ORDER[symbol](*numbers))
    return bool(_ORDER[symbol](text_of(left, meter), text_of(right, meter)))


def contains(container: Value, item: Value) -> bool:
    """`item in container`. Raises Failure."""
    if isinstance(container, str):
        if isinstance(item, str):
            return item in container
        raise Failure(f"'in' looks for a text in a text, not for {kind_of(item)}", ErrorKind.TYPE)
    if isinstance(container, dict):
        return not isinstance(item, (list, dict, tuple)) and item in container
    if isinstance(container, (list, tuple)):
        return item in container
    raise Failure(f"'in' needs a list, a dict or a text, not {kind_of(container)}", ErrorKind.TYPE)


def _contains_loosely(container: Value, item: Value, meter: Meter) -> bool:
    if isinstance(container, str):
        return item is not None and text_of(item, meter) in container
    if not isinstance(container, (list, tuple, dict)):
        return contains(container, item)
    meter.work(len(container))
    return any(_equal(item, element, meter) for element in container)


def _equal(left: Value, right: Value, meter: Meter) -> bool:
    if left is None or right is None:
        return left is right
    numbers = _number(left), _number(right)
    if None not in numbers:
        return numbers[0] == numbers[1]
    if isinstance(left, (list, tuple, dict)) and isinstance(right, (list, tuple, dict)):
        return left == right
    return text_of(left, meter) == text_of(right, meter)


def _number(value: Value) -> int | float | None:
    if isinstance(value, (int, float)):
        return None if isinstance(value, bool) else value
    if isinstance(value, str) and _NUMERIC.fullmatch(value):
        return float(value) if "." in value else int(value)
    return None
