"""`assay watch`: how a run is doing, from another shell."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from core.disk import read
from core.errors import AssayError, ConfigError
from core.lab.outcome import Status
from core.lab.status import STATUS_FILE, RunStatus
from core.lab.store import RunFolder, find_run
from experiments.calls import calls_line, duration
from experiments.places import results_root
from experiments.view import emit_json, headline, terminal

LOOK_AGAIN_S = 1.0
BAR_WIDTH = 30


def watch(
    wanted: Annotated[
        str, typer.Argument(metavar="RUN", help="Folder, name, fingerprint prefix, or `latest`.")
    ] = "latest",
    once: Annotated[bool, typer.Option("--once", help="Show it once and leave.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="The status as one JSON object on stdout; implies --once.")
    ] = False,
    results: Annotated[Path | None, typer.Option(help="Where runs are; else $ASSAY_RESULTS, else ./results.")] = None,
) -> None:
    """Watch a run that another process drives, until it ends: suites, rates, calls, spending, time left.

    It only reads `status.json` in the run folder; Ctrl-C leaves the run alone.
    """
    run = find_run(results_root(results), wanted)
    if as_json:
        emit_json(_needed(run))
        return
    console = terminal()
    if once or run.status is not Status.RUNNING:
        console.print(_screen(_needed(run)))
    else:
        _follow(run)
    outcome = run.outcome
    if outcome is not None:
        headline(console, run, outcome)


def status_of(run: RunFolder) -> RunStatus | None:
    """What the last driver of `run` wrote; None when there is nothing that reads back."""
    try:
        return RunStatus.model_validate_json(read(run.path / STATUS_FILE) or b"")
    except (ValueError, AssayError):
        return None


def _needed(run: RunFolder) -> RunStatus:
    status = status_of(run)
    if status is None:
        raise ConfigError(f"{run.name} has no status: no driver got as far as its first cell",
                          file=str(run.path / STATUS_FILE), remedy="`assay show` has what there is")  # fmt: skip
    return status


def _follow(run: RunFolder) -> None:
    with Live(console=Console(), auto_refresh=False) as live:
        while run.status is Status.RUNNING:
            status = status_of(run)
            live.update(_screen(status) if status else Text("starting"), refresh=True)
            time.sleep(LOOK_AGAIN_S)  # noqa: TID251 - a terminal that is looked at, and nothing else to do meanwhile


def _screen(status: RunStatus) -> Group:
    table = Table("suite", "", "rows", "runs", box=None, pad_edge=False)
    for suite in status.suites:
        bar = ProgressBar(total=suite.expected, completed=suite.done, width=BAR_WIDTH)
        table.add_row(suite.suite, bar, f"{suite.done}/{suite.expected}", f"{suite.cells_done}/{suite.cells}")
    lines = [_pace(status)]
    if status.traffic is not None:
        lines.append(calls_line(status.traffic, status.steering))
    return Group(Text(f"{status.run}  {status.phase.value}", style="bold"), table, *map(Text, filter(None, lines)))


def _pace(status: RunStatus) -> str:
    words = [f"{status.rows}/{status.expected} rows", f"{duration(status.elapsed_s)} so far"]
    if status.rows_per_s:
        words.append(f"{status.rows_per_s:.1f} rows/s")
    if status.eta_s:
        words.append(f"{duration(status.eta_s)} left")
    return ", ".join(words)
