"""`assay replay`: the report of a run made again from its recordings, with the network shut off."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console

from core.adapters.clock import SystemClock
from core.errors import ConfigError, ExitCode
from core.lab.replay import FileCheck, compared, replaying
from core.lab.runner import Laboratory
from core.lab.store import RunFolder, find_run
from core.model.frozen import Frozen
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

    settings = ["runtime.pool=inline"] if workers == 1 else ["runtime.pool=ray", f"runtime.ray.workers={workers}"]
    prepared, provenance = replaying(prepared_again(run, [*settings, "runtime.ray.address=local"]), run, scratch)
    record, outcome = run.record, run.outcome
    if record is None or outcome is None:
        raise ConfigError(f"{run.name} has no report yet", file=str(run.path), remedy="`assay resume` it first")
    shut_off(Reach.NOWHERE if workers == 1 else Reach.LOOPBACK)
    pool, workshop = engine(prepared, Replay(run.path / "recordings", record))
    clock = SystemClock()
    with watcher(clock) as watching:
        lab = Laboratory(scratch, configs_root(), cache_root(), provenance, clock, pool, workshop, watching)
        again = driven(prepared, lab)
    files = compared(run, prepared.folder(scratch), tuple(outcome.files))
    same = all(file.same for file in files)
    return ReplayView(run=run.name, rows=again.rows, workers=workers, same=same, files=files)


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
