"""How the calls of one channel find what their provider takes. Simulations run in virtual time, deterministically."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manual_clock import ManualClock
from simulated_provider import USAGE, Provider, Says, campaign
from virtual_time import VirtualClock, run

from core.adapters.clock import SystemClock
from core.model.traffic import Channel, Flow, Steering
from core.policy.limiter import InFlight, Limiter
from core.policy.quota import Quota, Resource

CALLS, CALLERS = 2000, 64


async def simulated(*, calls: int = CALLS, callers: int = CALLERS, **provider: Any) -> tuple[Provider, Channel]:
    clock = VirtualClock()
    quota, limiter = Provider(clock, **provider), Limiter(callers, clock)
    await campaign(quota, limiter, calls=calls, callers=callers)
    return quota, limiter.traffic()


@pytest.mark.parametrize("says", Says)
@pytest.mark.parametrize("latency_s", [(0.15, 0.3), (0.5, 1.2)])
def test_a_quota_is_used_and_seldom_exceeded(says: Says, latency_s: tuple[float, float]) -> None:
    provider, _ = run(simulated(says=says, latency_s=latency_s))
    assert provider.answered == CALLS
    assert provider.used >= 0.9
    assert provider.refusals <= 0.05


def test_headers_that_tell_of_a_whole_minute_leave_nothing_to_be_refused() -> None:
    provider, _ = run(simulated(says=Says.HEADERS, burst=500))
    assert provider.used >= 0.95
    assert provider.refused == 0


def test_many_more_callers_than_the_quota_feeds_do_not_flood_it() -> None:
    provider, _ = run(simulated(callers=512, says=Says.RETRY_AFTER))
    assert provider.used >= 0.9
    assert provider.refusals <= 0.05


def test_a_provider_that_takes_so_many_at_once_is_found_out() -> None:
    provider, _ = run(simulated(per_s=1e6, burst=10**6, most_at_once=10))
    assert provider.most_seen == 10
    assert provider.refusals <= 0.05


def test_without_a_quota_the_ceiling_is_reached_and_nothing_waits() -> None:
    provider, seen = run(simulated(per_s=1e6, burst=10**6, latency_s=(0.2, 0.2), calls=1600))
    assert provider.most_seen == CALLERS
    assert seen.ceiling == CALLERS
    assert provider.last_at <= 1.25 * 0.2 * 1600 / CALLERS


def test_what_was_counted() -> None:
    provider, seen = run(simulated(calls=300))
    assert (seen.sent, seen.answered, seen.limited) == (300 + provider.refused, 300, provider.refused)
    assert (seen.in_flight, seen.failed, seen.replayed) == (0, 0, 0)


@settings(max_examples=40)
@given(
    st.floats(1, 200), st.integers(1, 100), st.sampled_from(Says), st.integers(1, 80), st.integers(1, 40)
)  # fmt: skip
def test_whatever_the_quota_every_call_ends_within_the_ceiling(
    per_s: float, burst: int, says: Says, callers: int, calls: int
) -> None:
    provider, seen = run(simulated(calls=calls, callers=callers, per_s=per_s, burst=burst, says=says))
    assert provider.answered == calls
    assert provider.most_seen <= callers
    assert seen.in_flight == 0


def test_one_retry_after_holds_back_every_call_of_the_channel() -> None:
    async def scene() -> tuple[float, float]:
        clock = VirtualClock()
        limiter = Limiter(8, clock)
        async with limiter.slot() as slot:
            sent = slot.send()
            sent.failed(429, 30.0)
        waiting_s = limiter.traffic().waiting_s
        async with limiter.slot():
            return waiting_s, clock.monotonic()

    assert run(scene()) == (30.0, 30.0)


def test_a_long_retry_after_is_probed_and_never_freezes_the_channel() -> None:
    async def scene() -> None:
        clock = VirtualClock()
        limiter = Limiter(8, clock, longest_pause_s=60.0)
        async with limiter.slot() as slot:
            assert await slot.turn(by=1.0)
            sent = slot.send()
            sent.failed(429, 3600.0)
            # Who has less time than the pause is told at once, instead of waiting for nothing.
            assert not await slot.turn(by=clock.monotonic() + 59)
            assert clock.monotonic() == 0.0
            assert limiter.asked_s == 3600.0
        async with limiter.slot():
            assert clock.monotonic() == 60.0

    run(scene())


def test_refusals_of_one_round_trip_cut_the_ceiling_once() -> None:
    async def scene() -> list[int]:
        clock = VirtualClock()
        limiter = Limiter(64, clock, start=64)
        ceilings = []
        async with limiter.slot() as slot:
            for _ in range(2):
                first = slot.send()
                second = slot.send()
                await clock.sleep(0.1)
                first.failed(529, None)
                second.failed(529, None)
                ceilings.append(limiter.traffic().ceiling)
        return ceilings

    assert run(scene()) == [32, 16]


def test_the_ceiling_never_falls_below_one() -> None:
    async def scene() -> int:
        clock = VirtualClock()
        limiter = Limiter(4, clock)
        async with limiter.slot() as slot:
            for _ in range(10):
                sent = slot.send()
                await clock.sleep(0.1)
                sent.failed(529, None)
        async with limiter.slot():
            return limiter.traffic().ceiling

    assert run(scene()) == 1


def test_pausing_lets_calls_in_flight_end_and_no_other_begin() -> None:
    async def scene() -> list[str]:
        clock = VirtualClock()
        limiter = Limiter(2, clock)
        order = []

        async def call(name: str, lasts_s: float) -> None:
            async with limiter.slot():
                order.append(f"{name} begins at {clock.monotonic():g}")
                await clock.sleep(lasts_s)
            order.append(f"{name} ends at {clock.monotonic():g}")

        calls = [asyncio.ensure_future(call(name, 5)) for name in ("a", "b", "c")]
        await clock.sleep(1)
        limiter.steer(Steering(flow=Flow.PAUSED))
        assert limiter.traffic().ceiling == 0
        await clock.sleep(99)
        limiter.steer(Steering())
        await asyncio.gather(*calls)
        return order

    assert run(scene()) == [
        "a begins at 0", "b begins at 0", "a ends at 5", "b ends at 5", "c begins at 100", "c ends at 105",
    ]  # fmt: skip


def test_concurrency_changes_while_it_runs() -> None:
    async def scene() -> list[int]:
        clock = VirtualClock()
        provider, limiter = Provider(clock, per_s=1e6, burst=10**6, latency_s=(1.0, 1.0)), Limiter(8, clock)
        work = asyncio.ensure_future(campaign(provider, limiter, calls=300, callers=64))
        seen = []
        for concurrency in (2, 20, None):
            limiter.steer(Steering(concurrency=concurrency))
            await clock.sleep(10)
            seen.append(limiter.in_flight)
        await work
        return seen

    assert run(scene()) == [2, 20, 8]


def test_channels_share_the_places_of_a_run_and_a_paused_one_takes_none() -> None:
    async def scene() -> tuple[int, int]:
        clock = VirtualClock()
        overall = InFlight(4)
        paused, other = (Limiter(4, clock, overall=overall) for _ in range(2))
        paused.steer(Steering(flow=Flow.PAUSED))
        slow = Provider(clock, per_s=1e6, burst=10**6, latency_s=(1.0, 1.0))
        stuck = asyncio.ensure_future(campaign(slow, paused, calls=8, callers=8))
        await campaign(slow, other, calls=40, callers=8)
        alone, slow.most_seen = slow.most_seen, 0
        paused.steer(Steering())
        await asyncio.gather(stuck, campaign(slow, other, calls=40, callers=8))
        return alone, slow.most_seen

    assert run(scene()) == (4, 4)


def test_a_wider_run_lets_waiting_calls_in() -> None:
    async def scene() -> int:
        clock = VirtualClock()
        overall = InFlight(1)
        limiter = Limiter(8, clock, overall=overall)
        provider = Provider(clock, per_s=1e6, burst=10**6, latency_s=(1.0, 1.0))
        work = asyncio.ensure_future(campaign(provider, limiter, calls=20, callers=8))
        await clock.sleep(1.5)
        overall.change(5)
        await work
        return provider.most_seen

    assert run(scene()) == 5


async def test_a_full_limiter_keeps_the_next_out_until_one_leaves() -> None:
    limiter = Limiter(1, ManualClock())
    async with limiter.slot():
        assert limiter.in_flight == 1
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01), limiter.slot():
                pytest.fail("two at once")
    async with asyncio.timeout(1), limiter.slot():
        pass
    assert limiter.in_flight == 0


@pytest.mark.parametrize("leaves", ["before", "as it is let in"])
async def test_places_freed_together_are_taken_together_in_order_and_none_is_lost_to_who_left(leaves: str) -> None:
    limiter, entered, go = Limiter(2, ManualClock()), [], asyncio.Event()

    async def enter(number: int) -> None:
        async with limiter.slot():
            entered.append(number)
            await go.wait()

    first = [asyncio.ensure_future(enter(number)) for number in (0, 1)]
    await turns(2)
    waiting = [asyncio.ensure_future(enter(number)) for number in (2, 3, 4)]
    await turns(2)
    if leaves == "before":
        waiting[0].cancel()
        await turns(2)
    go.set()
    await asyncio.gather(*first)
    if leaves == "as it is let in":
        await turns(1)
        waiting[0].cancel()
    await asyncio.gather(*waiting[1:])
    assert [number for number in entered if number != 2] == [0, 1, 3, 4]
    assert limiter.in_flight == 0


async def turns(count: int) -> None:
    """Of the event loop."""
    for _ in range(count):
        await SystemClock().sleep(0)


async def test_a_limiter_on_a_clock_that_never_stands_still_lets_everybody_pass() -> None:
    limiter, passed = Limiter(4, SystemClock()), 0

    async def call() -> None:
        nonlocal passed
        async with limiter.slot() as slot:
            await SystemClock().sleep(0)
            slot.send().answered(USAGE)
            passed += 1

    await asyncio.gather(*(call() for _ in range(300)))
    assert passed == 300


@pytest.mark.parametrize("made", [lambda: Limiter(0, ManualClock()), lambda: InFlight(0)])
def test_a_limiter_that_lets_nothing_pass_is_refused(made: Any) -> None:
    with pytest.raises(ValueError, match="0"):
        made()


def test_a_quota_of_tokens_is_kept_by_what_calls_use_on_average() -> None:
    """6,000 output tokens a minute and 20 per call are 5 calls a second, whatever the quota of requests."""

    async def scene() -> float:
        clock = VirtualClock()
        limiter = Limiter(4, clock)
        left = 200.0
        for _ in range(100):
            async with limiter.slot() as slot:
                sent = slot.send()
                left -= USAGE.output_tokens
                await clock.sleep(0.01)
                left = min(6000.0, left + 100 * 0.01)
                full_in_s = (6000 - left) / 100
                sent.answered(USAGE, [Quota(Resource.OUTPUT_TOKENS, 6000, max(0.0, left), full_in_s)])
            left += 100 * (limiter.traffic().waiting_s)
        return clock.monotonic()

    assert 15 <= run(scene()) <= 25
