"""What the parser service tells of itself to whoever watches it: calls, refusals, lost workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Meter(Protocol):
    """Counts. Never raises, and keeps nothing that a user sent."""

    def finished(self, method: str, code: str, seconds: float) -> None:
        """A call ended with the gRPC status `code` after `seconds`."""

    def worker_ended(self, reason: str) -> None:
        """A worker process is gone."""

    def observe(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """Show `read()` as the gauge `name` whenever somebody looks."""


class Unmetered:
    """A Meter that nobody reads."""

    def finished(self, method: str, code: str, seconds: float) -> None:
        """Nothing."""

    def worker_ended(self, reason: str) -> None:
        """Nothing."""

    def observe(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """Nothing."""
