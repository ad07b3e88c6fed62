"""What a provider would refuse, found before the first call."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from datetime import date, datetime

from core.adapters.clock import SystemClock
from core.adapters.llm.sampling import sends_temperature
from core.errors import PreflightRefused
from core.model.record import is_pinned
from core.model.specs import ModelSpec, Provider
from core.ports import Clock

_log = logging.getLogger(__name__)
_API_VERSION = re.compile(r"20\d{2}-[01]\d-[0-3]\d")
_WARN_DAYS = 30


def preflight(spec: ModelSpec, *, role: str = "model", clock: Clock | None = None) -> None:
    """Raise PreflightRefused when `spec` could not be called today: retired, not pinned, or refused parameters.

    A temperature that the API refuses is not a fault: it is not sent, and the record says so.
    """
    today = date.fromisoformat((clock or SystemClock()).now()[:10])
    for check in (_pinned, _parameters, _alive):
        check(spec, role, today)


def _pinned(spec: ModelSpec, role: str, _: date) -> None:
    moving = re.search(r"(^|[-:@])latest$", spec.model) is not None
    if moving or not (is_pinned(spec.model) or spec.provider is Provider.REHEARSAL):
        raise PreflightRefused(
            f"{role}: model {spec.model!r} is not one exact version",
            path=f"{role}.model",
            remedy="name a dated version or a tag, as claude-opus-4-5-20251101 or qwen3:1.7b",
        )


def _parameters(spec: ModelSpec, role: str, _: date) -> None:
    for field, fault, remedy in _faults(spec):
        raise PreflightRefused(f"{role}: {fault}", path=f"{role}.{field}", remedy=remedy)


def _faults(spec: ModelSpec) -> list[tuple[str, str, str]]:
    """Field, what is wrong with it, what to do."""
    faults = []
    if spec.provider is Provider.OPENAI:
        if spec.effort is not None:
            faults.append(("effort", "chat completions have no effort", "remove effort"))
        if spec.api_version is not None:
            faults.append(("api_version", "chat completions have no API version", "remove api_version"))
        return faults
    if spec.api_version is not None and not _API_VERSION.fullmatch(spec.api_version):
        faults.append(("api_version", f"{spec.api_version!r} is no API version", "write it as 2023-06-01"))
    if sends_temperature(spec) and (spec.temperature or 0.0) > 1.0:
        faults.append(("temperature", f"{spec.temperature} is above 1, which the API refuses", "use 0 to 1"))
    return faults


def _alive(spec: ModelSpec, role: str, today: date) -> None:
    end = retirement(spec.model) if spec.provider is Provider.ANTHROPIC else None
    if end is None:
        return
    if today >= end:
        raise PreflightRefused(
            f"{role}: model {spec.model} was retired on {end.isoformat()}",
            path=f"{role}.model",
            remedy="choose a model that is still served, or replay the run from its recordings",
        )
    if (end - today).days <= _WARN_DAYS:
        _log.warning("%s: model %s is served only until %s", role, spec.model, end.isoformat())


def retirement(model: str, table: Callable[[], dict[str, str]] | None = None) -> date | None:
    """The day a model stops answering, from the SDK's own table (`November 30th, 2026`); None when it lists none."""
    written = (table or _deprecated)().get(model)
    if written is None:
        return None
    plain = re.sub(r"(\d)(st|nd|rd|th)\b", r"\1", written)
    return datetime.strptime(plain, "%B %d, %Y").date()  # noqa: DTZ007 - a day, not a moment


def _deprecated() -> dict[str, str]:
    # Slow to import, and only Anthropic's own models are in it.
    from anthropic.resources.messages.messages import DEPRECATED_MODELS

    return DEPRECATED_MODELS
