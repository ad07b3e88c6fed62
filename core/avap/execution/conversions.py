"""The four built-in functions, and the conversions that commands share with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from core.avap.execution.arithmetic import finite
from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.formatting import text_of
from core.avap.execution.limits import Meter
from core.avap.execution.values import Value, kind_of

_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,4000}", re.ASCII)
_DECIMAL: Final = re.compile(
    r"[-+]?(?:[0-9]{1,4000}(?:\.[0-9]{0,4000})?|\.[0-9]{1,4000})(?:[eE][-+]?[0-9]{1,3})?", re.ASCII
)


def call_builtin(name: str, arguments: Sequence[Value], meter: Meter) -> Value:
    """`str`, `int`, `float` or `len` of one value. Raises Failure and LimitReached."""
    if len(arguments) != 1:
        raise Failure(f"{name} takes 1 argument, not {len(arguments)}", ErrorKind.TYPE)
    meter.read(*arguments)
    return meter.made(_BUILTINS[name](arguments[0], meter))


def whole(value: Value, what: str) -> int:
    """`value` as a whole number: an integer, a decimal without fraction, or a text of digits. Raises Failure."""
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise Failure(f"{what} must be a whole number, not {_described(value)}", ErrorKind.TYPE)


def number(value: Value, what: str) -> int | float:
    """`value` as a number: one, or a text that looks like one. Raises Failure."""
    if isinstance(value, str) and _DECIMAL.fullmatch(value.strip()):
        return int(value) if _WHOLE.fullmatch(value.strip()) else finite(float(value))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise Failure(f"{what} must be a number, not {_described(value)}", ErrorKind.TYPE)


def _int(value: Value, _: Meter) -> Value:
    if isinstance(value, (int, float)):
        return int(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    raise Failure(f"int cannot convert {_described(value)}")


def _float(value: Value, _: Meter) -> Value:
    if isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            raise Failure("the number is too large for a decimal number", ErrorKind.ARITHMETIC) from None
    if isinstance(value, float):
        return value
    if isinstance(value, str) and _DECIMAL.fullmatch(value.strip()):
        return finite(float(value))
    raise Failure(f"float cannot convert {_described(value)}")


def _len(value: Value, _: Meter) -> Value:
    if isinstance(value, (str, list, tuple, dict)):
        return len(value)
    raise Failure(f"{kind_of(value)} has no length", ErrorKind.TYPE)


def _described(value: Value) -> str:
    """A text as it is written, cut where it is long; anything else by its kind."""
    if not isinstance(value, str):
        return kind_of(value)
    return f"the text '{value if len(value) <= 40 else value[:37] + '...'}'"


_BUILTINS: Final[dict[str, Callable[[Value, Meter], Value]]] = {
    "str": text_of,
    "int": _int,
    "float": _float,
    "len": _len,
}
