"""How many calls may be in flight, and how fast they may follow each other, on the channel to one provider.

Four things hold a call back: what somebody who watches asked for, a ceiling that adapts, the provider's own words
(Retry-After, its quota headers), and a pace learned from its refusals. All of it lives on one event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from core.model.prompt import Usage
from core.model.traffic import Channel, Flow, Steering
from core.policy.pace import Pace
from core.policy.quota import Bucket, Quota, Resource
from core.ports import Clock

FLOOR = 1
"""A channel is never narrower: something must find out that the provider is back."""
START = 32
"""Ceiling to begin with; it doubles with each round trip until the first refusal."""
LONGEST_PAUSE_S = 300.0
OVERLOADED = 529
TOO_MANY = 429


class InFlight:
    """The calls in flight over several channels together, at most `ceiling`, which may change at any time."""

    def __init__(self, ceiling: int) -> None:
        if ceiling < 1:
            raise ValueError(f"a ceiling of {ceiling} would let nothing pass")
        self._ceiling = ceiling
        self._taken = 0
        self._changed = asyncio.Event()

    def change(self, ceiling: int) -> None:
        """From now on at most `ceiling`; calls in flight end as they would have."""
        self._ceiling = ceiling
        self._changed.set()

    @property
    def is_full(self) -> bool:
        """Whether there is no place."""
        return self._taken >= self._ceiling

    def take(self) -> bool:
        """Take a place, if there is one."""
        free = not self.is_full
        self._taken += free
        return free

    def give_back(self) -> None:
        """Free a place."""
        self._taken -= 1
        self._changed.set()

    async def change_to_come(self) -> None:
        """Wait for a place to be freed, or for another ceiling. Who waited longest looks first."""
        self._changed.clear()
        await self._changed.wait()


@dataclass(frozen=True)
class Attempt:
    """One request on its way. State how it ended."""

    limiter: Limiter
    slot: Slot
    number: int
    sent_at: float

    def answered(self, usage: Usage, quotas: Sequence[Quota] = ()) -> None:
        """A whole reply came."""
        self.limiter._answered(self, usage, quotas)  # noqa: SLF001  the two are one

    def failed(self, status: int, wait_s: float | None, quotas: Sequence[Quota] = ()) -> None:
        """None came; `status` is 0 without a response, `wait_s` what the server asks to wait."""
        self.limiter._failed(self, status, wait_s, quotas)  # noqa: SLF001


@dataclass(eq=False)
class Slot:
    """A place among the calls in flight."""

    limiter: Limiter
    _paid: bool = field(default=True)

    async def turn(self, by: float) -> bool:
        """Wait until this call may be sent (again); False, at once, when that will not be before the moment `by`.

        The first turn comes with the slot.
        """
        if self._paid:
            self._paid = False
            return True
        return await self.limiter._turn(by)  # noqa: SLF001

    def send(self) -> Attempt:
        """A request goes out now."""
        return self.limiter._send(self)  # noqa: SLF001


class Limiter:
    """One channel. Callers wait in order of arrival; a cancelled or timed-out wait takes no place."""

    def __init__(
        self,
        ceiling: int,
        clock: Clock,
        *,
        name: str = "",
        overall: InFlight | None = None,
        start: int = START,
        longest_pause_s: float = LONGEST_PAUSE_S,
    ) -> None:
        """At most `ceiling` in flight, `start` at first.

        A Retry-After holds everybody back for at most `longest_pause_s`; then one call probes whether it still stands.
        """
        if ceiling < FLOOR:
            raise ValueError(f"a ceiling of {ceiling} would let nothing pass")
        self._clock = clock
        self._configured = self._most = ceiling
        self._ceiling = float(min(ceiling, start))
        self._overall = overall or InFlight(ceiling)
        self._is_alone = overall is None
        self._longest_pause_s = longest_pause_s
        self._flow = Flow.RUNNING
        self._counts = Channel(name=name)
        self._in_flight = self._newest = 0
        self._to_repeat: set[Slot] = set()
        self._asked_until = self._paused_until = self._cut_at = float("-inf")
        self._pace = Pace()
        self._buckets = {resource: Bucket() for resource in Resource}
        self._buckets[Resource.REQUESTS].learn_use(1)
        self._line: deque[asyncio.Future[None]] = deque()
        self._porter: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    @property
    def name(self) -> str:
        """Of the provider and its address."""
        return self._counts.name

    @property
    def in_flight(self) -> int:
        """How many slots are taken now."""
        return self._in_flight

    @property
    def asked_s(self) -> float:
        """Seconds that the provider still asks us to wait, however many; 0 when it does not."""
        return max(0.0, self._asked_until - self._clock.monotonic())

    def steer(self, steering: Steering) -> None:
        """Pause, go on, be narrower or wider, at once."""
        self._flow = steering.flow
        self._most = steering.concurrency or self._configured
        self._ceiling = min(self._ceiling, self._most)
        if self._is_alone:
            self._overall.change(self._most)
        self._changed.set()

    def traffic(self) -> Channel:
        """What this channel does now."""
        return self._counts.model_copy(
            update={
                "in_flight": self._in_flight,
                "ceiling": 0 if self._flow is Flow.PAUSED else int(self._ceiling),
                "waiting_s": max(0.0, self._wait_s),
            }
        )

    def replayed(self) -> None:
        """A call was answered without being sent."""
        self._count("replayed")

    @contextlib.asynccontextmanager
    async def slot(self) -> AsyncIterator[Slot]:
        """One place, held while the context is open. Put `asyncio.timeout` around it to bound the wait."""
        if self._line or not self._enter():
            await self._turn_in_line()
        slot = Slot(self)
        try:
            yield slot
        finally:
            self._to_repeat.discard(slot)
            self._leave()

    async def _turn_in_line(self) -> None:
        """Wait for a place that the porter takes for us."""
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(place)
        if self._porter is None or self._porter.done():
            self._porter = asyncio.create_task(self._admit())
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._changed.set()  # the line is shorter
            else:
                self._leave()  # it was ours at the very moment that we left
            raise

    async def _admit(self) -> None:
        """Let in those who stand in line, in order; places that are freed together are taken together."""
        while self._first_in_line:
            if self._enter():
                self._line.popleft().set_result(None)
            else:
                await self._chance()

    @property
    def _first_in_line(self) -> asyncio.Future[None] | None:
        while self._line and self._line[0].done():
            self._line.popleft()
        return self._line[0] if self._line else None

    def _enter(self) -> bool:
        """Take a place if there is one now; that among all channels last: a paused one keeps none."""
        if self._is_shut or self._wait_s > 0 or not self._overall.take():
            return False
        self._in_flight += 1
        self._take(self._clock.monotonic())
        return True

    def _leave(self) -> None:
        self._in_flight -= 1
        self._overall.give_back()
        self._changed.set()

    @property
    def _is_shut(self) -> bool:
        return self._flow is Flow.PAUSED or self._in_flight >= int(self._ceiling)

    async def _chance(self) -> None:
        """Wait for what keeps the first in line out; nothing may, by now."""
        if self._is_shut:
            self._changed.clear()
            await self._changed.wait()
        elif (wait := self._wait_s) > 0:
            await self._clock.sleep(wait)
        elif self._overall.is_full:
            await self._overall.change_to_come()

    async def _turn(self, by: float) -> bool:
        """A retry keeps its moment in line; one that a new pause has overtaken stands in line again."""
        while (start := self._free_at()) < by:
            self._take(start)
            now = self._clock.monotonic()
            if start <= now:
                return True
            await self._clock.sleep(start - now)
            if self._paused_until <= self._clock.monotonic():
                return True
        return False

    @property
    def _wait_s(self) -> float:
        """Seconds until the next call may go, as far as time decides; not above 0 when it may now."""
        return self._free_at() - self._clock.monotonic()

    def _free_at(self) -> float:
        now = self._clock.monotonic()
        return max(
            self._paused_until, self._pace.free_at(now), *(bucket.free_at(now) for bucket in self._buckets.values())
        )

    def _take(self, at: float) -> None:
        self._pace.take(at)
        now = self._clock.monotonic()
        for bucket in self._buckets.values():
            bucket.take(now)

    def _send(self, slot: Slot) -> Attempt:
        self._count("sent")
        self._to_repeat.discard(slot)
        return Attempt(self, slot, self._counts.sent, self._clock.monotonic())

    def _answered(self, attempt: Attempt, usage: Usage, quotas: Sequence[Quota]) -> None:
        self._count("answered")
        self._pace.accepted(self._clock.monotonic())
        self._buckets[Resource.INPUT_TOKENS].learn_use(usage.input_tokens + usage.cache_write_tokens)
        self._buckets[Resource.OUTPUT_TOKENS].learn_use(usage.output_tokens)
        self._learn(attempt, quotas)
        self._widen()

    def _failed(self, attempt: Attempt, status: int, wait_s: float | None, quotas: Sequence[Quota]) -> None:
        self._count("limited" if status in (TOO_MANY, OVERLOADED) else "failed")
        self._to_repeat.add(attempt.slot)
        self._learn(attempt, quotas)
        now = self._clock.monotonic()
        if wait_s:
            self._asked_until = max(self._asked_until, now + wait_s)
            self._paused_until = max(self._paused_until, now + min(wait_s, self._longest_pause_s))
        if status in (TOO_MANY, OVERLOADED) and attempt.sent_at >= self._cut_at:
            self._cut(status, now)

    def _widen(self) -> None:
        """By one per answer before the first refusal, by one per round trip after it; only what is used is widened."""
        if self._cut_at == float("-inf"):
            used, step = self._in_flight >= self._ceiling / 2, 1.0
        else:
            used, step = self._in_flight >= int(self._ceiling), 1 / self._ceiling
        if used:
            self._ceiling = min(self._most, self._ceiling + step)
            self._changed.set()

    def _cut(self, status: int, now: float) -> None:
        """Once per round trip: what was sent before the last cut says nothing about the ceiling after it."""
        self._cut_at = now
        served = 0
        if status == TOO_MANY:
            # What is being served now is what the provider can take; an overloaded one takes less than that.
            served = self._in_flight - len(self._to_repeat)
            self._pace.refused(now, served=served)
        self._ceiling = max(FLOOR, min(self._ceiling, max(self._ceiling / 2, served)))

    def _learn(self, attempt: Attempt, quotas: Sequence[Quota]) -> None:
        if attempt.number < self._newest:
            return
        self._newest = attempt.number
        now, since = self._clock.monotonic(), self._counts.sent - attempt.number
        for quota in quotas:
            self._buckets[quota.resource].learn(quota, sent_at=attempt.sent_at, now=now, since=since)

    def _count(self, what: str) -> None:
        self._counts = self._counts.model_copy(update={what: getattr(self._counts, what) + 1})
