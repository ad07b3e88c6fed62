"""An experiment that pays for its rows, and a process that forks drivers of it: `python paying_lab.py`.

It reads `{"url": ..., "root": ...}` lines, forks one driver for each, prints the driver's pid and, once it is gone, its
exit code (-9 when it was killed). Everything is imported once, so that a driver starts in milliseconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

# Imported before the first fork: the drivers' own imports are then free.
import core.adapters.llm.chat  # noqa: F401
from core.adapters.build import workshop
from core.adapters.clock import SystemClock
from core.errors import AssayError
from core.lab.config import compose
from core.lab.experiment import (
    Cell,
    Conclusion,
    Coverage,
    ExperimentConfig,
    Plan,
    RunIdentity,
    Workspace,
)
from core.lab.inline import InlinePool
from core.lab.prepare import Prepared, prepare
from core.lab.progress import Silent
from core.lab.provenance import gather
from core.lab.runner import Laboratory, execute
from core.model.frozen import Frozen
from core.model.prompt import Prompt, Role, Turn
from core.model.record import RunRecord
from core.model.specs import ModelSpec, Provider
from core.ports import Clock, Llm

MODEL = "paid:1"
PROVENANCE = gather({}, ("assay",))


class PayingConfig(ExperimentConfig):
    rows: int = 30
    max_tokens: int = 200


class PaidRow(Frozen):
    id: str
    text: str


class PayingSession:
    def __init__(self, config: PayingConfig, llm: Llm) -> None:
        self._config = config
        self._llm = llm

    async def record(self, identity: RunIdentity) -> RunRecord:
        return RunRecord(**identity.model_dump(), runs=1, prompts={"ask@1": "a" * 64}, metrics=("m@1",), suites=())

    async def rows(self, cell: Cell, finished: frozenset[str]) -> AsyncIterator[PaidRow]:
        wanted = [str(number) for number in range(cell.expected) if str(number) not in finished]
        calls = [asyncio.ensure_future(self._row(name)) for name in wanted]
        try:
            for call in asyncio.as_completed(calls):
                yield await call
        finally:
            for waiting in calls:
                waiting.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    async def _row(self, name: str) -> PaidRow:
        turns = (Turn(role=Role.USER, text=f"{name} " * (1 + int(name) % 7)),)
        asked = Prompt(name="ask@1", model=MODEL, system="", turns=turns, max_tokens=self._config.max_tokens)
        return PaidRow(id=name, text=(await self._llm.complete(asked)).text)

    def read(self, cell: Cell, stored: Sequence[str]) -> Sequence[PaidRow]:
        return [PaidRow.model_validate_json(row) for row in stored]

    async def conclude(
        self, record: RunRecord, rows: Mapping[str, Sequence[PaidRow]], coverage: Coverage
    ) -> Conclusion:
        found = sum(map(len, rows.values()))
        report = {"coverage": coverage.value, "rows": found, "fingerprint": record.fingerprint}
        return Conclusion({"report.json": json.dumps(report).encode()}, usable=found)


class Paying:
    name = "paying"
    config_type = PayingConfig

    def data_files(self, config: PayingConfig, configs: Path) -> Sequence[Path]:
        return ()

    def plan(self, config: PayingConfig, configs: Path) -> Plan:
        return Plan(cells=(Cell(id="main.run-01", suite="main", run=1, expected=config.rows),))

    @contextlib.asynccontextmanager
    async def open(self, config: PayingConfig, workspace: Workspace, clock: Clock) -> AsyncIterator[PayingSession]:
        spec = ModelSpec(provider=Provider.OPENAI, model=MODEL, max_tokens=config.max_tokens)
        yield PayingSession(config, await workspace.shop.llm(spec, "generator", None))


class HurriedClock(SystemClock):
    """Waits a fiftieth of what it is asked to."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 50)


def prepared(root: Path, url: str) -> Prepared[PayingConfig]:
    return prepare(
        Paying(), compose(root / "paying.yaml", configs=root, assignments=[f"runtime.generator_url={url}"]), root
    )


def laboratory(root: Path) -> Laboratory:
    return Laboratory(
        results=root / "results",
        configs=root,
        cache=root / "cache",
        provenance=PROVENANCE,
        clock=HurriedClock(),
        pool=InlinePool(),
        workshop=workshop,
        watcher=Silent(),
    )


def drive(root: Path, url: str) -> int:
    """One driver's life; its exit code."""
    try:
        return int(asyncio.run(execute(prepared(root, url), laboratory(root))).exit_code)
    except AssayError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return int(error.exit_code)


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if pid == 0:
            os._exit(drive(Path(asked["root"]), asked["url"]))
        _say(pid)
        _say(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
