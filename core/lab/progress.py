"""Watching a run: what the runner tells, and the watcher that says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from core.lab.experiment import Plan
from core.model.traffic import Steering, Traffic


class Watcher(Protocol):
    """A core.ports.Progress that is also told the plan first. Must not raise."""

    def begin(self, plan: Plan, finished: Mapping[str, int]) -> None:
        """The run starts; `finished` counts the rows that each cell has from before."""

    def advance(self, cell: str, rows: int = 1) -> None:
        """`rows` more rows of `cell` are durable."""

    def watch(self, traffic: Traffic, steering: Steering) -> None:
        """What the language-model calls are doing, every second or so."""


class Silent:
    """Watches nothing; also a core.ports.Progress."""

    def begin(self, plan: Plan, finished: Mapping[str, int]) -> None:
        """Say nothing."""

    def advance(self, cell: str, rows: int = 1) -> None:
        """Say nothing."""

    def watch(self, traffic: Traffic, steering: Steering) -> None:
        """Say nothing."""
