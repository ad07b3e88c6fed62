"""`assay report`: a run's report as it looks today, from the rows as they stand."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from core.disk import is_object
from core.errors import ConfigError
from core.lab.store import RunFolder, find_run
from experiments.places import results_root
from experiments.publishing import is_evaluation, publish
from experiments.reports import Rendered, copy_to, rendered, rewrite
from experiments.view import terminal

PAGE = "report.html"


def report(
    wanted: Annotated[str, typer.Argument(metavar="RUN", help="Folder, name, fingerprint prefix, or `latest`.")],
    results: Annotated[
        Path | None, typer.Option(help="Where runs are kept; else $ASSAY_RESULTS, else ./results.")
    ] = None,
    to: Annotated[Path | None, typer.Option(help="Write into this folder and leave the run's own files alone.")] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    to_wandb: Annotated[bool, typer.Option("--wandb", help="Publish as a W&B Report; see docs/tracking.md.")] = False,
) -> None:
    """Write the report of a run again from its rows, or publish it.

    Page and Markdown are rendered with today's Assay; rows and report.json are read and never touched. Needs no
    parser, no model and no network.

    Example: assay report latest --open
    """
    folder = find_run(results_root(results), wanted)
    console = terminal()
    if to_wandb and not is_evaluation(folder):
        publish(folder, _say)
        return
    made = rendered(folder)
    place = _write(console, folder, made, to)
    if to_wandb:
        publish(folder, _say)
    if show:
        _open(place / PAGE)


def _say(line: str) -> None:
    terminal().print(line, markup=False)


def _write(console: Console, folder: RunFolder, made: Rendered, to: Path | None) -> Path:
    if to is None:
        changed = rewrite(folder, made.files)
        for name in made.files:
            console.print(f"  {folder.path / name}  {'written' if name in changed else 'unchanged'}", markup=False)
        return folder.path
    copy_to(to, made.files)
    for name in made.files:
        console.print(f"  {to / name}  written", markup=False)
    return to


def _open(page: Path) -> None:
    if is_object(page):
        raise ConfigError(f"{page} is on an object store", remedy="write it to this machine with --to FOLDER --open")
    if not webbrowser.open(page.resolve().as_uri()):
        raise ConfigError("no browser could be started here", remedy=f"open {page.resolve()} yourself")
