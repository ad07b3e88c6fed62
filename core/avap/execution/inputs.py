"""What a run is given instead of the world: request, canned replies, moment and seed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import Field, ValidationError, field_validator

from core.avap.execution.values import TooLarge, size_of
from core.errors import ConfigError
from core.model.frozen import Frozen

DEFAULT_NOW: Final = "2026-01-01T00:00:00Z"
_MAX_BYTES: Final = 8 * 2**20
_MAX_NESTING: Final = 60
_RESERVED: Final = {
    "__http__": "http",
    "__connectors__": "connectors",
    "__now__": "now",
    "__seed__": "seed",
    "__request__": "request",
}


class CannedReply(Frozen):
    """The reply to one HTTP request. Of several that fit, the first is given first and the last again and again."""

    method: str | None = None
    """GET or POST; None fits both."""
    url: str
    """With its query string, or without, which fits any query."""
    body: Any = None
    """What the target of the request receives."""
    status: int = 200
    """400 and more make the request fail."""
    delay_ms: float = Field(default=0, ge=0)
    """How long the reply takes; longer than the request's timeout makes it fail."""


class Request(Frozen):
    """Which registered endpoint is asked for."""

    path: str
    method: str = "GET"


class Inputs(Frozen):
    """Everything a program can learn from outside; `from_mapping` is the way in for data that may be anything."""

    parameters: Mapping[str, Any] = {}
    """Request parameter -> value; a list is a repeated parameter."""
    http: tuple[CannedReply, ...] = ()
    connectors: Mapping[str, Mapping[str, Any]] = {}
    """Token of a connector, or name of a module -> method -> reply."""
    now: datetime = datetime.fromisoformat(DEFAULT_NOW)
    seed: int = 0
    request: Request | None = None
    """None asks each registered endpoint once, in the order of their registration."""

    @field_validator("http", mode="before")
    @classmethod
    def _http(cls, value: object) -> object:
        """`{"[METHOD ]URL": body}` is short for a list of replies."""
        if not isinstance(value, Mapping):
            return value
        return [_short_reply(str(key), body) for key, body in value.items()]

    @field_validator("now", mode="after")
    @classmethod
    def _aware(cls, value: datetime) -> datetime:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> Inputs:
        """Test inputs as they are written: request parameters, and the reserved names of `docs/avap.md`.

        Raises ConfigError naming the field.
        """
        fields = {_RESERVED[name]: value for name, value in data.items() if name in _RESERVED}
        fields["parameters"] = {name: value for name, value in data.items() if name not in _RESERVED}
        for name, value in data.items():
            _require_json(name, value)
        try:
            return cls.model_validate(fields)
        except ValidationError as error:
            first = error.errors()[0]
            path = ".".join(str(step) for step in first["loc"])
            raise ConfigError(f"test inputs: {first['msg']}", path=path, remedy="correct that field") from error

    @classmethod
    def from_json(cls, text: str) -> Inputs:
        """`from_mapping` of the one object that the JSON `text` holds. Raises ConfigError."""
        return cls.from_mapping(_object(load_json(text)))


def load_json(text: str) -> Any:
    """The data of a JSON text of test inputs. Raises ConfigError with the line."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"not JSON: {error.msg}", line=error.lineno, remedy="correct the JSON") from error
    except (RecursionError, ValueError) as error:
        raise ConfigError(f"test inputs that cannot be read: {error}", remedy="make them simpler") from error


def _object(data: object) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise ConfigError("test inputs are one JSON object: parameter -> value", remedy='write {"name": "value"}')
    return data


def _short_reply(key: str, body: object) -> dict[str, object]:
    method, _, url = key.rpartition(" ")
    return {"method": method or None, "url": url, "body": body}


def _require_json(name: str, value: Any) -> None:
    try:
        size_of(value, _MAX_BYTES, _MAX_NESTING)
        waiting = [value]
        while waiting:
            item = waiting.pop()
            if isinstance(item, dict):
                waiting.extend((*item, *item.values()))
            elif isinstance(item, (list, tuple)):
                waiting.extend(item)
            elif isinstance(item, float) and not math.isfinite(item):
                raise ConfigError("infinity and NaN are no values", path=name, remedy="give a number")
            elif item is not None and not isinstance(item, (bool, int, float, str)):
                raise ConfigError(f"{type(item).__name__} is no value", path=name, remedy="give JSON values")
    except TooLarge:
        remedy = f"stay under {_MAX_BYTES} bytes and {_MAX_NESTING} levels"
        raise ConfigError("the test input is too large", path=name, remedy=remedy) from None
