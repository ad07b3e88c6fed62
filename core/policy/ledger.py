"""A hard budget: money and tokens are set aside before a call is sent, and settled when its real use is known.

At every moment spent + set aside <= cap. The worst case is set aside, so the cap holds whatever the replies turn out
to be; a call that does not fit waits while others' unused reserves may still come back, and is refused once they
cannot.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from decimal import Decimal

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


class Hold:
    """Money set aside for one attempt. Left unsettled it is spent in full: the attempt's use is then unknown."""

    def __init__(self, worst: Spend) -> None:
        self.worst = worst
        self.actual = worst

    def settle(self, actual: Spend) -> None:
        """State the real use; NOTHING when nothing was billed."""
        self.actual = actual


class Ledger:
    """The one budget of a run; `spent` is what an interrupted attempt at the same run has already paid."""

    def __init__(self, budget: BudgetSpec, spent: Spend = NOTHING) -> None:
        self._usd = None if budget.usd is None else Decimal(str(budget.usd))
        self._tokens = budget.tokens
        self._spent = spent
        self._held = Spend()
        self._holds = 0
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

    @contextlib.asynccontextmanager
    async def hold(self, worst: Spend) -> AsyncIterator[Hold]:
        """Set `worst` aside while the context is open; what `Hold.settle` states is spent at its end.

        Raises BudgetExhausted when `worst` does not fit and no call in flight can make it fit.
        """
        while not self._fits(self._held + worst):
            if not self._holds or not self._fits(worst):
                raise BudgetExhausted(self._refusal(worst), remedy="raise runtime.budget, then resume the run")
            self._returned.clear()
            await self._returned.wait()
        self._held += worst
        self._holds += 1
        hold = Hold(worst)
        try:
            yield hold
        finally:
            self._close(hold)

    def _close(self, hold: Hold) -> None:
        self._held -= hold.worst
        self._holds -= 1
        self._spent += hold.actual
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
