"""`assay replay`: the report of a run made again from its recordings, with the network shut off."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from core.adapters.clock import SystemClock
from core.disk import is_object
from core.errors import ConfigError, ExitCode, RunIncomplete
from core.lab.outcome import Outcome
from core.lab.replay import FileCheck, compared, replaying
from core.lab.runner import Laboratory
from core.lab.store import RunFolder, find_run
from core.model.frozen import Frozen
from core.model.record import RunRecord
from experiments.engine import engine
from experiments.launch import driven, prepared_again
from experiments.places import cache_root, configs_root, results_root
from experiments.view import emit_json, terminal
from experiments.watch import watcher


class ReplayView(Frozen):
    """`assay replay --json`."""

    run: str
    rows: int
    workers: int
    same: bool
    """Whether every report file is the same, byte for byte."""
    files: tuple[FileCheck, ...]


def replay(
    wanted: Annotated[str, typer.Argument(metavar="RUN", help="Folder, name, fingerprint prefix, or `latest`.")],
    workers: Annotated[int, typer.Option(min=1, help="Processes to spread it over; 1 is this one.")] = 1,
    keep: Annotated[Path | None, typer.Option(help="Keep the replay in this folder; else it is thrown away.")] = None,
    results: Annotated[Path | None, typer.Option(help="Where runs are; else $ASSAY_RESULTS, else ./results.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Make the report of a run again from what it recorded, and compare the two byte for byte.

    No model, parser or key is needed, and none is reached: the network is shut off first. This is how a campaign whose
    judge has been retired is run again. Exit codes: 0 the same, 1 something differs, 2 it is another run today
    (configuration, data, parser, prompts), 3 a reply was never recorded.
    """
    run = find_run(results_root(results), wanted)
    if keep is not None:
        _conclude(_replayed(run, keep, workers), as_json)
    with TemporaryDirectory(prefix="assay-replay-") as scratch:
        view = _replayed(run, Path(scratch), workers)
    _conclude(view, as_json)


def _replayed(run: RunFolder, scratch: Path, workers: int) -> ReplayView:
    from core.adapters.offline import Reach, shut_off
    from core.adapters.replaying import Replay

    record, outcome = _whole(run)
    settings = ["runtime.pool=inline"] if workers == 1 else ["runtime.pool=ray", f"runtime.ray.workers={workers}"]
    guard = partial(shut_off, Reach.NOWHERE if workers == 1 else Reach.LOOPBACK)
    again = prepared_again(run, [*settings, "runtime.ray.address=local"])
    prepared, provenance = replaying(again, run, scratch, guard)
    guard()
    pool, workshop = engine(prepared, Replay(run.path / "recordings", record))
    clock = SystemClock()
    with watcher(clock) as watching:
        lab = Laboratory(scratch, configs_root(), cache_root(), provenance, clock, pool, workshop, watching)
        made = driven(prepared, lab)
    if made.rows < outcome.rows:
        raise RunIncomplete(f"{run.name} cannot be replayed: {made.reason}", run_dir=str(run.path), remedy=made.remedy)
    files = compared(run, prepared.folder(scratch), tuple(outcome.files))
    same = all(file.same for file in files)
    return ReplayView(run=run.name, rows=made.rows, workers=workers, same=same, files=files)


def _whole(run: RunFolder) -> tuple[RunRecord, Outcome]:
    """What `run` stands on and how it ended, with every row there. Raises ConfigError, RunIncomplete."""
    if is_object(run.path):
        raise ConfigError(
            f"{run.name} is on an object store, which a replay cannot reach: it shuts the network off",
            file=str(run.path), remedy="copy its folder here, and name that",
        )  # fmt: skip
    record, outcome = run.record, run.outcome
    if record is None or outcome is None or not outcome.files:
        raise ConfigError(f"{run.name} has no report yet", file=str(run.path), remedy="`assay resume` it first")
    if outcome.rows < outcome.expected:
        raise RunIncomplete(
            f"{run.name} has {outcome.rows} of {outcome.expected} rows: what is missing was never recorded",
            run_dir=str(run.path), remedy="`assay resume` it first",
        )  # fmt: skip
    return record, outcome


def _conclude(view: ReplayView, as_json: bool) -> None:
    if as_json:
        emit_json(view)
    else:
        _tell(terminal(), view)
    raise typer.Exit(ExitCode.OK if view.same else ExitCode.GATE_FAILED)


def _tell(console: Console, view: ReplayView) -> None:
    for file in view.files:
        console.print(f"{'same  ' if file.same else 'DIFFERS'} {file.name}", markup=False)
        for place in file.differing:
            console.print(f"        {place}", markup=False)
    verdict = "the same, byte for byte" if view.same else "not the same"
    console.print(f"{view.run}: {view.rows} rows replayed, nothing sent; the report is {verdict}", markup=False)
