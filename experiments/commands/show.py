"""`assay show` and `assay list`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from core.errors import StoreError
from core.lab.outcome import Outcome, Status
from core.lab.store import RunFolder, find_run, runs
from core.model.frozen import Frozen
from core.model.legacy import Fact
from core.model.record import RunRecord
from experiments.imports import Import, find_import, imports
from experiments.legacy_view import draw_import
from experiments.places import results_root
from experiments.view import COLOURS, badge, draw_rerun, emit_json, faults_of, headline, location, terminal

Results = Annotated[Path | None, typer.Option(help="Where runs are kept; else $ASSAY_RESULTS, else ./results.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]


class RunView(Frozen):
    """`assay show --json`."""

    run: str
    folder: str
    status: Status
    binding_faults: tuple[str, ...] | None
    """None before the record is written."""
    outcome: Outcome | None
    record: RunRecord | None


class RunLine(Frozen):
    """One run of `assay list --json`."""

    run: str
    folder: str
    status: Status | None
    """None when the run does not read back."""
    rows: int | None
    expected: int | None
    exit_code: int | None
    binding: bool | None
    created_at: str
    fault: str = ""


class ImportLine(Frozen):
    """One imported evaluation of `assay list --json`. It is never binding."""

    name: str
    folder: str
    entries: int | None
    """None when it does not read back."""
    date: str = ""
    """As the file has it."""
    fault: str = ""


class RunLines(Frozen):
    """`assay list --json`."""

    results: str
    runs: tuple[RunLine, ...]
    legacy: tuple[ImportLine, ...] = ()


def show(
    wanted: Annotated[str, typer.Argument(metavar="RUN", help="Folder, name, fingerprint prefix, or `latest`.")],
    results: Results = None,
    as_json: AsJson = False,
) -> None:
    """Show one run, or one imported evaluation: result, binding faults, record, files."""
    root = results_root(results)
    imported = find_import(root, wanted)
    if imported is not None:
        _show_import(imported, as_json=as_json)
        return
    folder = find_run(root, wanted)
    view = RunView(
        run=folder.name,
        folder=str(folder.path),
        status=folder.status,
        binding_faults=faults_of(folder),
        outcome=folder.outcome,
        record=folder.record,
    )
    if as_json:
        emit_json(view)
    else:
        _draw(terminal(), folder, view)


def list_runs(results: Results = None, as_json: AsJson = False) -> None:
    """List all runs, the one touched last first, and below them all imported evaluations."""
    root = results_root(results)
    legacy = tuple(map(_import_line, imports(root)))
    lines = RunLines(results=str(root), runs=tuple(map(_line, runs(root))), legacy=legacy)
    if as_json:
        emit_json(lines)
    else:
        _draw_list(terminal(), lines)


def _line(folder: RunFolder) -> RunLine:
    try:
        outcome, record, faults = folder.outcome, folder.record, faults_of(folder)
        status: Status | None = folder.status
    except StoreError as error:
        return RunLine(run=folder.name, folder=str(folder.path), status=None, rows=None, expected=None,
                       exit_code=None, binding=None, created_at="", fault=str(error))  # fmt: skip
    return RunLine(
        run=folder.name,
        folder=str(folder.path),
        status=status,
        rows=outcome.rows if outcome else None,
        expected=outcome.expected if outcome else None,
        exit_code=outcome.exit_code if outcome else None,
        binding=None if faults is None else not faults,
        created_at=record.created_at if record else "",
    )


def _show_import(imported: Import, *, as_json: bool) -> None:
    found = imported.evaluation()
    if as_json:
        emit_json(found)
    else:
        draw_import(terminal(), imported, found)


def _import_line(imported: Import) -> ImportLine:
    try:
        found = imported.evaluation()
    except StoreError as error:
        return ImportLine(name=imported.name, folder=str(imported.path), entries=None, fault=str(error))
    date = found.facts[Fact.DATE].value if Fact.DATE in found.facts else ""
    return ImportLine(name=imported.name, folder=str(imported.path), entries=len(found.entries), date=str(date))


def _draw_list(console: Console, lines: RunLines) -> None:
    if not lines.runs and not lines.legacy:
        console.print(f"no runs in {lines.results} yet; start one with: assay run msvl", markup=False)
        return
    narrow = (Column(name, no_wrap=True) for name in ("status", "rows", "exit", "binding", "begun"))
    table = Table(Column("run", overflow="fold"), *narrow, box=SIMPLE_HEAD)
    binding = {True: Text("BINDING", style="green"), False: Text("non-binding", style="yellow"), None: Text("")}
    for line in lines.runs:
        status = Text(line.status, style=COLOURS[line.status]) if line.status else Text("damaged", style="red")
        rows = "" if line.rows is None else f"{line.rows}/{line.expected}"
        code = "" if line.exit_code is None else str(line.exit_code)
        table.add_row(line.run, status, rows, code, binding[line.binding], line.created_at[:16].replace("T", " "))
    for each in lines.legacy:
        status = Text("damaged", style="red") if each.fault else Text("legacy", style="dim")
        rows = "" if each.entries is None else str(each.entries)
        table.add_row(each.name, status, rows, "", binding[False], each.date[:16].replace("T", " "))
    console.print(table)


def _draw(console: Console, folder: RunFolder, view: RunView) -> None:
    if view.outcome is None:
        console.print(Text.assemble(folder.name, "  ", (view.status.value, f"bold {COLOURS[view.status]}"), "  ",
                                    badge(view.binding_faults)))  # fmt: skip
    else:
        headline(console, folder, view.outcome)
        for line in view.outcome.summary:
            console.print(line, markup=False)
    for fault in view.binding_faults or ():
        console.print(Text.assemble(("  not citable: ", "yellow"), fault))
    if view.record is not None:
        _draw_record(console, view.record)
    draw_rerun(console, view.record)
    location(console, folder)


def _draw_record(console: Console, record: RunRecord) -> None:
    code = f"commit {record.provenance.commit[:12] or 'unknown'}{' (dirty)' if record.provenance.dirty else ''}"
    console.print(f"  begun {record.created_at}, seed {record.seed}, {record.runs} runs, {code}", markup=False)
    for suite in record.suites:
        judged = f"judged by {suite.judge.model}" if suite.judge else "judged by no model"
        line = (f"  {suite.suite}: {suite.generator.model} {judged}, {suite.retrieval_mode} over "
                f"{suite.index.name}@{suite.index.version} ({suite.index.count} passages), "
                f"parser {suite.parser.version} {suite.parser.vocabulary}")  # fmt: skip
        console.print(line, markup=False)
