"""Values as text: `str`, templates and the `%` operator, none longer than a run may make."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.limits import Meter
from core.avap.execution.values import Value, kind_of

MAX_WIDTH: Final = 1000
_FIELD: Final = re.compile(r"%(?:\((\w+)\))?([-+ #0]*)([0-9]*)(?:\.([0-9]*))?(.?)", re.DOTALL)


def text_of(value: Value, meter: Meter) -> str:
    """`value` as `str(value)` gives it. Raises LimitReached."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple, dict)):
        meter.made(value)
        text = str(value)
        meter.reserve(len(text))
        return text
    return str(value)


def formatted(pattern: str, values: Value, meter: Meter) -> str:
    """`pattern % values`, with the conversions s d i f F e E g G x X o c and %. Raises Failure and LimitReached."""
    pieces: list[str] = []
    waiting = iter(values if isinstance(values, tuple) else (values,))
    done = 0
    for match in _FIELD.finditer(pattern):
        pieces.append(pattern[done : match.start()])
        pieces.append(_field(match, values, waiting, meter))
        done = match.end()
        meter.reserve(sum(map(len, pieces[-2:])))
        meter.work(1)
    if next(waiting, _END) is not _END and not isinstance(values, dict):
        raise Failure("the text has fewer fields than there are values for '%'", ErrorKind.TYPE)
    text = "".join((*pieces, pattern[done:]))
    meter.reserve(len(text))
    return text


def _field(match: re.Match[str], values: Value, waiting: Iterator[Value], meter: Meter) -> str:
    name, flags, width, precision, conversion = match.groups()
    if conversion == "%":
        return "%"
    if any(number and (len(number) > 4 or int(number) > MAX_WIDTH) for number in (width, precision)):
        raise Failure(f"a field of '%' is wider than {MAX_WIDTH}")
    value = _named(name, values) if name else next(waiting, _END)
    if isinstance(value, _End):
        raise Failure("the text has more fields than there are values for '%'", ErrorKind.TYPE)
    spec = f"%{flags}{width}{'' if precision is None else '.' + precision}{conversion}"
    if conversion == "s":
        return spec % text_of(value, meter)
    if conversion not in set("difFeEgGxXoc"):
        raise Failure(f"'{match[0]}' is no field of '%'")
    return _number(spec, conversion, value)


def _number(spec: str, conversion: str, value: Value) -> str:
    if conversion == "c" and isinstance(value, str) and len(value) == 1:
        return spec % value
    if not isinstance(value, (int, float)) or (conversion in set("xXoc") and isinstance(value, float)):
        raise Failure(f"'{spec}' does not take {kind_of(value)}", ErrorKind.TYPE)
    try:
        return spec % value
    except (OverflowError, ValueError):
        raise Failure(f"'{spec}' cannot show this number") from None


def _named(name: str, values: Value) -> Value:
    if not isinstance(values, dict):
        raise Failure(f"'%({name})' needs a dict after '%', not {kind_of(values)}", ErrorKind.TYPE)
    if name not in values:
        raise Failure(f"the dict after '%' has no key '{name}'")
    return values[name]


class _End:
    """Marks that no value is left."""


_END: Final = _End()
