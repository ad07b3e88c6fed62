"""`assay budget`: what a run has spent, and what it may still spend."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from core.adapters.ledger import Accounts, Charge, accounts_of
from core.errors import ConfigError
from core.lab.outcome import Status
from core.lab.store import RunFolder, find_run
from core.model.frozen import Frozen
from core.model.specs import BudgetSpec
from core.policy.ledger import NOTHING, Spend
from experiments.launch import prepared_again
from experiments.places import results_root
from experiments.view import emit_json, terminal

Results = Annotated[Path | None, typer.Option(help="Where runs are kept; else $ASSAY_RESULTS, else ./results.")]


class Amount(Frozen):
    """Calls and what they cost."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0

    @classmethod
    def of(cls, charges: Iterable[Charge]) -> Amount:
        """The sum of `charges`."""
        spends = [charge.spend for charge in charges]
        total = sum(spends, NOTHING)
        return cls(calls=len(spends), tokens=total.tokens, usd=float(total.usd))


class Part(Frozen):
    """What one model cost in one role."""

    role: str
    """Empty for replies of before roles were kept."""
    model: str
    answered: Amount


class Left(Frozen):
    """Under the cap that the last driver ran with; None where it had none."""

    tokens: int | None
    usd: float | None


class BudgetView(Frozen):
    """`assay budget --json`."""

    run: str
    folder: str
    status: Status
    cap: BudgetSpec
    spent: Amount
    """All that counts: what was answered, what is held and what is lost."""
    parts: tuple[Part, ...]
    held: Amount
    """For requests of the running driver that are not answered yet, at the most that they may cost."""
    lost: Amount
    """For requests whose reply never came, at the most that they may have cost."""
    left: Left
    rows: int | None
    expected: int | None
    """None when the configuration does not compose to this run any more."""
    projected: Amount | None
    """Of the whole run, if it goes on as it did; None before the first row."""


def budget(
    wanted: Annotated[str, typer.Argument(metavar="RUN", help="Folder, name, fingerprint prefix, or `latest`.")],
    results: Results = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """What a run has spent, and what it may still spend. Works while it runs.

    A request whose reply never came is counted at the most that it may have cost, since it may have been billed.
    """
    view = viewed(find_run(results_root(results), wanted))
    if as_json:
        emit_json(view)
    else:
        _draw(terminal(), view)


def viewed(folder: RunFolder) -> BudgetView:
    """The spending of the run in `folder`. Raises StoreError."""
    status, books = folder.status, accounts_of(folder.path / "recordings")
    held, lost = _unanswered(books, status)
    cap, spent = books.cap or BudgetSpec(), books.spent
    progress = _progress(folder)
    all_of_it = Amount.of((*books.answered, *books.unanswered))
    return BudgetView(
        run=folder.name,
        folder=str(folder.path),
        status=status,
        cap=cap,
        spent=all_of_it,
        parts=_parts(books.answered),
        held=Amount.of(held),
        lost=Amount.of(lost),
        left=_left(cap, spent),
        rows=progress[0] if progress else None,
        expected=progress[1] if progress else None,
        projected=_projected(all_of_it, *progress) if progress else None,
    )


def _unanswered(books: Accounts, status: Status) -> tuple[list[Charge], list[Charge]]:
    """What may still be answered, and what is lost."""
    held = [
        charge
        for charge in books.unanswered
        if status is Status.RUNNING and charge.hold is not None and charge.hold.hold in books.since_opened
    ]
    return held, [charge for charge in books.unanswered if charge not in held]


def _parts(charges: Iterable[Charge]) -> tuple[Part, ...]:
    grouped: dict[tuple[str, str], list[Charge]] = defaultdict(list)
    for charge in charges:
        grouped[charge.role, charge.model].append(charge)
    return tuple(
        Part(role=role, model=model, answered=Amount.of(own)) for (role, model), own in sorted(grouped.items())
    )


def _left(cap: BudgetSpec, spent: Spend) -> Left:
    return Left(
        tokens=None if cap.tokens is None else max(0, cap.tokens - spent.tokens),
        usd=None if cap.usd is None else max(0.0, cap.usd - float(spent.usd)),
    )


def _progress(folder: RunFolder) -> tuple[int, int] | None:
    """Rows there and expected."""
    outcome = folder.outcome
    if outcome is not None:
        return outcome.rows, outcome.expected
    try:
        plan = prepared_again(folder).plan
    except ConfigError:
        return None
    return sum(len(folder.rows(cell.id)) for cell in plan.cells), plan.expected


def _projected(spent: Amount, rows: int, expected: int) -> Amount | None:
    if not rows:
        return None
    share = expected / rows
    return Amount(calls=round(spent.calls * share), tokens=round(spent.tokens * share), usd=spent.usd * share)


def _draw(console: Console, view: BudgetView) -> None:
    console.print(f"[bold]{view.run}[/]  {view.status.value}")
    numbers = (Column(name, justify="right", no_wrap=True) for name in ("calls", "tokens", "USD"))
    table = Table("role", Column("model", overflow="fold"), *numbers, box=SIMPLE_HEAD)
    for part in view.parts:
        table.add_row(part.role or "?", part.model, *_figures(part.answered))
    for name, amount in (("on the way", view.held), ("lost, at most", view.lost)):
        if amount.calls:
            table.add_row(name, "", *_figures(amount))
    table.add_section()
    table.add_row("spent", "", *_figures(view.spent), style="bold")
    if view.projected and view.rows != view.expected:
        table.add_row(f"projected, from {view.rows} of {view.expected} rows", "", *_figures(view.projected))
    console.print(table)
    console.print(_allowance(view))


def _figures(amount: Amount) -> tuple[str, str, str]:
    return f"{amount.calls:,}", f"{amount.tokens:,}", f"{amount.usd:.4f}"


def _allowance(view: BudgetView) -> str:
    caps = []
    if view.cap.usd is not None:
        caps.append(f"USD {view.left.usd:.4f} of {view.cap.usd:.4f}")
    if view.cap.tokens is not None:
        caps.append(f"{view.left.tokens:,} of {view.cap.tokens:,} tokens")
    return f"left: {', '.join(caps)}" if caps else "no cap; set one with --set runtime.budget.usd=..."
