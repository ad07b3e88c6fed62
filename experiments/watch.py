"""Progress of a run: live bars on a terminal, a plain line now and then elsewhere. Both write to stderr."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from typing import Self, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from core.lab.experiment import Plan
from core.lab.status import Tally
from core.model.traffic import Steering, Traffic
from core.ports import Clock
from experiments.calls import calls_line, duration

PLAIN_INTERVAL_S = 15.0


def watcher(clock: Clock) -> LiveWatcher | PlainWatcher:
    """The watcher that fits stderr; a context manager, ended before anything else is printed."""
    console = Console(stderr=True)
    return LiveWatcher(console) if console.is_terminal else PlainWatcher(clock, sys.stderr)


class LiveWatcher:
    """One bar per suite and a line about the calls, redrawn in place."""

    def __init__(self, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _RateAndEta())
        self._progress = Progress(*columns, console=console)
        self._calls = Text("", style="dim")
        self._live = Live(Group(self._progress, self._calls), console=console, transient=True)
        self._bars: dict[str, TaskID] = {}
        self._tally: Tally | None = None

    def begin(self, plan: Plan, finished: Mapping[str, int]) -> None:
        """Draw the bars."""
        self._tally = Tally(plan, finished)
        for suite, expected in self._tally.expected.items():
            done = self._tally.done[suite]
            # Not started: a suite that waits for others has no rate yet.
            self._bars[suite] = self._progress.add_task(suite, start=False, total=expected, completed=done, before=done)

    def advance(self, cell: str, rows: int = 1) -> None:
        """Move the bar of the cell's suite."""
        if self._tally is not None:
            bar = self._bars[self._tally.advance(cell, rows)]
            self._progress.start_task(bar)
            self._progress.advance(bar, rows)

    def watch(self, traffic: Traffic, steering: Steering) -> None:
        """Say what the calls are doing."""
        self._calls.plain = calls_line(traffic, steering)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()


class PlainWatcher:
    """A line when it starts, one per suite underway at most every PLAIN_INTERVAL_S, and one when a suite is full."""

    def __init__(self, clock: Clock, stream: TextIO) -> None:
        self._clock = clock
        self._stream = stream
        self._tally: Tally | None = None
        self._said = self._last = 0.0
        self._began: dict[str, float] = {}
        self._before: Counter[str] = Counter()
        self._calls = ""

    def begin(self, plan: Plan, finished: Mapping[str, int]) -> None:
        """Say what is to be done."""
        self._tally = Tally(plan, finished)
        self._before = Counter(self._tally.done)
        self._said = self._last = self._clock.monotonic()
        going_on = f", {self._before.total()} of them done before" if self._before.total() else ""
        self._print(f"{len(plan.cells)} cells, {plan.expected} rows{going_on}")

    def advance(self, cell: str, rows: int = 1) -> None:
        """Say where things are, if it is time."""
        if self._tally is None:
            return
        suite, now = self._tally.advance(cell, rows), self._clock.monotonic()
        # A suite began when the row before its first one came: until then others had the calls.
        self._began.setdefault(suite, self._last)
        self._last = now
        if self._is_full(suite):
            self._print(self._line(suite, now))
        if now - self._said >= PLAIN_INTERVAL_S:
            self._said = now
            for each in self._began:
                if not self._is_full(each):
                    self._print(self._line(each, now))
            if self._calls:
                self._print(self._calls)

    def watch(self, traffic: Traffic, steering: Steering) -> None:
        """Kept for the next line."""
        self._calls = calls_line(traffic, steering)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def _is_full(self, suite: str) -> bool:
        return self._tally is not None and self._tally.done[suite] == self._tally.expected[suite]

    def _line(self, suite: str, now: float) -> str:
        assert self._tally is not None
        done, expected = self._tally.done[suite], self._tally.expected[suite]
        return (
            f"{suite}: {done}/{expected} {_pace(done - self._before[suite], expected - done, now - self._began[suite])}"
        )

    def _print(self, line: str) -> None:
        print(line.rstrip(), file=self._stream, flush=True)


class _RateAndEta(ProgressColumn):
    """Rows per second of this driver, and the time that the rest takes at that rate."""

    def render(self, task: Task) -> Text:
        new = int(task.completed) - int(task.fields.get("before", 0))
        return Text(_pace(new, int((task.total or 0) - task.completed), task.elapsed or 0.0), style="dim")


def _pace(new: int, left: int, seconds: float) -> str:
    if new <= 0 or seconds <= 0:
        return ""
    rate = new / seconds
    return f"{rate:.1f} rows/s" + (f", {duration(left / rate)} left" if left else f", {duration(seconds)}")
