"""A finished run made again from what it recorded: same rows, same report, nothing sent."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import ConfigError
from core.lab.experiment import Cell, Conclusion, Coverage, Experiment, Plan, Row, RunIdentity, Session, Workspace
from core.lab.inline import closed_after
from core.lab.prepare import Prepared
from core.lab.store import RunFolder
from core.model.frozen import Frozen
from core.model.record import Provenance, RunRecord
from core.ports import Clock

MEASURED = ("elapsed_s",)
"""Fields of a row that a clock decided. A replay measures nothing: they are those of the run."""


class FileCheck(Frozen):
    """One report file of the run beside that of its replay."""

    name: str
    same: bool
    """Byte for byte."""
    differing: tuple[str, ...] = ()
    """Of a JSON file: the places that differ, at most a few."""


def replaying(
    prepared: Prepared[Any], run: RunFolder, scratch: Path, guard: Callable[[], None]
) -> tuple[Prepared[Any], Provenance]:
    """`prepared`, the configuration of `run`, as a replay in `scratch`, and the provenance that the replay has.

    `guard` is called in every process that makes rows, before the first one; it is sent there. The replay stands on
    the record of the run, so that one under which something changed (parser, index, prompts, metrics) is refused with
    what it is. Raises ConfigError when the run has no record yet, or `scratch` holds a replay of it.
    """
    record = run.record
    if record is None:
        raise ConfigError(f"{run.name} has no record: nothing was asked yet", file=str(run.path),
                          remedy="`assay resume` it first")  # fmt: skip
    replayed = replace(prepared, experiment=_Replayed(prepared.experiment, run.path, guard))
    folder = replayed.folder(scratch)
    if folder.path.exists():
        raise ConfigError(f"{folder.path} is there already", file=str(scratch), remedy="keep the replay elsewhere")
    with folder.driven():
        folder.write_model("record.json", record)
    return replayed, record.resumed_under[-1] if record.resumed_under else record.provenance


def compared(run: RunFolder, replay: RunFolder, files: Sequence[str]) -> tuple[FileCheck, ...]:
    """Each of the run's report `files` beside the replay's."""
    return tuple(_compared(name, run.path / name, replay.path / name) for name in sorted(files))


def _compared(name: str, one: Path, other: Path) -> FileCheck:
    before, after = (path.read_bytes() if path.is_file() else b"" for path in (one, other))
    if before == after:
        return FileCheck(name=name, same=True)
    differing = _differing(json.loads(before or b"{}"), json.loads(after or b"{}")) if name.endswith(".json") else ()
    return FileCheck(name=name, same=False, differing=tuple(differing)[:8])


def _differing(one: Any, other: Any, place: str = "") -> Sequence[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [*one, *(key for key in other if key not in one)]
        return [at for key in keys for at in _differing(one.get(key), other.get(key), f"{place}.{key}".lstrip("."))]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [at for n, both in enumerate(zip(one, other, strict=True)) for at in _differing(*both, f"{place}.{n}")]
    return [] if one == other else [place]


@dataclass(frozen=True)
class _Replayed:
    """An experiment whose rows take their times from the run in `folder`."""

    original: Experiment[Any]
    folder: Path
    guard: Callable[[], None]

    @property
    def name(self) -> str:
        return self.original.name

    @property
    def config_type(self) -> Any:
        return self.original.config_type

    def data_files(self, config: Any, configs: Path) -> Sequence[Path]:
        return self.original.data_files(config, configs)

    def plan(self, config: Any, configs: Path) -> Plan:
        return self.original.plan(config, configs)

    @contextlib.asynccontextmanager
    async def open(self, config: Any, workspace: Workspace, clock: Clock) -> AsyncIterator[_ReplayedSession]:
        async with self.original.open(config, workspace, clock) as session:
            yield _ReplayedSession(session, self.folder, self.guard)


@dataclass(frozen=True)
class _ReplayedSession:
    session: Session[Any]
    folder: Path
    guard: Callable[[], None]

    async def record(self, identity: RunIdentity) -> RunRecord:
        return await self.session.record(identity)

    async def rows(self, cell: Cell, finished: frozenset[str]) -> AsyncIterator[Row]:
        self.guard()
        known = RunFolder(self.folder).rows(cell.id)
        rows = self.session.rows(cell, finished)
        async with closed_after(rows):
            async for row in rows:
                yield _as_measured(row, known.get(row.id))

    def read(self, cell: Cell, stored: Sequence[str]) -> Sequence[Row]:
        return self.session.read(cell, stored)

    async def conclude(self, record: RunRecord, rows: Mapping[str, Sequence[Row]], coverage: Coverage) -> Conclusion:
        return await self.session.conclude(record, rows, coverage)


def _as_measured(row: Row, known: str | None) -> Row:
    if known is None or not isinstance(row, Frozen):
        return row
    before = json.loads(known)
    return row.model_copy(update={name: before[name] for name in MEASURED if name in before})
