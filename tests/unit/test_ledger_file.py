"""The budget on disk: whatever a killed driver left counts once, and never less than it may have cost."""

import asyncio
import json
import os
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manual_clock import ManualClock

from core.adapters.clock import SystemClock
from core.adapters.ledger import FILE, Entry, Held, Opened, Settled, accounts, accounts_of, balance, open_ledger
from core.adapters.lines import PATIENCE_S, writing
from core.adapters.record import SUFFIX
from core.adapters.recording import Recording, encode
from core.errors import BudgetExhausted, StoreError
from core.model.prompt import StopReason, Usage
from core.model.specs import BudgetSpec
from core.policy.ledger import NOTHING, Claim, Ledger, Sent, Spend, hold

CAP = BudgetSpec(tokens=1000)
CLOCK = SystemClock()


def claim(tokens: int, key: str = "k", **fields: object) -> Claim:
    return Claim(Spend(tokens), f"recordings/{key}", "judge", "m:1", **fields)  # type: ignore[arg-type]


def reply(key: str, tokens: int) -> Recording:
    return Recording(
        key=key, name="t@1", model="m:1", sdk="s", api_version="1", repeat=0, request_sha256="", request={}, text="",
        stop=StopReason.END, usage=Usage(output_tokens=tokens), served_model="m", message_id="i", cost_usd=0.0,
        prices="p", role="judge",
    )  # fmt: skip


def recorded(folder: Path, key: str, tokens: int) -> None:
    """A reply that is on disk."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"all{SUFFIX}").open("ab") as file:
        file.write(encode(reply(key, tokens)) + b"\n")


async def test_a_hold_is_on_disk_before_anything_can_be_sent(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, CAP, CLOCK) as ledger:
        await ledger.reserve(claim(400))
        assert [charge.spend.tokens for charge in accounts_of(tmp_path).unanswered] == [400]


async def test_what_a_dead_driver_had_in_flight_counts_in_full(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, CAP, CLOCK) as ledger:
        await ledger.reserve(claim(400, "lost"))
        await ledger.settle(await ledger.reserve(claim(500, "answered")), Spend(30))
        await ledger.settle(await ledger.reserve(claim(500, "refused")), NOTHING)
    async with open_ledger(tmp_path, CAP, CLOCK) as ledger:
        assert ledger.spent.tokens == 430
        with pytest.raises(BudgetExhausted):
            await ledger.reserve(claim(571))


@pytest.mark.parametrize("durable", ["settled", "not settled"])
async def test_a_reply_that_is_recorded_counts_once(tmp_path: Path, durable: str) -> None:
    recordings = tmp_path / "recordings"
    async with open_ledger(recordings, CAP, CLOCK) as ledger:
        number = await ledger.reserve(claim(400))
        recorded(recordings, "k", 25)
        if durable == "settled":
            await ledger.settle(number, Spend(25))
    async with open_ledger(recordings, CAP, CLOCK) as ledger:
        assert ledger.spent.tokens == 25


async def test_replies_of_before_there_was_a_cap_count_too(tmp_path: Path) -> None:
    recorded(tmp_path / "recordings", "k", 990)
    async with open_ledger(tmp_path / "recordings", CAP, CLOCK) as ledger:
        assert ledger.spent.tokens == 990


async def test_a_batch_that_is_still_to_come_takes_over_its_hold(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, CAP, CLOCK) as ledger:
        await ledger.reserve(claim(900))
    async with open_ledger(tmp_path, CAP, CLOCK) as ledger:
        with pytest.raises(BudgetExhausted):
            await ledger.reserve(claim(900))
        async with hold(ledger, claim(900, sent=Sent.BEFORE)) as held:
            assert (ledger.spent, ledger.held) == (NOTHING, Spend(900))
            held.settle(Spend(10))
    async with open_ledger(tmp_path, CAP, CLOCK) as ledger:
        assert ledger.spent.tokens == 10


async def test_a_dead_process_forfeits_what_it_held_of_a_shared_budget() -> None:
    ledger = Ledger(CAP)
    await ledger.reserve(claim(600, "theirs", owner="dead"))
    waiting = asyncio.ensure_future(ledger.reserve(claim(500, "mine", owner="alive")))
    await asyncio.wait([waiting], timeout=0.01)
    assert not waiting.done()
    await ledger.forfeit("dead")
    with pytest.raises(BudgetExhausted):
        await waiting
    assert (ledger.spent.tokens, ledger.held) == (600, NOTHING)


async def test_a_torn_end_was_never_acknowledged(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, CAP, CLOCK) as ledger:
        await ledger.reserve(claim(400))
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes() + b'{"hold":"2","addr')
    async with open_ledger(tmp_path, CAP, CLOCK) as ledger:
        assert ledger.spent.tokens == 400
        await ledger.reserve(claim(100, "next"))
    assert [charge.spend.tokens for charge in accounts_of(tmp_path).unanswered] == [400, 100]


async def test_damage_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"hold":"1"}\n')
    with pytest.raises(StoreError, match=r"ledger\.jsonl:1") as raised:
        async with open_ledger(tmp_path, CAP, CLOCK):
            pass
    assert raised.value.remedy


async def test_a_full_disk_refuses_the_hold_and_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int, __: bytes) -> int:
        raise OSError(28, "No space left on device")

    async def scene() -> None:
        async with open_ledger(tmp_path, CAP, CLOCK) as ledger:
            monkeypatch.setattr("core.adapters.lines.os.write", full)
            async with hold(ledger, claim(400)):
                pytest.fail("it was sent")

    with pytest.raises(StoreError, match="No space"):
        await scene()
    monkeypatch.undo()
    assert (tmp_path / FILE).read_bytes() == b""


async def test_a_second_writer_waits_for_the_first_to_end(tmp_path: Path) -> None:
    async with open_ledger(tmp_path, CAP, CLOCK):
        clock = ManualClock()
        with pytest.raises(StoreError, match="another process still writes"):
            async with open_ledger(tmp_path, CAP, clock):
                pass
        assert PATIENCE_S <= clock.monotonic() <= PATIENCE_S + 1
        second = asyncio.ensure_future(_opened(tmp_path))
        await asyncio.wait([second], timeout=0.01)
        assert not second.done()
    await second


async def _opened(folder: Path) -> None:
    async with open_ledger(folder, CAP, CLOCK):
        pass


async def test_many_lines_share_their_syncs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    syncs = 0
    async with writing(tmp_path / "lines", CLOCK) as lines:
        sync = os.fsync

        def counted(descriptor: int) -> None:
            nonlocal syncs
            syncs += 1
            sync(descriptor)

        monkeypatch.setattr("core.adapters.lines.os.fsync", counted)
        await asyncio.gather(*(lines.append(json.dumps(number).encode()) for number in range(500)))
    assert syncs <= 50
    assert (tmp_path / "lines").read_text().split() == [str(number) for number in range(500)]


histories = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["lost", "free", "paid"])), max_size=12)


@given(histories, st.sets(st.sampled_from("abc")))
def test_no_history_counts_less_than_it_may_have_cost(history: list[tuple[str, str]], replies: set[str]) -> None:
    """Every hold settled as it ended; each `paid` uses 3 of its 10, and the replies in `replies` are recorded."""
    entries: list[Entry] = [Opened(opened="2026", cap=CAP)]
    for number, (key, end) in enumerate(history, start=1):
        address = f"r/{key}"
        entries.append(Held(hold=str(number), address=address, role="", model="", tokens=10, usd=Decimal(0)))
        if end != "lost":
            entries.append(Settled(settled=str(number), tokens=3 if end == "paid" else 0, usd=Decimal(0)))
    kept = {f"r/{key}": reply(key, 3) for key in replies}
    paid = {key for key, end in history if end == "paid"}
    lost = [key for key, end in history if end == "lost"]
    # A recorded reply that no settled hold explains was the end of one that was not settled, where there is one.
    explained = sum(key in lost and key not in paid for key in replies)
    expected = 3 * sum(end == "paid" for _, end in history) + 10 * (len(lost) - explained)
    expected += 3 * sum(key not in paid for key in replies)
    assert accounts(entries, kept).spent.tokens == balance(entries, kept).spent.tokens == expected
