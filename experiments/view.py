"""How runs look on a terminal, for every command that shows one."""

from __future__ import annotations

from pydantic import BaseModel
from rich.console import Console
from rich.text import Text

from core.errors import ExitCode
from core.lab.outcome import Outcome, Status
from core.lab.store import RunFolder
from core.model.deviation import Deviation
from core.model.record import RunRecord, binding_faults

COLOURS = {
    Status.COMPLETE: "green",
    Status.PARTIAL: "yellow",
    Status.INTERRUPTED: "yellow",
    Status.RUNNING: "cyan",
}


def emit_json(view: BaseModel) -> None:
    """Print `view` on stdout as one JSON object."""
    print(view.model_dump_json(indent=2))


def terminal() -> Console:
    """Where a command's result goes: stdout, never cutting a line that a script may read."""
    return Console(soft_wrap=True, highlight=False)


def badge(faults: tuple[str, ...] | None) -> Text:
    """Whether a result may be cited; None is a run without a record."""
    if faults is None:
        return Text("no record", style="dim")
    if faults:
        return Text(f"NON-BINDING ({len(faults)})", style="bold yellow")
    return Text("BINDING", style="bold green")


def faults_of(folder: RunFolder) -> tuple[str, ...] | None:
    """The binding faults of a run as it stands, those of its report included; None before its record is written."""
    record, outcome = folder.record, folder.outcome
    if record is None:
        return None
    known = (*binding_faults(record), *(outcome.binding_faults if outcome else ()))
    if outcome is None or outcome.status is Status.INTERRUPTED:
        known = (*known, "the run has not come to its end")
    return tuple(dict.fromkeys(known))


def headline(console: Console, folder: RunFolder, outcome: Outcome) -> None:
    """Status, rows and binding in one line; the reason, when there is one, in the next."""
    status = Text(outcome.status.value, style=f"bold {COLOURS[outcome.status]}")
    faults = badge(faults_of(folder))
    console.print(Text.assemble(folder.name, "  ", status, f"  {outcome.rows}/{outcome.expected} rows  ", faults))
    if outcome.reason:
        word = "gate failed" if outcome.exit_code is ExitCode.GATE_FAILED else "reason"
        console.print(Text.assemble((f"  {word}: ", "bold red"), outcome.reason))


def draw_rerun(console: Console, record: RunRecord | None, told: tuple[Deviation, ...] = ()) -> None:
    """What the run of `record` repeats, with its deviations but for those `told` already; nothing for other runs."""
    from core.lab.report.history import deviation, rerun_sentence

    if record is None or record.rerun_of is None:
        return
    console.print(f"  {rerun_sentence(record.rerun_of)}", markup=False)
    for each in record.rerun_of.deviations:
        if each not in told:
            console.print(f"    {deviation(each)}", markup=False)


def location(console: Console, folder: RunFolder) -> None:
    """Where the files are, the report for people first."""
    order = ("report.html", "report.md", "report.json", "record.json")
    for name in order:
        if (folder.path / name).exists():
            console.print(f"  {folder.path / name}", markup=False)
