"""`assay doctor`."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from core.errors import ConfigError, ExitCode
from core.lab.nearest import did_you_mean
from core.model.frozen import Frozen
from experiments.checkup import EXTRAS, Finding, Level, findings
from experiments.view import emit_json, terminal

COLOURS = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "bold red"}


class Diagnosis(Frozen):
    """`assay doctor --json`."""

    healthy: bool
    """Nothing needed is missing."""
    findings: tuple[Finding, ...]


def doctor(
    extras: Annotated[
        list[str] | None, typer.Argument(metavar="[EXTRA]...", help=f"Check only for these: {', '.join(EXTRAS)}.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Check everything Assay needs, and say how to fix what is missing. Exit 5 when something needed is."""
    for extra in extras or ():
        if extra not in EXTRAS:
            near = did_you_mean(extra, EXTRAS)
            raise ConfigError(f"there is no extra {extra!r}", remedy=f"{near}known: {', '.join(EXTRAS)}")
    found = asyncio.run(findings(extras or EXTRAS))
    diagnosis = Diagnosis(healthy=all(f.level is not Level.FAIL for f in found), findings=tuple(found))
    if as_json:
        emit_json(diagnosis)
    else:
        _draw(terminal(), diagnosis)
    raise typer.Exit(ExitCode.OK if diagnosis.healthy else ExitCode.DEPENDENCY_DOWN)


def _draw(console: Console, diagnosis: Diagnosis) -> None:
    width = max(len(finding.check) for finding in diagnosis.findings)
    for finding in diagnosis.findings:
        level = (f"{finding.level.value:4}", COLOURS[finding.level])
        console.print(Text.assemble(level, f"  {finding.check:{width}}  {finding.detail}"))
        if finding.fix:
            console.print(Text.assemble(f"      {'':{width}}  ", ("fix: ", "green"), finding.fix))
    verdict = "Everything needed is there." if diagnosis.healthy else "Something needed is missing."
    console.print(verdict, style="bold")
