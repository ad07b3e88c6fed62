"""The budget holds under every interleaving."""

import asyncio
from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BudgetExhausted, ExitCode
from core.model.prompt import Usage
from core.model.specs import BudgetSpec
from core.policy.ledger import NOTHING, Balance, Claim, Ledger, Spend, hold

CENT = Decimal("0.01")

calls = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(0, 5)).map(
        lambda call: (max(call[0], call[1]), min(call[0], call[1]), call[2])
    ),
    max_size=20,
)
"""(worst, actual, turns of the event loop that the call takes), in tokens and in cents."""


@given(calls, st.integers(0, 200), st.integers(0, 50), st.sampled_from(["usd", "tokens"]))
def test_never_above_the_cap_under_any_interleaving(
    plan: Sequence[tuple[int, int, int]], cap: int, before: int, unit: str
) -> None:
    """Calls of all lengths at once: at each step spent + held stays within the cap, and the sums come out exact."""
    before = min(before, cap)
    budget = BudgetSpec(usd=cap / 100) if unit == "usd" else BudgetSpec(tokens=cap)
    ledger = Ledger(budget, Balance(_spend(before)))
    settled = asyncio.run(_run(ledger, plan, _spend(cap)))
    assert ledger.spent == sum(settled, _spend(before))
    assert ledger.held == NOTHING


async def _run(ledger: Ledger, plan: Sequence[tuple[int, int, int]], cap: Spend) -> list[Spend]:
    settled: list[Spend] = []

    async def call(worst: int, actual: int, turns: int) -> None:
        async with hold(ledger, Claim(_spend(worst))) as held:
            for _ in range(turns):
                total = ledger.spent + ledger.held
                assert total.usd <= cap.usd
                assert total.tokens <= cap.tokens
                await asyncio.wait([asyncio.ensure_future(_turn())])
            held.settle(_spend(actual))
            settled.append(_spend(actual))

    outcomes = await asyncio.gather(*(call(*entry) for entry in plan), return_exceptions=True)
    assert all(outcome is None or isinstance(outcome, BudgetExhausted) for outcome in outcomes)
    return settled


async def _turn() -> None:
    return


def _spend(amount: int) -> Spend:
    return Spend(amount, amount * CENT)


async def test_a_call_that_could_pass_the_cap_is_not_begun() -> None:
    ledger = Ledger(BudgetSpec(usd=1.0), Balance(Spend(10, Decimal("0.95"))))
    with pytest.raises(BudgetExhausted, match=r"\$1.0.*spent 10 tokens \(\$0.95\).*not sent") as raised:
        async with hold(ledger, Claim(Spend(5, Decimal("0.0500001")))):
            pytest.fail("it was begun")
    assert raised.value.exit_code is ExitCode.BUDGET
    async with hold(ledger, Claim(Spend(5, Decimal("0.05")))) as held:
        held.settle(NOTHING)


async def test_an_unsettled_hold_is_spent_in_full() -> None:
    ledger = Ledger(BudgetSpec(tokens=100))
    with pytest.raises(ZeroDivisionError):
        async with hold(ledger, Claim(Spend(40))):
            raise ZeroDivisionError
    assert ledger.spent.tokens == 40


async def test_a_call_waits_while_reserves_may_come_back() -> None:
    """The second call fits only because the first turns out to be cheap."""
    ledger = Ledger(BudgetSpec(tokens=100))
    begun = asyncio.Event()

    async def second() -> None:
        async with hold(ledger, Claim(Spend(80))) as held:
            begun.set()
            held.settle(Spend(80))

    async with hold(ledger, Claim(Spend(90))) as held:
        waiting = asyncio.ensure_future(second())
        await asyncio.wait([waiting], timeout=0.01)
        assert not begun.is_set()
        held.settle(Spend(20))
    await waiting
    assert ledger.spent.tokens == 100


async def test_a_call_that_waits_is_refused_once_nothing_can_come_back() -> None:
    ledger = Ledger(BudgetSpec(tokens=100))

    async def second() -> None:
        async with hold(ledger, Claim(Spend(80))):
            pytest.fail("it was begun")

    async with hold(ledger, Claim(Spend(90))):
        waiting = asyncio.ensure_future(second())
        await asyncio.wait([waiting], timeout=0.01)
    with pytest.raises(BudgetExhausted):
        await waiting


def test_cached_tokens_are_tokens_too() -> None:
    usage = Usage(input_tokens=1, output_tokens=2, cache_read_tokens=4, cache_write_tokens=8)
    assert Spend.of(usage, CENT) == Spend(15, CENT)
