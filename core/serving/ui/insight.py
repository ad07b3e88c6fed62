"""What the pages are told by the composition root, so that they stay free of any experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.lab.store import RunFolder
from core.model.comparison import Comparison


@dataclass(frozen=True)
class Insight:
    """Where the runs are, and how they are judged. Every callable may raise core.errors, which the page shows."""

    results: Path
    faults: Callable[[RunFolder], tuple[str, ...] | None]
    """Every reason why a run's result may not be cited; None before its record is written."""
    compare: Callable[[RunFolder, RunFolder], Comparison]
    """The statistical comparison of two runs."""
