"""Which sampling parameters really reach a model."""

from __future__ import annotations

from core.model.record import SamplingStatus
from core.model.specs import ModelSpec, Provider

_TAKES_TEMPERATURE = frozenset({"2023-06-01"})
"""Anthropic API versions that take `temperature`; the one that the SDK sends by itself answers 400."""


def sends_temperature(spec: ModelSpec) -> bool:
    """Whether the API that `spec` is called through takes a temperature."""
    return spec.provider is Provider.OPENAI or spec.api_version in _TAKES_TEMPERATURE


def temperature_status(spec: ModelSpec) -> SamplingStatus:
    """What becomes of the configured temperature."""
    if spec.temperature is None:
        return SamplingStatus.NOT_ASKED
    return SamplingStatus.SENT if sends_temperature(spec) else SamplingStatus.REFUSED_BY_API


def seed_status(spec: ModelSpec) -> SamplingStatus:
    """Chat completions are sent the repetition as their seed; the Messages API has no seed to ask for."""
    return SamplingStatus.SENT if spec.provider is Provider.OPENAI else SamplingStatus.NOT_ASKED


def temperature_for(asked: float | None, spec: ModelSpec) -> float | None:
    """The temperature to send: the prompt's, else the model's, and none where the API takes none."""
    if not sends_temperature(spec):
        return None
    return asked if asked is not None else spec.temperature
