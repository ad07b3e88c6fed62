"""Moments as text and back, by percent codes that mean the same on every machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from core.avap.execution.failures import Failure

_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_CODE: Final = re.compile(r"%(.?)", re.DOTALL)
_OFFSET: Final = re.compile(r"(?:UTC|GMT)?([+-])([0-9]{1,2})(?::?([0-9]{2}))?")
_MAX_FORM: Final = 200
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _offset_text(moment: datetime) -> str:
    offset = moment.utcoffset() or timedelta()
    minutes = int(offset.total_seconds()) // 60
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}{abs(minutes) % 60:02}"


_WRITE: Final[dict[str, Callable[[datetime], str]]] = {
    "Y": lambda moment: f"{moment.year:04}",
    "y": lambda moment: f"{moment.year % 100:02}",
    "m": lambda moment: f"{moment.month:02}",
    "d": lambda moment: f"{moment.day:02}",
    "H": lambda moment: f"{moment.hour:02}",
    "I": lambda moment: f"{(moment.hour - 1) % 12 + 1:02}",
    "M": lambda moment: f"{moment.minute:02}",
    "S": lambda moment: f"{moment.second:02}",
    "f": lambda moment: f"{moment.microsecond:06}",
    "j": lambda moment: f"{moment.timetuple().tm_yday:03}",
    "B": lambda moment: _MONTHS[moment.month - 1],
    "b": lambda moment: _MONTHS[moment.month - 1][:3],
    "A": lambda moment: _DAYS[moment.weekday()],
    "a": lambda moment: _DAYS[moment.weekday()][:3],
    "p": lambda moment: "AM" if moment.hour < 12 else "PM",
    "F": lambda moment: moment.date().isoformat(),
    "T": lambda moment: f"{moment.hour:02}:{moment.minute:02}:{moment.second:02}",
    "s": lambda moment: str(int(moment.timestamp())),
    "z": _offset_text,
    "Z": lambda moment: moment.tzname() or "",
    "%": lambda _: "%",
}
_READ: Final = {
    "Y": r"(?P<Y>[0-9]{4})",
    "m": r"(?P<m>[0-9]{1,2})",
    "d": r"(?P<d>[0-9]{1,2})",
    "H": r"(?P<H>[0-9]{1,2})",
    "M": r"(?P<M>[0-9]{1,2})",
    "S": r"(?P<S>[0-9]{1,2})",
    "F": r"(?P<Y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})",
    "T": r"(?P<H>[0-9]{2}):(?P<M>[0-9]{2}):(?P<S>[0-9]{2})",
    "%": "%",
}


def written(moment: datetime, form: str) -> str:
    """`moment` by the percent codes of `form`, names in English. Raises Failure for a code that is not known."""
    return _CODE.sub(lambda match: _writer(match[1])(moment), form)


def read(text: str, form: str) -> datetime:
    """The moment, in UTC, that `text` writes in `form`, with the codes %Y %m %d %H %M %S %F %T. Raises Failure."""
    if len(form) > _MAX_FORM:
        raise Failure(f"the format of a date is longer than {_MAX_FORM} signs")
    parts = [re.escape(part) if index % 2 == 0 else _reader(part) for index, part in enumerate(_CODE.split(form))]
    try:
        match = re.fullmatch("".join(parts), text)
    except re.error:
        raise Failure(f"the format '{form}' gives the same part twice") from None
    if match is None:
        raise Failure(f"the date '{text[:60]}' is not written as '{form}'")
    found = {"Y": 1970, "m": 1, "d": 1, "H": 0, "M": 0, "S": 0}
    found |= {name: int(value) for name, value in match.groupdict().items()}
    year, month, day, hour, minute, second = found.values()
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        raise Failure(f"the date '{text[:60]}' does not exist: {error}") from None


def moment_at(seconds: float) -> datetime:
    """The moment, in UTC, so many seconds after 1970. Raises Failure outside the years 1 to 9999."""
    return moved(_EPOCH, seconds)


def seconds_at(moment: datetime) -> int | float:
    """Seconds from 1970 to `moment`; an integer when they are whole."""
    seconds = (moment - _EPOCH).total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


def moved(moment: datetime, seconds: float) -> datetime:
    """`moment` so many seconds later. Raises Failure outside the years 1 to 9999."""
    try:
        return moment + timedelta(seconds=seconds)
    except OverflowError:
        raise Failure("the date lies outside the years 1 to 9999") from None


def in_zone(moment: datetime, zone: str) -> datetime:
    """`moment` in the time zone `zone`: UTC, an offset such as `+02:00`, or a name such as `Europe/Madrid`.

    Raises Failure for a zone that is not known.
    """
    try:
        return moment.astimezone(_zone(zone))
    except OverflowError:
        raise Failure("the date lies outside the years 1 to 9999") from None


def _zone(name: str) -> tzinfo:
    if name in {"", "UTC", "GMT", "Z"}:
        return UTC
    offset = _OFFSET.fullmatch(name)
    try:
        if offset:
            minutes = int(offset[2]) * 60 + int(offset[3] or 0)
            return timezone(timedelta(minutes=minutes if offset[1] == "+" else -minutes))
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        raise Failure(f"unknown time zone '{name[:60]}'") from None


def _writer(code: str) -> Callable[[datetime], str]:
    if code not in _WRITE:
        raise Failure(f"unknown date code '%{code}'")
    return _WRITE[code]


def _reader(code: str) -> str:
    if code not in _READ:
        raise Failure(f"unknown date code '%{code}' for reading a date")
    return _READ[code]
