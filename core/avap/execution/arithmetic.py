"""Arithmetic on values: Python's, with results of bounded size and errors in AVAP's words."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.formatting import formatted
from core.avap.execution.limits import Meter
from core.avap.execution.values import CELL, MAX_BITS, Value, kind_of

Number = int | float


def binary(symbol: str, left: Value, right: Value, meter: Meter) -> Value:
    """`left symbol right` for `+ - * / // % **`. Raises Failure and LimitReached."""
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _numbers(symbol, left, right, meter)
    if symbol == "+":
        return _joined(left, right, meter)
    if symbol == "*":
        return _repeated(left, right, meter)
    if symbol == "%" and isinstance(left, str):
        return formatted(left, right, meter)
    raise _refused(symbol, left, right)


def unary(symbol: str, value: Value) -> Value:
    """`-value`, `+value` or `not value`. Raises Failure."""
    if symbol == "not":
        return not value
    if not isinstance(value, (int, float)):
        raise Failure(f"'{symbol}' needs a number, not {kind_of(value)}", ErrorKind.TYPE)
    return -value if symbol == "-" else +value


def _numbers(symbol: str, left: Number, right: Number, meter: Meter) -> Value:
    if symbol == "**" and isinstance(left, int) and isinstance(right, int):
        _check_power(left, right, meter)
    try:
        value: object = _OPERATIONS[symbol](left, right)
    except ZeroDivisionError:
        raise Failure("division by zero", ErrorKind.ARITHMETIC) from None
    except OverflowError:
        raise Failure("the result is too large for a decimal number", ErrorKind.ARITHMETIC) from None
    if isinstance(value, complex):
        raise Failure("a fractional power of a negative number is no number", ErrorKind.ARITHMETIC)
    assert isinstance(value, (int, float))
    return finite(value) if isinstance(value, float) else meter.made(value)


def finite(value: float) -> float:
    """`value`. Raises Failure when it is infinite or not a number."""
    if not math.isfinite(value):
        raise Failure("the result is too large for a decimal number", ErrorKind.ARITHMETIC)
    return value


def _check_power(base: int, exponent: int, meter: Meter) -> None:
    """Refuse a power before it is computed; 0, 1 and -1 stay small under any exponent."""
    if abs(base) > 1 and base.bit_length() * abs(exponent) > 2 * MAX_BITS:
        meter.refuse_number()


def _joined(left: Value, right: Value, meter: Meter) -> Value:
    if isinstance(left, str) and isinstance(right, str):
        meter.reserve(len(left) + len(right))
        return left + right
    if isinstance(left, list) and isinstance(right, list):
        return meter.made([*left, *right])
    if isinstance(left, tuple) and isinstance(right, tuple):
        return meter.made((*left, *right))
    raise _refused("+", left, right)


def _repeated(left: Value, right: Value, meter: Meter) -> Value:
    if isinstance(left, int):
        left, right = right, left
    if not isinstance(right, int) or not isinstance(left, (str, list, tuple)):
        raise _refused("*", left, right)
    times = max(0, right)
    meter.reserve(min(len(left) * times, 2**62) * (1 if isinstance(left, str) else CELL))
    return meter.made(left * times)


def _refused(symbol: str, left: Value, right: Value) -> Failure:
    hint = "; convert with str(...)" if symbol == "+" and str in {type(left), type(right)} else ""
    return Failure(f"'{symbol}' does not work on {kind_of(left)} and {kind_of(right)}{hint}", ErrorKind.TYPE)


_OPERATIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}
