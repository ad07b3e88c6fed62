"""A hard budget: money and tokens are set aside before a call is sent, and settled when its real use is known.

At every moment spent + held <= cap. The worst case is held, so the cap stands whatever the replies turn out to be; a
call that does not fit waits while others' unused reserves may still come back, and is refused once they cannot.

Callers know a Budget, of two methods, so that one Ledger can serve several processes through a proxy of it. A Book
makes it survive its own process: a hold is written down before its call is sent.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

from core.errors import BudgetExhausted
from core.model.prompt import Usage
from core.model.specs import BudgetSpec


@dataclass(frozen=True)
class Spend:
    """Tokens of every kind, and US dollars; exact, so that a thousand additions still reach the cap to the cent."""

    tokens: int = 0
    usd: Decimal = Decimal(0)

    @classmethod
    def of(cls, usage: Usage, usd: Decimal) -> Spend:
        """What `usage` counts against a budget; cached tokens are tokens too."""
        tokens = usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        return cls(tokens, usd)

    def __add__(self, other: Spend) -> Spend:
        return Spend(self.tokens + other.tokens, self.usd + other.usd)

    def __sub__(self, other: Spend) -> Spend:
        return Spend(self.tokens - other.tokens, self.usd - other.usd)


NOTHING = Spend()


class Sent(StrEnum):
    """Whether the request that a claim is for has gone out."""

    NOT_YET = "not yet"
    BEFORE = "before"
    """An earlier process sent it and its reply is still to come (a batch): its old hold is taken over."""


@dataclass(frozen=True)
class Claim:
    """What one attempt may cost at most, and for whom."""

    worst: Spend
    address: str = ""
    """Of the reply among the recordings: `<folder>/<key>`. One attempt at a time has it."""
    role: str = ""
    model: str = ""
    owner: str = ""
    """The channel that sends it; see Budget.forfeit."""
    sent: Sent = Sent.NOT_YET


class Budget(Protocol):
    """What a caller needs of a ledger; all of it can be sent to another process."""

    @property
    def caps_usd(self) -> bool:
        """Whether there is a cap in dollars, which needs known prices."""

    async def reserve(self, claim: Claim) -> str:
        """Set `claim.worst` aside; the id to settle it under. Raises BudgetExhausted, StoreError."""

    async def settle(self, hold: str, actual: Spend | None) -> None:
        """State the real use of a hold: NOTHING when nothing was billed, None (all of it) when nobody knows.

        Cancelling the wait for it does not undo it.
        """

    async def forfeit(self, owner: str) -> None:
        """Spend every open hold of `owner` in full: its process died, and what it sent may be billed."""


class Book(Protocol):
    """Where a ledger's holds are written down."""

    async def reserved(self, hold: str, claim: Claim) -> None:
        """Durable on return, where there is a cap to keep. Raises StoreError when it is not."""

    def settled(self, hold: str, actual: Spend) -> None:
        """Durable soon: until then, and without it, the hold counts in full."""


@dataclass(frozen=True)
class Balance:
    """Where a ledger starts: what earlier processes left."""

    spent: Spend = NOTHING
    """All that was or may have been billed, `lost` included."""
    lost: Mapping[str, tuple[str, Spend]] = field(default_factory=dict)
    """By address: holds that were never settled and have no reply, with their ids."""
    holds: int = 0
    """Holds ever made, so that ids stay unique."""


class Hold:
    """Money set aside for one attempt. Left unsettled it is spent in full: the attempt's use is then unknown."""

    def __init__(self) -> None:
        self.actual: Spend | None = None

    def settle(self, actual: Spend) -> None:
        """State the real use; NOTHING when nothing was billed."""
        self.actual = actual


@contextlib.asynccontextmanager
async def hold(budget: Budget, claim: Claim) -> AsyncIterator[Hold]:
    """Set `claim.worst` aside while the context is open; what `Hold.settle` states is spent at its end.

    Raises as Budget.reserve.
    """
    number = await budget.reserve(claim)
    held = Hold()
    try:
        yield held
    finally:
        await budget.settle(number, held.actual)


class Ledger:
    """The one budget of a run, on one event loop."""

    def __init__(self, budget: BudgetSpec, balance: Balance | None = None, book: Book | None = None) -> None:
        before = balance or Balance()
        self._usd = None if budget.usd is None else Decimal(str(budget.usd))
        self._tokens = budget.tokens
        self._spent = before.spent
        self._lost = dict(before.lost)
        self._numbers = before.holds
        self._book = book
        self._held = NOTHING
        self._open: dict[str, Claim] = {}
        self._returned = asyncio.Event()

    @property
    def caps_usd(self) -> bool:
        """Whether there is a cap in dollars, which needs known prices."""
        return self._usd is not None

    @property
    def spent(self) -> Spend:
        """Settled so far, with what the run began with."""
        return self._spent

    @property
    def held(self) -> Spend:
        """Set aside for attempts in flight."""
        return self._held

    async def reserve(self, claim: Claim) -> str:
        """As Budget.reserve; refused when `claim.worst` does not fit and no call in flight can make it fit."""
        if claim.sent is Sent.BEFORE and claim.address in self._lost:
            return self._taken_over(claim)
        while not self._fits(self._held + claim.worst):
            if not self._open or not self._fits(claim.worst):
                raise BudgetExhausted(self._refusal(claim.worst), remedy="raise runtime.budget, then resume the run")
            self._returned.clear()
            await self._returned.wait()
        self._numbers += 1
        number = str(self._numbers)
        self._begin(number, claim)
        await self._written(number, claim)
        return number

    async def settle(self, hold: str, actual: Spend | None) -> None:
        """As Budget.settle. A hold that is not open any more is left alone: it was forfeited."""
        if hold not in self._open:
            return
        self._close(hold, actual)
        if self._book is not None and actual is not None:
            self._book.settled(hold, actual)

    async def forfeit(self, owner: str) -> None:
        """As Budget.forfeit. The book keeps them unsettled: who opens it next sees which replies were recorded."""
        for number in [number for number, claim in self._open.items() if claim.owner == owner]:
            self._close(number, None)

    async def _written(self, number: str, claim: Claim) -> None:
        if self._book is None:
            return
        try:
            await self._book.reserved(number, claim)
        except BaseException:
            # It may be in the book or not; nothing was sent.
            await self.settle(number, NOTHING)
            raise

    def _taken_over(self, claim: Claim) -> str:
        number, worst = self._lost.pop(claim.address)
        self._spent -= worst
        self._begin(number, Claim(worst, claim.address, claim.role, claim.model, claim.owner))
        return number

    def _begin(self, number: str, claim: Claim) -> None:
        self._held += claim.worst
        self._open[number] = claim

    def _close(self, number: str, actual: Spend | None) -> None:
        claim = self._open.pop(number)
        if actual is None:
            self._lost[claim.address] = number, claim.worst
        self._held -= claim.worst
        self._spent += claim.worst if actual is None else actual
        self._returned.set()

    def _fits(self, wanted: Spend) -> bool:
        total = self._spent + wanted
        usd_fits = self._usd is None or total.usd <= self._usd
        return usd_fits and (self._tokens is None or total.tokens <= self._tokens)

    def _refusal(self, worst: Spend) -> str:
        caps = [f"{self._tokens} tokens"] if self._tokens is not None else []
        caps += [f"${self._usd}"] if self._usd is not None else []
        return (
            f"the budget of {' and '.join(caps)} leaves no room for the next call: "
            f"spent {self._spent.tokens} tokens (${self._spent.usd}), "
            f"the call may need {worst.tokens} tokens (${worst.usd}); it was not sent"
        )
