"""A bar: a measurement beside what it must be, printed alike by every bench."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

from core.model.specs import Comparator


@dataclass(frozen=True)
class Bar:
    """`measured` must be at least, or at most, `limit`; both in `unit`."""

    name: str
    measured: float
    comparator: Comparator
    limit: float
    unit: str

    @property
    def met(self) -> bool:
        """Whether the measurement passes."""
        if self.comparator is Comparator.AT_LEAST:
            return self.measured >= self.limit
        return self.measured <= self.limit

    @property
    def _ratio(self) -> str:
        return f"   ratio {self.measured / self.limit:.2f}" if self.limit else ""

    def __str__(self) -> str:
        return (
            f"{'ok  ' if self.met else 'MISS'} {self.name:<44} {self.measured:>10,.2f} {self.unit:<7} "
            f"bar {self.comparator.value} {self.limit:,g}{self._ratio}"
        )


def conclude(bars: Iterable[Bar]) -> NoReturn:
    """Print `bars` and leave: 0 when all are met, else 1."""
    missed = 0
    for bar in bars:
        print(bar, flush=True)
        missed += not bar.met
    sys.exit(1 if missed else 0)
