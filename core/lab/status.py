"""How a run is doing right now: written beside it by its driver, read by whoever wants to know from elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

from core.lab.experiment import Plan
from core.model.frozen import Frozen
from core.model.traffic import Flow, Steering, Traffic

STATUS_FILE = "status.json"
STEERING_FILE = "steering.json"


class Phase(StrEnum):
    """What the driver is doing."""

    RUNNING = "running"
    PAUSED = "paused"
    ENDED = "ended"
    """It has left; the outcome says how."""


class SuiteStatus(Frozen):
    """The rows of one suite."""

    suite: str
    done: int
    expected: int
    cells: int
    """Repetitions, finished or not."""
    cells_done: int


class RunStatus(Frozen):
    """`status.json`."""

    run: str
    phase: Phase
    started_at: str
    """Of this driver."""
    updated_at: str
    elapsed_s: float
    rows: int
    expected: int
    rows_before: int
    """Found by this driver: no work of its own."""
    rows_per_s: float | None = None
    """Over this driver's time; None before its first row."""
    eta_s: float | None = None
    """Seconds to the end at that rate."""
    suites: tuple[SuiteStatus, ...] = ()
    traffic: Traffic | None = None
    """None when the callers of models could not be asked."""
    steering: Steering = Steering()
    """As it is in force."""


class Tally:
    """Rows done and expected of every suite, and which suite a cell belongs to."""

    def __init__(self, plan: Plan, finished: Mapping[str, int]) -> None:
        self.suite_of = {cell.id: cell.suite for cell in plan.cells}
        self.expected: Counter[str] = Counter()
        self.done: Counter[str] = Counter()
        self._cells = {cell.id: cell.expected for cell in plan.cells}
        self._rows = Counter({cell.id: finished.get(cell.id, 0) for cell in plan.cells})
        for cell in plan.cells:
            self.expected[cell.suite] += cell.expected
            self.done[cell.suite] += finished.get(cell.id, 0)

    def advance(self, cell: str, rows: int) -> str:
        """Count `rows` more of `cell`; its suite."""
        suite = self.suite_of[cell]
        self.done[suite] += rows
        self._rows[cell] += rows
        return suite

    def suites(self) -> tuple[SuiteStatus, ...]:
        """All suites, in plan order."""
        return tuple(map(self._suite, self.expected))

    def _suite(self, suite: str) -> SuiteStatus:
        cells = [cell for cell, of in self.suite_of.items() if of == suite]
        full = sum(self._rows[cell] >= self._cells[cell] for cell in cells)
        return SuiteStatus(
            suite=suite, done=self.done[suite], expected=self.expected[suite], cells=len(cells), cells_done=full
        )


def phase_of(steering: Steering) -> Phase:
    """Of a driver that is there."""
    return Phase.PAUSED if steering.flow is Flow.PAUSED else Phase.RUNNING
