"""Progress: few plain lines in a log, bars on a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from core.lab.experiment import Cell, Plan
from core.ports import Clock
from experiments.watch import LiveWatcher, PlainWatcher

PLAN = Plan(
    cells=tuple(Cell(id=f"{suite}.run-{run}", suite=suite, run=run, expected=100) for suite in "ab" for run in (1, 2))
)


class ManualClock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.time = 0.0

    def monotonic(self) -> float:
        return self.time

    def now(self) -> str:
        return ""

    async def sleep(self, seconds: float) -> None:
        self.time += seconds


def test_a_log_gets_few_lines_with_rate_and_eta() -> None:
    clock, log = ManualClock(), io.StringIO()
    manual: Clock = clock
    with PlainWatcher(manual, log) as watcher:
        watcher.begin(PLAN, {"a.run-1": 100})
        for _ in range(100):
            clock.time += 0.25
            watcher.advance("a.run-2")
            watcher.advance("b.run-1")
    lines = log.getvalue().splitlines()
    assert lines[0] == "4 cells, 400 rows, 100 of them done before"
    assert "a: 160/200 4.0 rows/s, 10 s left" in lines
    assert lines[-1] == "a: 200/200 4.0 rows/s, 25 s"
    assert len(lines) == 4


def test_a_suite_that_waited_is_not_called_slow_and_one_that_is_done_is_not_told_again() -> None:
    clock, log = ManualClock(), io.StringIO()
    manual: Clock = clock
    with PlainWatcher(manual, log) as watcher:
        watcher.begin(PLAN, {})
        for cell in ("a.run-1", "a.run-2", "b.run-1", "b.run-2"):
            for _ in range(100):
                clock.time += 0.125
                watcher.advance(cell)
    lines = log.getvalue().splitlines()
    assert lines == [
        "4 cells, 400 rows",
        "a: 120/200 8.0 rows/s, 10 s left",
        "a: 200/200 8.0 rows/s, 25 s",
        "b: 40/200 8.0 rows/s, 20 s left",
        "b: 160/200 8.0 rows/s, 5 s left",
        "b: 200/200 8.0 rows/s, 25 s",
    ]


def test_a_terminal_gets_a_bar_per_suite() -> None:
    screen = io.StringIO()
    with LiveWatcher(Console(file=screen, force_terminal=True, width=100)) as watcher:
        watcher.begin(PLAN, {"a.run-1": 100})
        watcher.advance("b.run-1", 3)
    assert "100/200" in screen.getvalue()
    assert "3/200" in screen.getvalue()
