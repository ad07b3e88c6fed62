"""The rows of one model by question, arm and run, and measures of them as matrices over questions x runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.measure.clusters import Floats
from core.measure.rates import wilson
from core.measure.statistics import clustered_interval
from core.model.interval import Interval
from core.model.leakage import Arm, AuditedRow, ShareOf
from core.model.sample import GoldenQuestion, QueryType

Reading = Callable[[AuditedRow], float | None]
"""One measure of one row; None where it does not apply."""


@dataclass(frozen=True)
class Table:
    """The rows of one model. Questions are in order of their ids, runs from 1."""

    questions: tuple[GoldenQuestion, ...]
    runs: int
    rows: dict[tuple[str, Arm, int], AuditedRow]

    def row(self, question: str, arm: Arm, run: int) -> AuditedRow | None:
        """One answer, where there is one."""
        return self.rows.get((question, arm, run))

    def of(self, arm: Arm) -> list[AuditedRow]:
        """The answers of one arm, by question, then run."""
        places = ((question.id, run) for question in self.questions for run in range(1, self.runs + 1))
        return [row for question, run in places if (row := self.row(question, arm, run)) is not None]

    def material(self, row: AuditedRow) -> AuditedRow:
        """The answer to the same question in the same run that was shown everything: what `row` could have known.

        Arms that withhold documents or examples are held against the very texts that they were not shown. The row
        itself where the full arm has no answer.
        """
        return self.row(row.id, Arm.BOTH, row.run) or row

    @cached_property
    def after_code(self) -> tuple[str, ...]:
        """Questions that call for code: by their type, or because an answer with all material bears some."""
        bearing = {row.id for row in self.of(Arm.BOTH) if row.syntax is not None}
        return tuple(q.id for q in self.questions if q.type is QueryType.CODE_GENERATION or q.id in bearing)

    def matrix(self, arm: Arm, read: Reading, questions: Sequence[str]) -> Floats:
        """`read` over `questions` x runs; NaN where there is no answer or it does not apply."""
        values = [[self._read(question, arm, run, read) for run in range(1, self.runs + 1)] for question in questions]
        return np.array(values, dtype=np.float64).reshape(len(questions), self.runs)

    def _read(self, question: str, arm: Arm, run: int, read: Reading) -> float:
        row = self.row(question, arm, run)
        value = None if row is None else read(row)
        return float("nan") if value is None else value


def table(rows: Iterable[AuditedRow], questions: Sequence[GoldenQuestion], runs: int) -> Table:
    """The table of one model's rows. Raises ValueError for a row that is there twice."""
    found: dict[tuple[str, Arm, int], AuditedRow] = {}
    for row in rows:
        place = (row.id, row.arm, row.run)
        if place in found:
            raise ValueError(f"{row.suite}: {row.id} was answered twice under {row.arm} in run {row.run}")
        found[place] = row
    return Table(tuple(sorted(questions, key=lambda question: question.id)), runs, found)


def share_of(values: Floats) -> ShareOf:
    """The mean of `values[question, run]` over all that is there, with its interval."""
    scored = [[float(value) for value in line if not np.isnan(value)] for line in values]
    scored = [line for line in scored if line]
    every = [value for line in scored for value in line]
    mean = float(np.mean(every)) if every else None
    return ShareOf(mean=mean, interval=_interval(scored, mean), n_questions=len(scored), n_answers=len(every))


def _interval(scored: Sequence[Sequence[float]], mean: float | None) -> Interval | None:
    if mean in (0.0, 1.0):
        # Clusters that never vary have no error to measure; each counts once, however often it was asked.
        low, high = wilson(round(mean * len(scored)), len(scored))
        return Interval(low=low, high=high)
    found = clustered_interval(scored)
    if not isinstance(found, Interval):
        return None
    return Interval(low=max(0.0, found.low), high=min(1.0, found.high), level=found.level)
