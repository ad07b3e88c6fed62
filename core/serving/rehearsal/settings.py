"""How one rehearsal server behaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import orjson
from pydantic import ValidationError

from core.errors import ConfigError
from core.model.specs import Fault, LeakSpec, RehearsalSpec
from core.serving.rehearsal.trouble import Trouble


@dataclass(frozen=True)
class Settings:
    """Everything but the port. `retry_after_s` is what a 429 of `trouble` tells the caller to wait."""

    seed: int = 0
    faults: Mapping[Fault, float] = field(default_factory=dict)
    leaks: LeakSpec = field(default_factory=LeakSpec)
    trouble: Mapping[Trouble, float] = field(default_factory=dict)
    latency_ms: int = 0
    retry_after_s: int = 1
    truth: Path | None = None
    quota: float = 0.0
    """Requests per second; 0 is no quota."""
    quota_burst: int = 0
    """Requests at once after a quiet time; 0 is what the quota allows in a second."""
    batch_ms: int = 0
    """How long a batch takes."""


def read_faults(text: str, *, seed: int) -> Mapping[Fault, float]:
    """The shares in a JSON object `{"foreign_language": 0.06}`. Raises ConfigError."""
    try:
        return RehearsalSpec(seed=seed, faults=_rates(text, "--faults")).faults
    except ValidationError as error:
        said = "; ".join(str(problem["msg"]) for problem in error.errors())
        raise ConfigError(f"--faults: {said}", path="faults", remedy=f"known: {', '.join(Fault)}") from error


def read_leaks(text: str) -> LeakSpec:
    """The shares in a JSON object `{"memorised": 0.3}`. Raises ConfigError."""
    try:
        return LeakSpec.model_validate(_rates(text, "--leaks"))
    except ValidationError as error:
        said = "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors())
        known = ", ".join(LeakSpec.model_fields)
        raise ConfigError(f"--leaks: {said}", path="leaks", remedy=f"known: {known}") from error


def read_trouble(text: str) -> Mapping[Trouble, float]:
    """The rates in a JSON object `{"429": 0.05, "cut": 0.01}`. Raises ConfigError."""
    rates = _rates(text, "--trouble")
    known = {trouble.value for trouble in Trouble}
    if unknown := sorted(set(rates) - known):
        raise ConfigError(
            f"--trouble: unknown {', '.join(unknown)}", path="trouble", remedy=f"known: {', '.join(Trouble)}"
        )
    if any(rate < 0 for rate in rates.values()) or sum(rates.values()) > 1:
        raise ConfigError("--trouble: rates must not be negative, nor sum to more than 1", path="trouble")
    return {Trouble(name): rate for name, rate in rates.items()}


def _rates(text: str, option: str) -> dict[str, float]:
    try:
        data = orjson.loads(text or "{}")
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{option}: not valid JSON: {error}", remedy="write it as '{\"NAME\": 0.05}'") from error
    if not isinstance(data, dict) or not all(isinstance(rate, (int, float)) for rate in data.values()):
        raise ConfigError(f"{option}: wanted an object of numbers", remedy="write it as '{\"NAME\": 0.05}'")
    return {name: float(rate) for name, rate in data.items()}
