"""`assay run`, `assay plan` and `assay resume`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from core.errors import AssayError, ConfigError
from core.lab.experiment import CallEstimate
from core.lab.outcome import Outcome, Status
from core.lab.prepare import Prepared
from core.lab.runner import Mark, unmarked
from core.lab.store import RunFolder, find_run
from core.model.frozen import Frozen
from core.model.specs import PoolKind
from experiments.launch import drive, prepared, prepared_again
from experiments.places import results_root
from experiments.view import emit_json, headline, location, terminal

INTERRUPTED = 130
"""What a shell expects of a command that Ctrl-C ended."""

ConfigName = Annotated[str, typer.Argument(metavar="CONFIG", help="A name below configs/, or the path of a YAML file.")]
Assignments = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change one value, as [bold]retrieval.k=4[/].")
]
PoolChoice = Annotated[
    PoolKind | None,
    typer.Option("--pool", help="What runs the cells; else as configured, else ray for several suites. "
                 "ray starts one here, or joins $RAY_ADDRESS."),
]  # fmt: skip
Results = Annotated[Path | None, typer.Option(help="Where runs are kept; else $ASSAY_RESULTS, else ./results.")]


class PlanView(Frozen):
    """`assay plan --json`."""

    experiment: str
    name: str
    fingerprint: str
    folder: str
    status: Status | None
    """Of the run on disk; None when there is none."""
    rows: int
    """Expected."""
    cells: int
    calls: tuple[CallEstimate, ...]
    usd: float | None
    """None when the price of a model is not known."""
    notes: tuple[str, ...]


def run(
    config: ConfigName,
    assignments: Assignments = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over; the old run is kept aside.")] = False,
    pool: PoolChoice = None,
    fingerprint: Annotated[
        str | None, typer.Option("--fingerprint", metavar="HEX", help="Refuse to run anything but this run.")
    ] = None,
    results: Results = None,
) -> None:
    """Run an experiment to its report, or go on with it.

    The same configuration is the same run: stopped, it goes on where it was; finished, its result is shown.
    Exit codes: 0 ok, 1 a gate failed, 2 configuration, 3 incomplete, 4 budget used up, 5 a dependency is down,
    130 stopped by Ctrl-C.
    """
    ready, root = prepared(config, [*(assignments or ()), *_on(pool)]), results_root(results)
    _only(ready, fingerprint or "")
    if fresh:
        kept = ready.folder(root).set_aside()
        if kept is not None:
            _say(f"the run before is kept in {kept}")
    to_the_report(ready, root)


def resume(
    wanted: Annotated[str, typer.Argument(metavar="RUN", help="Folder, name, fingerprint prefix, or `latest`.")],
    assignments: Assignments = None,
    pool: PoolChoice = None,
    results: Results = None,
) -> None:
    """Go on with a run that was stopped: only what was in flight is repeated.

    `--set runtime.KEY=VALUE` changes where and how fast; anything else would be another run and is refused.
    """
    stopped = find_run(results_root(results), wanted)
    to_the_report(prepared_again(stopped, [*(assignments or ()), *_on(pool)]), stopped.path.parent.parent)


def plan(
    config: ConfigName,
    assignments: Assignments = None,
    results: Results = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Say what would run and what it would cost. Nothing is sent, nothing is written."""
    view = _planned(prepared(config, assignments or ()), results_root(results))
    if as_json:
        emit_json(view)
    else:
        _print_plan(terminal(), view)


def _on(pool: PoolKind | None) -> list[str]:
    return [f"runtime.pool={pool.value}"] if pool else []


def _only(ready: Prepared[Any], wanted: str) -> None:
    if not ready.fingerprint.startswith(wanted):
        raise ConfigError(
            f"this would be run {ready.fingerprint[:12]} and not {wanted[:12]}, the one asked for",
            path="--fingerprint",
            remedy="bring configuration, data and code to what they were, or submit again",
        )


def to_the_report(ready: Prepared[Any], root: Path, mark: Mark = unmarked) -> None:
    """Drive `ready`, show how it ended, and end the process with its exit code. Raises typer.Exit, AssayError."""
    folder = ready.folder(root)
    try:
        outcome = drive(ready, root, mark)
    except KeyboardInterrupt:
        _say(f"stopped. Every finished row is safe; go on with: {_to_go_on(folder)}")
        raise typer.Exit(INTERRUPTED) from None
    except AssayError as error:
        if not isinstance(error, ConfigError) and not any(word in error.remedy for word in ("resume", "--fresh")):
            error.remedy = f"{error.remedy + '; then: ' if error.remedy else ''}{_to_go_on(folder)}"
        raise
    _conclude(folder, outcome)
    raise typer.Exit(outcome.exit_code)


def _conclude(folder: RunFolder, outcome: Outcome) -> None:
    console = terminal()
    for line in outcome.summary:
        console.print(line, markup=False)
    headline(console, folder, outcome)
    if outcome.remedy:
        console.print(f"  fix: {outcome.remedy}", markup=False)
    if outcome.status is Status.PARTIAL:
        console.print(f"  go on with: {_to_go_on(folder)}", markup=False)
    location(console, folder)


def _planned(ready: Prepared[Any], root: Path) -> PlanView:
    folder, costs = ready.folder(root), [call.usd for call in ready.plan.calls]
    known = [usd for usd in costs if usd is not None]
    return PlanView(
        experiment=ready.experiment.name,
        name=ready.config.name,
        fingerprint=ready.fingerprint,
        folder=str(folder.path),
        status=folder.status if folder.path.exists() else None,
        rows=ready.plan.expected,
        cells=len(ready.plan.cells),
        calls=ready.plan.calls,
        usd=sum(known) if len(known) == len(costs) else None,
        notes=ready.plan.notes,
    )


def _print_plan(console: Console, view: PlanView) -> None:
    console.print(f"[bold]{view.experiment}/{view.name}[/]  {view.cells} cells, {view.rows} rows")
    console.print(f"fingerprint {view.fingerprint[:12]}, {view.status or 'not started'}: {view.folder}")
    numbers = (Column(name, justify="right", no_wrap=True) for name in ("calls", "tokens in", "tokens out", "USD"))
    table = Table("role", Column("model", overflow="fold"), *numbers, box=SIMPLE_HEAD)
    for call in view.calls:
        table.add_row(call.role, call.model, *map(_thousands, (call.calls, call.input_tokens, call.output_tokens)),
                      _money(call.usd))  # fmt: skip
    if view.calls:
        console.print(table)
    console.print(f"estimated cost: {_money(view.usd)}" if view.usd is None else f"estimated cost: USD {view.usd:.2f}")
    for note in view.notes:
        console.print(f"note: {note}", markup=False)


def _thousands(number: int) -> str:
    return f"{number:,}"


def _money(usd: float | None) -> str:
    return "not known" if usd is None else f"{usd:.2f}"


def _to_go_on(folder: RunFolder) -> str:
    """The command that resumes, as it can be pasted here: by name only where the name will be looked up."""
    is_known = folder.path.parent.parent.absolute() == results_root().absolute()
    return f"assay resume {shlex.quote(folder.path.name if is_known else str(folder.path))}"


def _say(line: str) -> None:
    Console(stderr=True, soft_wrap=True).print(line, markup=False)
