"""Validation errors in the reader's terms: file, line, dotted path, what is allowed, the nearest key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from core.errors import ConfigError
from core.lab.nearest import did_you_mean
from core.lab.schema import fields_at
from core.lab.source import Origins, Place, dotted


def explain(error: ValidationError, model: type[BaseModel], origins: Origins) -> ConfigError:
    """`error` as one ConfigError: all faults in the message, the place of the first in the attributes."""
    faults = [_fault(fault, model, origins) for fault in error.errors(include_url=False)]
    first = faults[0]
    message = "\n".join(str(fault) for fault in faults)
    remedy = " ".join(dict.fromkeys(fault.remedy for fault in faults if fault.remedy))
    return ConfigError(message, file=first.file, path=first.path, line=first.line, remedy=remedy)


def _fault(fault: Mapping[str, Any], model: type[BaseModel], origins: Origins) -> ConfigError:
    # pydantic marks dict keys with "[key]" and may name union members: only what the reader wrote is of use.
    place: Place = tuple(step for step in fault["loc"] if step != "[key]")
    what, remedy = _words(fault, model, place)
    at = origins.of(place)
    message = f"{at}: {dotted(place)}: {what}" if place else f"{at}: {what}"
    return ConfigError(message, file=at.file, line=at.line, path=dotted(place), remedy=remedy)


def _words(fault: Mapping[str, Any], model: type[BaseModel], place: Place) -> tuple[str, str]:
    """What is wrong and what to do about it."""
    if fault["type"] == "extra_forbidden":
        allowed = fields_at(model, place[:-1])
        return "unknown key", f"{did_you_mean(str(place[-1]), allowed)}allowed: {', '.join(allowed)}."
    if fault["type"] == "missing":
        return "is required", f"add `{dotted(place)}:`."
    if fault["type"] in {"enum", "literal_error"}:
        expected = fault["ctx"]["expected"]
        words = [word.strip(" '") for word in expected.replace(" or ", ", ").split(",")]
        return f"{fault['input']!r} is none of {expected}", did_you_mean(str(fault["input"]), words).strip()
    said = fault["msg"].removeprefix("Value error, ")
    return f"{said[:1].lower()}{said[1:]} (found {_shown(fault['input'])})", ""


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
