"""`assay rerun`: an earlier run or a published campaign again, and everything in which the two differ."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from rich.console import Console

from core.adapters.clock import SystemClock
from core.lab.outcome import Status
from core.lab.prepare import Prepared
from core.lab.provenance import gather
from core.lab.report.history import deviation
from core.lab.runner import Mark
from core.model.deviation import Deviation
from core.model.record import RunRecord
from experiments.commands.run import Assignments, PoolChoice, Results, to_the_report
from experiments.originals import Original, Publication, StoredRun, original_of
from experiments.places import results_root
from experiments.rerunning import known_before, marked
from experiments.view import draw_rerun, terminal


def rerun(
    wanted: Annotated[
        str, typer.Argument(metavar="RUN|CAMPAIGN", help="A run as `assay show` takes it, or a configuration's name.")
    ],
    assignments: Assignments = None,
    pool: PoolChoice = None,
    results: Results = None,
    only_plan: Annotated[
        bool, typer.Option("--plan", help="Only say what would be done otherwise; start nothing.")
    ] = False,
) -> None:
    """Repeat an earlier run and say what differs.

    A new run, named after the original, from its stored configuration with what `--set` changes. Every deviation is
    listed and kept in its record: configuration, data, retired models, parser, prompts, packages. A run whose result
    may be had again without asking anyone is replayed instead: `assay replay`.

    Example: assay rerun april --set judge.model=claude-opus-4-5-20251101
    """
    root = results_root(results)
    original = original_of(wanted, root)
    settings = [*(assignments or ()), *([f"runtime.pool={pool.value}"] if pool else [])]
    again, console = original.again(settings), terminal()
    known = _announced(console, original, again)
    if known is None or only_plan:
        return
    try:
        to_the_report(again, root, _marker(original, again))
    finally:
        draw_rerun(console, again.folder(root).record, known)


def _announced(console: Console, original: Original, again: Prepared[Any]) -> tuple[Deviation, ...] | None:
    """Say which deviations are known before the start, and return them; None when there is nothing to run."""
    what = original.what
    if isinstance(what, Publication):
        console.print(f"repeats {what.name}, which kept no record: deviations are told with the result", markup=False)
        return ()
    known = known_before(original, again, gather(os.environ, sys.argv), SystemClock().now())
    if not known:
        console.print(
            f"no deviation: this would be the same run. `assay show {what.folder.path.name}` has its result, "
            "`assay replay` makes its report again from what it recorded",
            markup=False,
        )
        return None
    console.print(f"repeats {what.name} ({_standing(what)}); known before the start:", markup=False)
    for each in known:
        console.print(f"  {deviation(each)}", markup=False)
    return known


def _standing(what: StoredRun) -> str:
    status = what.folder.status
    return "complete" if status is Status.COMPLETE else f"{status.value}: it has no whole result to compare with"


def _marker(original: Original, again: Prepared[Any]) -> Mark:
    today = SystemClock().now()

    def mark(record: RunRecord) -> RunRecord:
        return marked(original, again, record, today)

    return mark
