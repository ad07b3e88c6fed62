"""Dates and times: manual section VI. The present is the moment that the test inputs give."""

from __future__ import annotations

from datetime import datetime

from core.avap.execution import dates
from core.avap.execution.commands.registry import command
from core.avap.execution.conversions import number
from core.avap.execution.formatting import text_of
from core.avap.execution.values import Value
from core.avap.execution.world import World


@command("getDateTime")
def get_date_time(world: World, format: Value, offset_s: Value, time_zone: Value) -> Value:  # noqa: A002
    """The present, so many seconds later, as text in a time zone."""
    moment = dates.moved(world.inputs.now, _seconds(offset_s))
    return _written(world, dates.in_zone(moment, text_of(time_zone, world.meter)), format)


@command("stampToDatetime")
def stamp_to_datetime(world: World, timestamp: Value, format: Value, offset_s: Value) -> Value:  # noqa: A002
    """The moment so many seconds after 1970, moved by an offset, as text in UTC."""
    moment = dates.moment_at(number(timestamp, "a timestamp"))
    return _written(world, dates.moved(moment, _seconds(offset_s)), format)


@command("getTimeStamp")
def get_time_stamp(world: World, date_string: Value, format: Value, time_delta: Value) -> Value:  # noqa: A002
    """Seconds from 1970 to the moment that a text writes, moved by an offset."""
    moment = dates.read(text_of(date_string, world.meter), text_of(format, world.meter))
    return dates.seconds_at(dates.moved(moment, _seconds(time_delta)))


def _written(world: World, moment: datetime, form: Value) -> str:
    text = text_of(form, world.meter)
    world.meter.reserve(_WIDEST * len(text))
    return dates.written(moment, text)


def _seconds(value: Value) -> int | float:
    """An offset; an empty argument moves nothing."""
    return 0 if value is None or value == "" else number(value, "an offset in seconds")


_WIDEST = 16
"""Signs that one percent code can become, and more."""
