"""What the calls of a run are doing, and what somebody who watches may change about them while they run."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from core.model.frozen import Frozen


class Flow(StrEnum):
    """Whether new calls are let through."""

    RUNNING = "running"
    PAUSED = "paused"
    """Calls in flight end; no new one begins."""


class Steering(Frozen):
    """What the calls of a run are told while they run."""

    flow: Flow = Flow.RUNNING
    concurrency: Annotated[int, Field(ge=1)] | None = None
    """Calls in flight at most, over the whole run; None is as configured."""


class Channel(Frozen):
    """The calls to one provider under one key, since this driver began."""

    name: str
    """Of the provider and its address; holds no secret."""
    sent: int = 0
    """Requests sent, repetitions included."""
    answered: int = 0
    """Whole replies received."""
    replayed: int = 0
    """Calls answered from a recording; nothing was sent."""
    limited: int = 0
    """Responses that said to slow down (429, 529)."""
    failed: int = 0
    """Other failed attempts."""
    in_flight: int = 0
    ceiling: int = 0
    """Calls that may be in flight now."""
    waiting_s: float = 0.0
    """Seconds until the next call may be sent, where the provider asked for a pause."""


class Traffic(Frozen):
    """All calls of a run."""

    channels: tuple[Channel, ...] = ()
    tokens: int = 0
    """Spent over the whole run, earlier drivers included."""
    usd: float = 0.0
    held_tokens: int = 0
    held_usd: float = 0.0
    """Set aside for calls in flight."""
