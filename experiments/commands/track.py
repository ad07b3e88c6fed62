"""`assay track sync` and `assay track status`: Weights & Biases as a copy of the record."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from core.adapters.track import OFFLINE, TargetState, state
from core.adapters.track.view import View
from core.errors import ConfigError
from core.lab.lock import is_driven
from core.lab.store import RunFolder, find_run
from core.model.frozen import Frozen
from core.model.specs import TrackMode
from experiments.follower import Child
from experiments.places import results_root
from experiments.tracked import target_of
from experiments.tracker import Task
from experiments.tracking import home, kept, stage_of, views_of
from experiments.view import emit_json, terminal

app = typer.Typer(no_args_is_help=True, help="Weights & Biases as a copy of the record.")

Wanted = Annotated[str, typer.Argument(metavar="RUN", help="Folder, name, fingerprint prefix, or `latest`.")]
Results = Annotated[Path | None, typer.Option(help="Where runs are kept; else $ASSAY_RESULTS, else ./results.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]


class SyncState(StrEnum):
    """How far W&B is with one of its runs."""

    SENT = "sent"
    BEHIND = "behind"
    """The record has more, or other things."""
    NEVER = "not sent"


COLOURS = {SyncState.SENT: "green", SyncState.BEHIND: "yellow", SyncState.NEVER: "yellow"}


class TrackedLine(Frozen):
    """One W&B run."""

    id: str
    name: str
    job_type: str
    state: SyncState
    points: int
    """Of its curves, in the record."""
    tables: int
    artifacts: int
    url: str


class TargetView(Frozen):
    """One place that W&B runs are, or could be, sent to."""

    target: str
    runs: tuple[TrackedLine, ...]
    failure: str
    """Why the last attempt did not get through; empty otherwise."""


class TrackStatus(Frozen):
    """`assay track status --json`."""

    run: str
    folder: str
    """Where W&B's files of this run are."""
    under_way: bool
    """Whether a process is sending or writing now."""
    targets: tuple[TargetView, ...]


@app.command("sync")
def sync_command(
    wanted: Wanted,
    online: Annotated[bool, typer.Option("--online", help="Send to the server; needs WANDB_API_KEY.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Write files below the run, for `wandb sync`.")] = False,
    project: Annotated[str | None, typer.Option(help="\\[ENTITY/]PROJECT of W&B; else as configured.")] = None,
    deadline_s: Annotated[float, typer.Option("--deadline", min=1.0, help="Seconds after which to give up.")] = 600.0,
    results: Results = None,
) -> None:
    """Bring W&B to what the run's folder holds. Repeating it changes nothing and doubles nothing.

    Exit codes: 0 W&B is up to date, 2 configuration, 5 W&B did not take everything in time.
    """
    folder = find_run(results_root(results), wanted)
    target = target_of(folder, _mode(online=online, offline=offline), project or "")
    views_of(folder)  # a run that cannot be read is told here, with its remedy
    Child.start(folder, target, Task.SEND).finish(deadline_s, _say)
    _draw(terminal(), _status(folder, (target.name,)))


@app.command("status")
def status_command(wanted: Wanted, results: Results = None, as_json: AsJson = False) -> None:
    """What W&B has of a run, and what is still to be sent. Asks nobody: it goes by the state file and the record."""
    folder = find_run(results_root(results), wanted)
    known = [name for name in state.read(home(folder)).targets if name != OFFLINE]
    view = _status(folder, (OFFLINE, *known))
    if as_json:
        emit_json(view)
    else:
        _draw(terminal(), view)


def _mode(*, online: bool, offline: bool) -> TrackMode | None:
    if online and offline:
        raise ConfigError("--online and --offline exclude each other", remedy="give one of them")
    return TrackMode.ONLINE if online else TrackMode.OFFLINE if offline else None


def _status(folder: RunFolder, names: Sequence[str]) -> TrackStatus:
    views = views_of(folder, stage_of(folder))
    targets = tuple(_target_view(folder, name, views) for name in names)
    under_way = is_driven(home(folder) / "lock")
    return TrackStatus(run=folder.name, folder=str(home(folder)), under_way=under_way, targets=targets)


def _target_view(folder: RunFolder, name: str, views: Sequence[View]) -> TargetView:
    known = kept(home(folder), name)
    return TargetView(target=name, runs=tuple(_line(view, known) for view in views), failure=known.failure)


def _line(view: View, known: TargetState) -> TrackedLine:
    sent = known.sent.get(view.id)
    how = SyncState.NEVER if sent is None else SyncState.SENT if sent.digest == view.digest else SyncState.BEHIND
    return TrackedLine(
        id=view.id,
        name=view.name,
        job_type=view.job_type,
        state=how,
        points=len(view.history),
        tables=len(view.tables),
        artifacts=len(view.used) + len(view.made),
        url=sent.url if sent else "",
    )


def _draw(console: Console, status: TrackStatus) -> None:
    if status.under_way:
        console.print(f"{status.run}  is being sent or written now", markup=False)
    for target in status.targets:
        where = f"{status.folder}/{OFFLINE}" if target.target == OFFLINE else target.target
        console.print(Text.assemble(status.run, "  ", (target.target, "bold")))
        for line in target.runs:
            counts = f"{line.points} points, {line.tables} tables, {line.artifacts} artifacts"
            what = f"  {line.job_type} {line.name}  {counts}  {line.url or line.id}"
            console.print(Text.assemble("  ", (line.state, COLOURS[line.state]), what))
        if target.failure:
            console.print(f"  last attempt: {target.failure}", markup=False)
        if any(line.state is not SyncState.NEVER for line in target.runs):
            console.print(f"  {where}", markup=False)


def _say(line: str) -> None:
    Console(stderr=True, soft_wrap=True).print(line, markup=False)
