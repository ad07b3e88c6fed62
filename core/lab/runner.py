"""Running an experiment to its report: record first, rows durable, only what was in flight repeated."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from core.errors import AssayError, BudgetExhausted, ConfigError, DependencyDown, StoreError, WorkerLost
from core.lab.attendance import attended
from core.lab.continuity import changes, continued
from core.lab.experiment import Cell, ConfigT, Coverage, Row, RunIdentity, Session, Workspace
from core.lab.inline import closed_after
from core.lab.journal import Journal
from core.lab.outcome import Outcome, Status, concluded, interrupted
from core.lab.prepare import Prepared
from core.lab.progress import Watcher
from core.lab.side_by_side import side_by_side
from core.lab.store import RunFolder
from core.lab.streaming import lines_of
from core.model.record import Provenance, RunRecord
from core.model.specs import RuntimeSpec
from core.ports import Clock, Places, Pool, Workshop

OpenWorkshop = Callable[[Places, RuntimeSpec, Clock], AbstractAsyncContextManager[Workshop]]
STOPS_THE_RUN = (DependencyDown, BudgetExhausted, ConfigError, StoreError)
"""Errors of one cell after which the others cannot or must not go on."""
LIVES = 3
"""Workers that a cell may lose in a row without a single row in between."""


Mark = Callable[[RunRecord], RunRecord]
"""Completes the record of a run that begins."""


def unmarked(record: RunRecord) -> RunRecord:
    """`record` as it is: that of a run which repeats nothing."""
    return record


@dataclass(frozen=True)
class Laboratory:
    """What every run is given."""

    results: Path
    configs: Path
    cache: Path
    provenance: Provenance
    clock: Clock
    pool: Pool
    workshop: OpenWorkshop
    """What it opens can be used wherever `pool` runs cells."""
    watcher: Watcher
    mark: Mark = unmarked
    """A rerun says here what it repeats."""


async def execute(prepared: Prepared[ConfigT], lab: Laboratory) -> Outcome:
    """Run `prepared` to its end, from wherever an earlier driver left it.

    A complete run is only looked up, unless its report was lost or changed: that is written again from the rows.

    Returns the outcome of a run that got to its report, complete or partial. Raises what stopped it otherwise
    (DependencyDown, StoreError, ConfigError when the run cannot go on as it was, CancelledError); all rows
    acknowledged before are kept. A BudgetExhausted ends in a partial report.
    """
    folder = prepared.folder(lab.results)
    with folder.driven(lab.clock), folder.logging(lab.cache) as logs:
        before = folder.outcome
        if before is not None and before.status is Status.COMPLETE and folder.holds(before.files):
            return before
        folder.write("config.yaml", prepared.text.encode())
        places = Places(lab.configs, lab.cache, folder.path / "recordings", logs)
        async with (
            lab.workshop(places, prepared.config.runtime, lab.clock) as shop,
            prepared.experiment.open(prepared.config, Workspace(folder.path, lab.configs, shop), lab.clock) as session,
            attended(folder, shop, lab.watcher, lab.clock) as watcher,
        ):
            drive = _Drive(prepared, lab, folder, session, watcher)
            record = await drive.recorded()
            folder.forget_outcome()
            try:
                outcome = await drive.to_the_report(record)
            except BaseException as error:
                with contextlib.suppress(StoreError):
                    folder.write_model("outcome.json", drive.interrupted(error))
                raise
        folder.write_model("outcome.json", outcome)
        return outcome


@dataclass(frozen=True)
class _Drive:
    """One driver's work on one run folder."""

    prepared: Prepared[Any]
    lab: Laboratory
    folder: RunFolder
    session: Session[Any]
    watcher: Watcher
    done: dict[str, Sequence[Row]] = field(default_factory=dict)
    """The rows of the cells that this driver finished, read back when they were: the end does not wait for it."""

    async def recorded(self) -> RunRecord:
        """The record, on disk before anything is spent; an earlier one must still hold."""
        before = self.folder.record
        now = await self.session.record(self._identity(before))
        if before is not None:
            differing = changes(before, now)
            if differing:
                raise ConfigError(
                    f"{self.folder.name} cannot go on: {'; '.join(differing)}",
                    file=str(self.folder.path / "record.json"),
                    remedy="restore what changed, or run with --fresh (the old run is kept aside)",
                )
            now = continued(before, self.lab.provenance)
        else:
            now = self.lab.mark(now)
        if now != before:
            self.folder.write_model("record.json", now)
        return now

    async def to_the_report(self, record: RunRecord) -> Outcome:
        """Fill the cells and conclude."""
        counts = {cell.id: len(self.folder.rows(cell.id)) for cell in self.prepared.plan.cells}
        self.watcher.begin(self.prepared.plan, counts)
        trouble = await self._filled()
        rows, expected = await asyncio.to_thread(self._rows), self.prepared.plan.expected
        found = sum(map(len, rows.values()))
        conclusion = None
        if found:
            coverage = Coverage.COMPLETE if found == expected else Coverage.PARTIAL
            conclusion = await self.session.conclude(record, rows, coverage)
            for name, content in conclusion.files.items():
                self.folder.write(name, content)
        return concluded(conclusion, trouble, rows=found, expected=expected, now=self.lab.clock.now())

    def interrupted(self, error: BaseException) -> Outcome:
        """The outcome of a drive that `error` ended."""
        rows = sum(len(self.folder.rows(cell.id)) for cell in self.prepared.plan.cells)
        return interrupted(error, rows=rows, expected=self.prepared.plan.expected, now=self.lab.clock.now())

    def _identity(self, before: RunRecord | None) -> RunIdentity:
        prepared = self.prepared
        return RunIdentity(
            experiment=prepared.experiment.name,
            name=prepared.config.name,
            fingerprint=prepared.fingerprint,
            created_at=before.created_at if before else self.lab.clock.now(),
            seed=prepared.config.seed,
            provenance=self.lab.provenance,
            data=prepared.data,
        )

    async def _filled(self) -> tuple[AssayError, ...]:
        """Run the cells that are not done. Returns the errors that cost rows; raises those that stop the run."""
        todo = [cell for cell in self.prepared.plan.cells if not self.folder.is_done(cell.id)]
        trouble: list[AssayError] = []
        ends = side_by_side(self._fill, todo, limit=self.prepared.config.runtime.cells)
        async with closed_after(ends):
            async for end in ends:
                if isinstance(end.error, BudgetExhausted):
                    return (*trouble, end.error)
                if isinstance(end.error, AssayError) and not isinstance(end.error, STOPS_THE_RUN):
                    trouble.append(end.error)
                elif end.error is not None:
                    raise end.error
        return tuple(trouble)

    async def _fill(self, cell: Cell) -> None:
        with await asyncio.to_thread(self.folder.journal, cell.id) as journal:
            count = len(journal.rows) + await self._outliving(cell, journal)
        if count > cell.expected:
            raise StoreError(
                f"cell {cell.id} has {count} rows, {cell.expected} were planned: some were not made by this run",
                remedy="restore cells/ from a copy, or run again with --fresh (the old run is kept aside)",
            )
        if count == cell.expected:
            self.done[cell.id] = await asyncio.to_thread(lambda: self._read(cell, self.folder.mark_done(cell.id)))

    async def _outliving(self, cell: Cell, journal: Journal) -> int:
        """The rest of `cell`, whatever becomes of the workers that run it; how many rows that was."""
        made: set[str] = set()
        lost = 0
        while True:
            before = len(made)
            try:
                await self._append(cell, journal, made)
            except WorkerLost:
                lost = 1 if len(made) > before else lost + 1
                if lost == LIVES:
                    raise
            else:
                return len(made)

    async def _append(self, cell: Cell, journal: Journal, made: set[str]) -> None:
        """Run `cell` without the rows it has and those in `made`; what comes is durable, then added to `made`."""
        finished = frozenset(journal.rows) | made
        lines = self.lab.pool.run(partial(lines_of, self.session, cell, finished))
        async with closed_after(lines):
            async for row_id, line in lines:
                await journal.append(row_id, line)
                made.add(row_id)
                self.watcher.advance(cell.id)

    def _rows(self) -> dict[str, Sequence[Row]]:
        """What is on the disk, or was when its cell was done, in an order that does not depend on arrival. Blocks."""
        return {
            cell.id: self.done[cell.id] if cell.id in self.done else self._read(cell, self.folder.rows(cell.id))
            for cell in self.prepared.plan.cells
        }

    def _read(self, cell: Cell, stored: Mapping[str, str]) -> Sequence[Row]:
        return self.session.read(cell, [stored[row] for row in sorted(stored)])
