"""A small real experiment for the laboratory's tests, and the `assay` command with it: `python toy_lab.py run ...`.

Its rows are pure functions of configuration and data. What goes wrong is decided by files in `<configs>/trouble/`,
which are no part of the identity, so that a run can be healed and go on.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from core.errors import BudgetExhausted, EvaluationAbortedError, LlmRefused
from core.lab.experiment import (
    CallEstimate,
    Cell,
    Conclusion,
    Coverage,
    ExperimentConfig,
    PathSafe,
    Plan,
    RunIdentity,
    Workspace,
)
from core.model.frozen import Frozen, seed_for
from core.model.record import RunRecord
from core.ports import Clock


class ToySuite(Frozen):
    name: PathSafe
    factor: int = 1


class ToyConfig(ExperimentConfig):
    runs: int = 2
    words: str = "words.txt"
    floor: int = 0
    row_ms: int = 0
    suites: tuple[ToySuite, ...]


class ToyRow(Frozen):
    id: str
    value: int


class ToySession:
    def __init__(self, config: ToyConfig, workspace: Workspace, clock: Clock) -> None:
        self._config = config
        self._workspace = workspace
        self._clock = clock
        self._words = (workspace.configs / config.words).read_text().split()

    async def record(self, identity: RunIdentity) -> RunRecord:
        prompts = {"ask@1": (self._trouble("prompt") or "a" * 64)}
        return RunRecord(**identity.model_dump(), runs=self._config.runs, prompts=prompts, metrics=("m@1",), suites=())

    async def rows(self, cell: Cell, finished: frozenset[str]) -> AsyncIterator[ToyRow]:
        factor = next(suite.factor for suite in self._config.suites if suite.name == cell.suite)
        for word in self._words:
            if word not in finished:
                await self._clock.sleep(self._config.row_ms / 1000)
                if not self._fails(f"{cell.id}/{word}"):
                    yield ToyRow(id=word, value=factor * (seed_for(self._config.seed, cell.run, word) % 1000))

    def read(self, cell: Cell, stored: Sequence[str]) -> Sequence[ToyRow]:
        return [ToyRow.model_validate_json(row) for row in stored]

    async def conclude(self, record: RunRecord, rows: Mapping[str, Sequence[ToyRow]], coverage: Coverage) -> Conclusion:
        values = {cell: [row.value for row in cells] for cell, cells in rows.items()}
        total = sum(map(sum, values.values()))
        report = {"coverage": coverage.value, "fingerprint": record.fingerprint, "values": values, "total": total}
        gates = (f"total {total} < {self._config.floor}",) if total < self._config.floor else ()
        usable = 0 if self._trouble("useless") is not None else sum(map(len, values.values()))
        files = {"report.json": json.dumps(report, indent=1).encode()}
        faults = ("rows are missing",) if coverage is Coverage.PARTIAL else ()
        return Conclusion(files, usable, gates, (f"total {total}",), faults)

    def _fails(self, place: str) -> bool:
        with (self._workspace.configs / "calls.log").open("a") as log:
            log.write(f"{place}\n")
        if self._trouble("down") == place:
            raise EvaluationAbortedError("AVAP Parser unreachable. MSVL cannot be bypassed.", remedy="start the parser")
        if self._trouble("budget") == place:
            raise BudgetExhausted("the next call would pass the cap of USD 1.00", remedy="raise runtime.budget.usd")
        if self._trouble("refused") == place:
            raise LlmRefused("prompt is too long", status=400)
        if self._trouble("bug") == place:
            raise ZeroDivisionError("a bug")
        return self._trouble("missing") == place

    def _trouble(self, kind: str) -> str | None:
        file = self._workspace.configs / "trouble" / kind
        return file.read_text() if file.exists() else None


class Toy:
    name = "toy"
    config_type = ToyConfig

    def data_files(self, config: ToyConfig, configs: Path) -> Sequence[Path]:
        return (configs / config.words,)

    def plan(self, config: ToyConfig, configs: Path) -> Plan:
        rows = len((configs / config.words).read_text().split())
        cells = tuple(
            Cell(id=f"{suite.name}.run-{run:02}", suite=suite.name, run=run, expected=rows)
            for suite in config.suites
            for run in range(1, config.runs + 1)
        )
        calls = CallEstimate(role="generator", model="toy-1", calls=rows * len(cells), input_tokens=10, usd=0.5)
        return Plan(cells=cells, calls=(calls,), notes=("a toy",))

    @contextlib.asynccontextmanager
    async def open(self, config: ToyConfig, workspace: Workspace, clock: Clock) -> AsyncIterator[ToySession]:
        yield ToySession(config, workspace, clock)


def main() -> None:
    from experiments.__main__ import main as assay
    from experiments.registry import EXPERIMENTS

    EXPERIMENTS["toy"] = "toy_lab:Toy"
    assay()


if __name__ == "__main__":
    os.environ.setdefault("NO_COLOR", "1")
    main()
