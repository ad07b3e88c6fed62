"""The budget of a run on disk: every hold before its call is sent, so that no crash spends what nobody counted.

`recordings/ledger.jsonl` has one line per event: a driver opened it under a cap, a hold was made, a hold was settled.
The recordings are the other witness. A hold that was never settled was either answered, and then its recording says
what it cost, or its reply was lost, and then it counts in full.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from pydantic import ValidationError

from core.adapters.lines import Lines, read, texts, writing
from core.adapters.record import replies_in
from core.adapters.recording import Recording
from core.errors import StoreError
from core.model.frozen import Frozen
from core.model.specs import BudgetSpec
from core.policy.ledger import NOTHING, Balance, Claim, Ledger, Spend
from core.ports import Clock

FILE = "ledger.jsonl"


class Opened(Frozen):
    """A driver began, under this cap."""

    opened: str
    """When."""
    cap: BudgetSpec


class Held(Frozen):
    """A hold; `address` names the reply it is for."""

    hold: str
    address: str
    role: str
    model: str
    tokens: int
    usd: Decimal


class Settled(Frozen):
    """What a hold came to. Nothing at all: no reply, and no bill."""

    settled: str
    tokens: int
    usd: Decimal


Entry = Opened | Held | Settled


@dataclass(frozen=True)
class Charge:
    """One thing that was paid for, or may have been."""

    role: str
    model: str
    spend: Spend
    hold: Held | None = None
    """Set where the reply is missing: lost, or still on its way."""


@dataclass(frozen=True)
class Accounts:
    """Everything that a run has spent."""

    answered: tuple[Charge, ...]
    unanswered: tuple[Charge, ...]
    """In full: nobody knows what they came to."""
    since_opened: frozenset[str]
    """The holds made by the last driver."""
    cap: BudgetSpec | None
    """Of the last driver; None before there was one."""

    @property
    def spent(self) -> Spend:
        """All of it."""
        return sum((charge.spend for charge in (*self.answered, *self.unanswered)), NOTHING)


class LedgerBook:
    """core.policy.ledger.Book in a file."""

    def __init__(self, lines: Lines, cap: BudgetSpec) -> None:
        self._lines = lines
        self._capped = cap.usd is not None or cap.tokens is not None

    async def reserved(self, hold: str, claim: Claim) -> None:
        """Without a cap nothing depends on it, and no call waits for it."""
        worst = claim.worst
        entry = Held(
            hold=hold, address=claim.address, role=claim.role, model=claim.model, tokens=worst.tokens, usd=worst.usd
        )
        if self._capped:
            await self._lines.append(entry.model_dump_json().encode())
        else:
            self._lines.note(entry.model_dump_json().encode())

    def settled(self, hold: str, actual: Spend) -> None:
        """Goes with the next hold, or at the end."""
        self._lines.note(Settled(settled=hold, tokens=actual.tokens, usd=actual.usd).model_dump_json().encode())


@contextlib.asynccontextmanager
async def open_ledger(recordings: Path, cap: BudgetSpec, clock: Clock) -> AsyncIterator[Ledger]:
    """The budget of the run whose recordings are in `recordings`, for one process, from what earlier ones left.

    Raises StoreError when the file is damaged, cannot be written, or is another process's.
    """
    async with writing(recordings / FILE, clock) as lines:
        entries = parsed(texts(lines.found), recordings / FILE)
        replies = await asyncio.to_thread(replies_in, recordings)
        lines.note(Opened(opened=clock.now(), cap=cap).model_dump_json().encode())
        yield Ledger(cap, balance(entries, replies), LedgerBook(lines, cap))


def accounts_of(recordings: Path) -> Accounts:
    """What the run whose recordings are in `recordings` has spent, also while it runs. Raises StoreError."""
    # The ledger first: a reply that is recorded meanwhile then answers a hold; the other way round it would be lost.
    entries = parsed(texts(read(recordings / FILE)), recordings / FILE)
    return accounts(entries, replies_in(recordings))


def parsed(lines: Sequence[str], file: Path) -> tuple[Entry, ...]:
    """The entries of a ledger. Raises StoreError naming the line that is none."""
    return tuple(_entry(line, file, number) for number, line in enumerate(lines, start=1))


def balance(entries: Sequence[Entry], replies: Mapping[str, Recording]) -> Balance:
    """Where the next driver starts."""
    books = accounts(entries, replies)
    lost = {charge.hold.address: (charge.hold.hold, charge.spend) for charge in books.unanswered if charge.hold}
    return Balance(books.spent, lost, holds=sum(isinstance(entry, Held) for entry in entries))


def accounts(entries: Sequence[Entry], replies: Mapping[str, Recording]) -> Accounts:
    """Every hold and every reply, each counted once.

    `replies` are the recordings by address. A reply belongs to the hold of its address that was settled with a use, or
    else to the last one that was not settled: attempts at one address follow each other.
    """
    holds = {entry.hold: entry for entry in entries if isinstance(entry, Held)}
    settled = {entry.settled: Spend(entry.tokens, entry.usd) for entry in entries if isinstance(entry, Settled)}
    paid = {hold.address for number, hold in holds.items() if settled.get(number, NOTHING) != NOTHING}
    last_open = {hold.address: number for number, hold in holds.items() if number not in settled}
    recorded = [reply for address, reply in replies.items() if address not in paid]
    met = {last_open[address] for address in replies if address in last_open and address not in paid}
    used = ((hold, settled.get(number, NOTHING)) for number, hold in holds.items())
    return Accounts(
        answered=(
            *(Charge(hold.role, hold.model, spend) for hold, spend in used if spend != NOTHING),
            *(_recorded(reply) for reply in recorded),
        ),
        unanswered=tuple(
            Charge(hold.role, hold.model, Spend(hold.tokens, hold.usd), hold)
            for number, hold in holds.items()
            if number not in settled and number not in met
        ),
        since_opened=_since_opened(entries),
        cap=next((entry.cap for entry in reversed(entries) if isinstance(entry, Opened)), None),
    )


def _recorded(reply: Recording) -> Charge:
    return Charge(reply.role, reply.model, Spend.of(reply.usage, Decimal(str(reply.cost_usd))))


def _since_opened(entries: Iterable[Entry]) -> frozenset[str]:
    made: set[str] = set()
    for entry in entries:
        if isinstance(entry, Opened):
            made.clear()
        elif isinstance(entry, Held):
            made.add(entry.hold)
    return frozenset(made)


def _entry(line: str, file: Path, number: int) -> Entry:
    kind = next((kind for mark, kind in _KINDS.items() if line.startswith(mark)), Held)
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        raise StoreError(
            f"{file}:{number}: no entry of a ledger",
            file=str(file),
            line=number,
            remedy="restore the file from a copy, or run again with --fresh (the old run is kept aside)",
        ) from error


_KINDS: Mapping[str, type[Entry]] = {'{"opened"': Opened, '{"hold"': Held, '{"settled"': Settled}
