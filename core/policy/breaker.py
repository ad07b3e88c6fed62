"""A circuit breaker: after repeated failures a dependency is left alone for a while, then asked once (ADR-0009).

CLOSED    --threshold consecutive failures--> OPEN
OPEN      --cooldown over, somebody asks----> HALF_OPEN: that call is the one probe
HALF_OPEN --probe succeeds------------------> CLOSED
HALF_OPEN --probe fails---------------------> OPEN
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from core.errors import ConfigError
from core.ports import Clock


class State(StrEnum):
    """Where the circuit is."""

    CLOSED = "CLOSED"
    """Calls pass."""
    OPEN = "OPEN"
    """No call passes."""
    HALF_OPEN = "HALF-OPEN"
    """One call passes, to see."""


@dataclass(frozen=True)
class BreakerPolicy:
    """When to open and for how long."""

    threshold: int = 3
    """Consecutive failures that open the circuit."""
    cooldown_s: float = 30.0
    """Seconds from opening to the probe."""

    def __post_init__(self) -> None:
        if self.threshold < 1 or not (math.isfinite(self.cooldown_s) and self.cooldown_s >= 0):
            raise ConfigError(
                f"a breaker with threshold {self.threshold} and cooldown {self.cooldown_s} s cannot work",
                remedy="use a threshold of 1 or more and a finite cooldown",
            )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """What PARSER_CB_THRESHOLD and PARSER_CB_COOLDOWN (seconds) say, else the defaults. Raises ConfigError."""
        threshold = _number(environment, "PARSER_CB_THRESHOLD", cls.threshold)
        if threshold % 1:
            raise ConfigError("PARSER_CB_THRESHOLD is a count", path="PARSER_CB_THRESHOLD", remedy="use a whole number")
        return cls(int(threshold), _number(environment, "PARSER_CB_COOLDOWN", cls.cooldown_s))


def _number(environment: Mapping[str, str], name: str, default: float) -> float:
    text = environment.get(name, "").strip()
    try:
        return float(text) if text else default
    except ValueError:
        raise ConfigError(f"{name} is {text!r}, not a number", path=name, remedy=f"unset it for {default:g}") from None


class Permit:
    """Leave to make one call. Report its end exactly once; what a later report says is ignored."""

    def __init__(self, breaker: Breaker, era: int) -> None:
        self._breaker = breaker
        self._era = era
        self._reported = False

    def succeeded(self) -> None:
        """The dependency answered; what it answered does not matter."""
        self._report(self._breaker._succeeded)  # noqa: SLF001  the two are one

    def failed(self) -> None:
        """The dependency did not answer, or not in time."""
        self._report(self._breaker._failed)  # noqa: SLF001

    def abandoned(self) -> None:
        """The call was given up for reasons of ours: no evidence."""
        self._report(self._breaker._abandoned)  # noqa: SLF001

    def _report(self, end: Callable[[int], None]) -> None:
        if not self._reported:
            self._reported = True
            end(self._era)


class Breaker:
    """One circuit. Not for several threads; `then` is told of every change of state."""

    def __init__(self, policy: BreakerPolicy, clock: Clock, then: Callable[[State], None] | None = None) -> None:
        self._policy = policy
        self._clock = clock
        self._then = then
        self._state = State.CLOSED
        self._failures = 0
        self._opened_at = 0.0
        self._probing = False
        # A call belongs to the era it began in: what ends after a change of state says nothing about the new state.
        self._era = 0

    @property
    def state(self) -> State:
        """Where the circuit is; OPEN lasts until a call is asked for after the cooldown."""
        return self._state

    @property
    def passes(self) -> bool:
        """Whether `admit` would give a permit now."""
        if self._state is State.OPEN:
            return self._clock.monotonic() - self._opened_at >= self._policy.cooldown_s
        return not self._probing

    def admit(self) -> Permit | None:
        """Leave to make one call; None means: do not call. In HALF_OPEN only one permit is out at a time."""
        if not self.passes:
            return None
        if self._state is State.OPEN:
            self._change(State.HALF_OPEN)
        self._probing = self._state is State.HALF_OPEN
        return Permit(self, self._era)

    def _succeeded(self, era: int) -> None:
        if era != self._era:
            return
        self._failures = 0
        if self._state is State.HALF_OPEN:
            self._change(State.CLOSED)

    def _failed(self, era: int) -> None:
        if era != self._era:
            return
        self._failures += 1
        if self._state is State.HALF_OPEN or self._failures >= self._policy.threshold:
            self._opened_at = self._clock.monotonic()
            self._change(State.OPEN)

    def _abandoned(self, era: int) -> None:
        if era == self._era:
            self._probing = False

    def _change(self, state: State) -> None:
        self._state = state
        self._failures = 0
        self._probing = False
        self._era += 1
        if self._then is not None:
            self._then(state)
