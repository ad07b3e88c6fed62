"""Message batches as a transport: the same records as single messages at half the price, and nothing paid for twice."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import anthropic
import pytest

from core.adapters import child
from core.adapters.clock import SystemClock
from core.adapters.ledger import accounts_of, open_ledger
from core.adapters.llm import open_llm
from core.adapters.llm.prices import Price, PriceTable
from core.adapters.record import recorder
from core.errors import LlmRefused, LlmUnavailable
from core.model.frozen import digest
from core.model.prompt import Completion, Prompt, Role, Turn
from core.model.specs import BatchSpec, BudgetSpec, ModelSpec, Provider
from core.policy.limiter import Limiter
from core.ports import Llm

SPEC = ModelSpec(provider=Provider.REHEARSAL, model="rehearsal-2026-11-21")
RATE = Decimal(10)
PRICES = PriceTable(version="t", models={SPEC.model: Price(input=RATE, output=RATE, cache_read=RATE, cache_write=RATE)})
BATCH_MS = 150
CAP = BudgetSpec(usd=1.0)


class HurriedClock(SystemClock):
    """Waits a hundredth of what it is asked to."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / 100)


def prompt(number: int, **fields: Any) -> Prompt:
    turns = (Turn(role=Role.USER, text=f"Say something about {number}."),)
    return Prompt(**{"name": "t@1", "model": SPEC.model, "system": "", "turns": turns, "max_tokens": 50} | fields)


@dataclass
class Rig:
    """A server that outlives the callers, and callers that share a run folder."""

    url: str
    folder: Path
    cap: BudgetSpec = CAP
    together: int = 1
    """How many requests make a batch; the window never does."""
    deadline_s: float = 60.0
    clock: HurriedClock = field(default_factory=HurriedClock)

    @contextlib.asynccontextmanager
    async def llm(self, *, batched: bool = True) -> AsyncIterator[Llm]:
        """One driver's caller."""
        folder = self.folder / "recordings"
        async with (
            open_ledger(folder, self.cap, self.clock) as ledger,
            recorder(folder, self.clock) as recordings,
            open_llm(
                SPEC,
                role="judge",
                base_url=self.url,
                prices=PRICES,
                recordings=recordings,
                ledger=ledger,
                limiter=Limiter(100, self.clock, name="test", start=100),
                clock=self.clock,
                deadline_s=self.deadline_s,
                batch=BatchSpec(window_s=1e6, requests=self.together) if batched else None,
            ) as llm,
        ):
            yield llm

    async def asked(self, prompts: list[Prompt], *, batched: bool = True) -> list[Completion]:
        """All at once, by a driver of their own."""
        async with self.llm(batched=batched) as llm:
            return await asyncio.gather(*(llm.complete(one) for one in prompts))

    async def killed_while_waiting(self, prompts: list[Prompt]) -> None:
        """A driver that is gone as soon as its batch is on its way."""
        before = len(await self.batches())
        async with self.llm() as llm:
            calls = [asyncio.ensure_future(llm.complete(one)) for one in prompts]
            while len(await self.batches()) == before:
                await asyncio.wait(calls, timeout=0.01)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    async def batches(self) -> list[int]:
        """Sizes of the batches that the server has seen, this test's and others'."""
        async with anthropic.AsyncAnthropic(base_url=self.url, api_key="rehearsal", max_retries=0) as client:
            listed = [batch async for batch in client.messages.batches.list(limit=100)]
        return [sum(batch.request_counts.model_dump().values()) for batch in listed]

    @property
    def book(self) -> Path:
        (file,) = (self.folder / "recordings").glob("batches-*.jsonl")
        return file


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    arguments = ("--port", "0", "--lifeline", "--batch-ms", str(BATCH_MS))
    async with child.running("core.serving.rehearsal", arguments) as port:
        yield Rig(f"http://127.0.0.1:{port}", tmp_path)


async def test_the_same_replies_under_the_same_keys_at_half_the_price(rig: Rig, tmp_path: Path) -> None:
    prompts = [prompt(number, repeat=number % 3) for number in range(7)]
    single = await Rig(rig.url, tmp_path / "single").asked(prompts, batched=False)
    rig.together = 7
    batched = await rig.asked(prompts)
    assert await rig.batches() == [7]
    free = {"cost_usd": 0.0}
    assert [one.model_copy(update=free) for one in batched] == [one.model_copy(update=free) for one in single]
    assert [one.cost_usd for one in batched] == [one.cost_usd / 2 for one in single]
    assert accounts_of(rig.folder / "recordings").spent.usd == sum(Decimal(str(one.cost_usd)) for one in batched)


async def test_a_run_may_change_its_transport_at_any_time(rig: Rig) -> None:
    prompts = [prompt(number) for number in range(4)]
    rig.together = 2
    await rig.asked(prompts[:2], batched=False)
    assert [one.replayed for one in await rig.asked(prompts)] == [True, True, False, False]
    assert [one.replayed for one in await rig.asked(prompts, batched=False)] == [True] * 4
    assert await rig.batches() == [2]


@pytest.mark.parametrize("noted", ["the batch was noted", "killed before it was noted"])
async def test_a_killed_driver_finds_its_batch_again_and_pays_nothing_twice(rig: Rig, noted: str) -> None:
    prompts = [prompt(number) for number in range(5)]
    rig.together = 5
    await rig.killed_while_waiting(prompts)
    if noted == "killed before it was noted":
        lines = rig.book.read_text().splitlines(keepends=True)
        rig.book.write_text("".join(line for line in lines if '"made"' not in line))
    lost = accounts_of(rig.folder / "recordings")
    assert len(lost.unanswered) == 5
    # A cap that would not fit the same requests twice: their old holds are taken over.
    rig.cap = BudgetSpec(usd=float(lost.spent.usd))
    again = await rig.asked(prompts)
    assert not any(one.replayed for one in again)
    assert await rig.batches() == [5]
    books = accounts_of(rig.folder / "recordings")
    assert (len(books.answered), books.unanswered) == (5, ())
    assert books.spent.usd == sum(Decimal(str(one.cost_usd)) for one in again) < lost.spent.usd


async def test_a_batch_that_was_never_made_is_sent_then(rig: Rig, tmp_path: Path) -> None:
    """Killed after the intention was durable, before the provider heard of it; a batch of that size is there."""
    prompts = [prompt(number) for number in range(3)]
    keys = [one.key for one in await Rig(rig.url, tmp_path / "to know the keys").asked(prompts, batched=False)]
    await Rig(rig.url, tmp_path / "other", together=3).asked([prompt(number) for number in range(10, 13)])
    rig.together = 3
    meant = {"meant": 1, "at": rig.clock.now(), "keys": sorted(keys)}
    (rig.folder / "recordings").mkdir()
    (rig.folder / "recordings" / f"batches-judge-{digest(SPEC)[:8]}.jsonl").write_text(json.dumps(meant) + "\n")
    assert [one.key for one in await rig.asked(prompts)] == keys
    assert await rig.batches() == [3, 3]


async def test_a_full_batch_does_not_wait_for_the_window(rig: Rig) -> None:
    rig.together = 2
    await rig.asked([prompt(number) for number in range(4)])
    assert await rig.batches() == [2, 2]


async def test_requests_that_do_not_fit_the_budget_are_not_in_the_batch(rig: Rig) -> None:
    prompts = [prompt(number, max_tokens=1000) for number in range(6)]
    rig.cap, rig.together = BudgetSpec(tokens=3500), 3
    assert len(await rig.asked(prompts)) == 6
    assert await rig.batches() == [3, 3]
    assert accounts_of(rig.folder / "recordings").spent.tokens <= 3500


async def test_what_a_batch_refuses_is_refused_to_its_caller_alone(rig: Rig) -> None:
    rig.together = 2
    async with rig.llm() as llm:
        good, bad = llm.complete(prompt(1)), llm.complete(prompt(2, output_schema={"type": "object", "minimum": 3}))
        ends = await asyncio.gather(good, bad, return_exceptions=True)
    assert isinstance(ends[0], Completion)
    assert isinstance(ends[1], LlmRefused)
    assert ends[1].status == 400
    assert await rig.batches() == [2]
    assert accounts_of(rig.folder / "recordings").unanswered == ()


async def test_a_batch_that_is_canceled_is_sent_again(rig: Rig) -> None:
    rig.together = 2
    async with (
        rig.llm() as llm,
        anthropic.AsyncAnthropic(base_url=rig.url, api_key="rehearsal", max_retries=0) as client,
    ):
        calls = [asyncio.ensure_future(llm.complete(prompt(number))) for number in range(2)]
        while not (page := await client.messages.batches.list()).data:
            await asyncio.wait(calls, timeout=0.01)
        await client.messages.batches.cancel(page.data[0].id)
        assert len(await asyncio.gather(*calls)) == 2
    assert await rig.batches() == [2, 2]
    assert len(accounts_of(rig.folder / "recordings").answered) == 2


async def test_a_batch_that_does_not_end_is_left_at_the_deadline_and_found_by_the_next_run(rig: Rig) -> None:
    rig.deadline_s = 0.1
    with pytest.raises(LlmUnavailable, match=r"within 0\.1 s"):
        await rig.asked([prompt(1)])
    rig.deadline_s = 60.0
    assert not (await rig.asked([prompt(1)]))[0].replayed
    assert await rig.batches() == [1]
