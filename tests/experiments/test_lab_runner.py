"""The laboratory as an experiment and a user meet it: identity, resumption, every ending."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TypeVar

import pytest
from toy_lab import Toy, ToyConfig

from core.adapters.build import workshop
from core.adapters.clock import SystemClock
from core.errors import ConfigError, EvaluationAbortedError, ExitCode, StoreError, WorkerLost
from core.lab.config import compose
from core.lab.inline import InlinePool, closed_after
from core.lab.lock import only_driver
from core.lab.outcome import Outcome, Status
from core.lab.prepare import Prepared, prepare
from core.lab.progress import Silent
from core.lab.provenance import gather
from core.lab.runner import LIVES, Laboratory, execute
from core.lab.store import RunFolder
from core.model.record import Provenance, binding_faults
from core.ports import Pool

WORDS = "one two three four five six seven eight"


class Bench:
    """A configs root, a results root, and a laboratory over them."""

    def __init__(self, root: Path) -> None:
        self.configs = root / "configs"
        self.results = root / "results"
        (self.configs / "trouble").mkdir(parents=True)
        (self.configs / "words.txt").write_text(WORDS)
        self.provenance = gather({}, ("assay",)).model_copy(update={"commit": "c" * 40, "dirty": False})

    def prepared(self, *assignments: str) -> Prepared[ToyConfig]:
        file = self.configs / "toy.yaml"
        file.write_text("experiment: toy\nname: it\nsuites: [{name: a}, {name: b, factor: 2}]\n")
        return prepare(Toy(), compose(file, configs=self.configs, assignments=assignments), self.configs)

    async def run(self, *assignments: str, provenance: Provenance | None = None, pool: Pool | None = None) -> Outcome:
        lab = Laboratory(
            results=self.results,
            configs=self.configs,
            cache=self.results / "cache",
            provenance=provenance or self.provenance,
            clock=SystemClock(),
            pool=pool or InlinePool(),
            workshop=workshop,
            watcher=Silent(),
        )
        return await execute(self.prepared(*assignments), lab)

    def folder(self, *assignments: str) -> RunFolder:
        return self.prepared(*assignments).folder(self.results)

    def trouble(self, kind: str, text: str = "") -> None:
        (self.configs / "trouble" / kind).write_text(text)

    def heal(self) -> None:
        for file in (self.configs / "trouble").iterdir():
            file.unlink()

    def calls(self) -> Counter[str]:
        return Counter((self.configs / "calls.log").read_text().split())

    def report(self) -> bytes:
        return (self.folder().path / "report.json").read_bytes()


Result = TypeVar("Result")


class DyingPool:
    """Its worker dies once it has given so many rows."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.deaths = 0

    async def run(self, source: Callable[[], AsyncIterator[Result]]) -> AsyncIterator[Result]:
        left, rows = self.rows, source()
        async with closed_after(rows):
            async for row in rows:
                if not left:
                    self.deaths += 1
                    raise WorkerLost("killed")
                left -= 1
                yield row


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "bench")


@pytest.fixture
async def reference(tmp_path: Path) -> bytes:
    """The report of a run that nothing disturbed."""
    other = Bench(tmp_path / "reference")
    assert (await other.run()).exit_code is ExitCode.OK
    return other.report()


class TestIdentity:
    def test_same_words_same_run_and_one_literal_another(self, bench: Bench) -> None:
        assert bench.prepared().fingerprint == bench.prepared().fingerprint
        assert bench.prepared().fingerprint != bench.prepared("suites.1.factor=3").fingerprint

    def test_where_and_how_fast_is_not_identity(self, bench: Bench) -> None:
        assert bench.prepared().fingerprint == bench.prepared("runtime.cells=7", "runtime.budget.usd=1").fingerprint

    def test_data_is_identity(self, bench: Bench) -> None:
        before = bench.prepared().fingerprint
        (bench.configs / "words.txt").write_text(f"{WORDS} nine")
        assert bench.prepared().fingerprint != before


class TestSuccess:
    async def test_everything_is_on_disk(self, bench: Bench) -> None:
        outcome = await bench.run()
        folder = bench.folder()
        assert (outcome.status, outcome.exit_code, outcome.rows) == (Status.COMPLETE, ExitCode.OK, 32)
        assert folder.outcome == outcome
        assert folder.record is not None
        assert folder.record.data.keys() == {"words.txt"}
        assert sorted(path.name for path in folder.path.iterdir()) == [
            "cells", "config.yaml", "lock", "outcome.json", "record.json", "report.json", "status.json",
        ]  # fmt: skip
        assert all((folder.path / "cells" / cell.id / "done.json").exists() for cell in bench.prepared().plan.cells)

    async def test_again_is_only_looked_up(self, bench: Bench) -> None:
        first = await bench.run()
        assert await bench.run("runtime.cells=1") == first
        assert set(bench.calls().values()) == {1}

    async def test_report_does_not_depend_on_the_pool_width(self, bench: Bench, reference: bytes) -> None:
        await bench.run("runtime.cells=1")
        assert bench.report() == reference

    async def test_missed_gate(self, bench: Bench) -> None:
        outcome = await bench.run("floor=1000000")
        assert (outcome.status, outcome.exit_code) == (Status.COMPLETE, ExitCode.GATE_FAILED)
        assert "1000000" in outcome.reason


class TestInterruption:
    async def test_dependency_down_stops_all_and_resumes(self, bench: Bench, reference: bytes) -> None:
        bench.trouble("down", "b.run-01/five")
        with pytest.raises(EvaluationAbortedError, match="cannot be bypassed"):
            await bench.run()
        folder = bench.folder()
        assert folder.outcome is not None
        assert (folder.outcome.status, folder.outcome.exit_code) == (Status.INTERRUPTED, ExitCode.DEPENDENCY_DOWN)
        assert folder.outcome.remedy == "start the parser"
        assert "five" not in folder.rows("b.run-01")
        bench.heal()
        assert (await bench.run()).exit_code is ExitCode.OK
        assert bench.report() == reference

    async def test_finished_rows_are_not_repeated(self, bench: Bench) -> None:
        bench.trouble("down", "b.run-01/five")
        with pytest.raises(EvaluationAbortedError):
            await bench.run("runtime.cells=1")
        bench.heal()
        await bench.run("runtime.cells=1")
        assert bench.calls()["b.run-01/five"] == 2
        assert sum(bench.calls().values()) == 33

    async def test_budget_ends_in_a_partial_report(self, bench: Bench, reference: bytes) -> None:
        bench.trouble("budget", "a.run-02/three")
        outcome = await bench.run("runtime.cells=1")
        assert (outcome.status, outcome.exit_code, outcome.rows) == (Status.PARTIAL, ExitCode.BUDGET, 10)
        assert "cap of USD 1.00" in outcome.reason
        assert json.loads(bench.report())["coverage"] == "partial"
        bench.heal()
        assert (await bench.run()).exit_code is ExitCode.OK
        assert bench.report() == reference

    async def test_a_refused_cell_costs_no_other(self, bench: Bench) -> None:
        bench.trouble("refused", "a.run-01/two")
        outcome = await bench.run()
        assert (outcome.status, outcome.exit_code, outcome.rows) == (Status.PARTIAL, ExitCode.INCOMPLETE, 25)
        assert "7 of 32 rows are missing" in outcome.reason
        assert "prompt is too long" in outcome.reason

    async def test_a_missing_row_is_incomplete(self, bench: Bench, reference: bytes) -> None:
        bench.trouble("missing", "a.run-01/two")
        outcome = await bench.run()
        assert (outcome.exit_code, outcome.rows) == (ExitCode.INCOMPLETE, 31)
        bench.heal()
        await bench.run()
        assert bench.report() == reference

    async def test_no_evidence_is_never_success(self, bench: Bench) -> None:
        bench.trouble("useless")
        outcome = await bench.run()
        assert (outcome.status, outcome.exit_code) == (Status.PARTIAL, ExitCode.INCOMPLETE)
        assert "holds any evidence" in outcome.reason

    async def test_nothing_at_all_has_no_report(self, bench: Bench) -> None:
        bench.trouble("refused", "a.run-01/one")
        outcome = await bench.run("runs=1", "suites=[{name: a}]")
        assert (outcome.status, outcome.exit_code, outcome.files) == (Status.PARTIAL, ExitCode.INCOMPLETE, {})

    async def test_a_bug_keeps_the_rows(self, bench: Bench, reference: bytes) -> None:
        bench.trouble("bug", "b.run-02/eight")
        with pytest.raises(ZeroDivisionError):
            await bench.run("runtime.cells=1")
        folder = bench.folder()
        assert folder.outcome is not None
        assert (folder.outcome.rows, folder.outcome.exit_code) == (31, ExitCode.INCOMPLETE)
        bench.heal()
        await bench.run()
        assert bench.report() == reference

    async def test_cancellation_is_an_interruption(self, bench: Bench, reference: bytes) -> None:
        running = asyncio.create_task(bench.run("row_ms=3600000"))
        while not (bench.folder("row_ms=3600000").path / "record.json").exists():
            await SystemClock().sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert bench.folder("row_ms=3600000").status is Status.INTERRUPTED


class TestGoingOn:
    async def test_refused_when_the_record_no_longer_holds(self, bench: Bench) -> None:
        bench.trouble("down", "b.run-01/five")
        with pytest.raises(EvaluationAbortedError):
            await bench.run()
        bench.heal()
        bench.trouble("prompt", "b" * 64)
        with pytest.raises(ConfigError, match=r"prompts\.ask@1: was 'aaa") as caught:
            await bench.run()
        assert "--fresh" in caught.value.remedy
        outcome = bench.folder().outcome
        assert outcome is not None
        assert outcome.exit_code is ExitCode.DEPENDENCY_DOWN

    async def test_other_code_is_noted_and_not_binding(self, bench: Bench) -> None:
        bench.trouble("down", "b.run-01/five")
        with pytest.raises(EvaluationAbortedError):
            await bench.run()
        bench.heal()
        await bench.run(provenance=bench.provenance.model_copy(update={"commit": "d" * 40, "argv": ("other",)}))
        record = bench.folder().record
        assert record is not None
        assert [later.commit for later in record.resumed_under] == ["d" * 40]
        assert any("dddd" in fault for fault in binding_faults(record))

    async def test_two_drivers_are_one_too_many(self, bench: Bench) -> None:
        folder = bench.folder()
        folder.path.mkdir(parents=True)
        with only_driver(folder.path / "lock"), pytest.raises(StoreError, match="another process"):
            await bench.run()

    async def test_rows_changed_behind_our_back_are_noticed(self, bench: Bench) -> None:
        bench.trouble("missing", "b.run-01/five")
        await bench.run()
        file = bench.folder().path / "cells" / "a.run-01" / "samples.jsonl"
        file.write_text(file.read_text().replace("value", "valve", 1))
        with pytest.raises(StoreError, match="not what it was"):
            await bench.run()

    async def test_set_aside_keeps_everything(self, bench: Bench) -> None:
        await bench.run()
        report = bench.report()
        kept = bench.folder().set_aside()
        assert kept is not None
        assert (kept / "report.json").read_bytes() == report
        assert bench.folder().set_aside() is None
        await bench.run()
        assert bench.report() == report
        assert bench.folder().set_aside() != kept

    def test_an_empty_plan_is_refused(self, bench: Bench) -> None:
        with pytest.raises(ConfigError, match="no rows"):
            bench.prepared("runs=0")


class TestLostWorkers:
    async def test_a_cell_outlives_any_number_of_workers_that_get_something_done(self, bench: Bench) -> None:
        pool = DyingPool(rows=1)
        outcome = await bench.run(pool=pool)
        assert (outcome.exit_code, outcome.rows) == (ExitCode.OK, 32)
        assert pool.deaths > LIVES

    async def test_workers_that_get_nothing_done_are_not_tried_for_ever(self, bench: Bench) -> None:
        pool = DyingPool(rows=0)
        outcome = await bench.run(pool=pool)
        assert (outcome.exit_code, outcome.rows) == (ExitCode.INCOMPLETE, 0)
        assert "killed" in outcome.reason
        assert pool.deaths == LIVES * 4, "of each of the four cells"
        assert (await bench.run()).exit_code is ExitCode.OK
