"""A provider in virtual time: a quota of requests per second, jittered latency, and its own way of telling."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from virtual_time import VirtualClock

from core.model.frozen import seed_for
from core.model.prompt import Usage
from core.policy.limiter import Limiter
from core.policy.quota import Quota, quotas
from core.policy.retry import Backoff

START = "2026-11-21T12:00:00Z"
USAGE = Usage(input_tokens=100, output_tokens=20)
DEADLINE_S = 300.0


class Says(Enum):
    """What comes with a 429."""

    NOTHING = "nothing"
    RETRY_AFTER = "retry-after: 1"
    HEADERS = "the quota headers, in whole seconds"


@dataclass
class Provider:
    clock: VirtualClock
    per_s: float = 50.0
    burst: int = 50
    says: Says = Says.NOTHING
    latency_s: tuple[float, float] = (0.15, 0.3)
    most_at_once: int = 10**6
    answered: int = 0
    refused: int = 0
    at_once: int = 0
    most_seen: int = 0
    last_at: float = 0.0
    _level: float = -1.0
    _at: float = 0.0

    async def call(self) -> tuple[int, float | None, Sequence[Quota]]:
        """Status, what it asks to wait, what it says of its quota."""
        await self.clock.sleep(self._drawn("way", 0.002, 0.02))
        self._refill()
        if self._level < 1 or self.at_once >= self.most_at_once:
            self.refused += 1
            return 429, 1.0 if self.says is Says.RETRY_AFTER else None, self._quotas()
        self._level -= 1
        self.answered += 1
        self.at_once += 1
        self.most_seen = max(self.most_seen, self.at_once)
        self.last_at, told = self._at, self._quotas()
        await self.clock.sleep(self._drawn("latency", *self.latency_s))
        self.at_once -= 1
        return 200, None, told

    @property
    def used(self) -> float:
        """Share of what the quota would have allowed."""
        return self.answered / (self.burst + self.per_s * self.last_at)

    @property
    def refusals(self) -> float:
        """Share of 429s."""
        return self.refused / (self.answered + self.refused)

    def _refill(self) -> None:
        now = self.clock.monotonic()
        self._level = self.burst if self._level < 0 else min(self.burst, self._level + (now - self._at) * self.per_s)
        self._at = now

    def _quotas(self) -> Sequence[Quota]:
        if self.says is not Says.HEADERS:
            return ()
        full = datetime.fromisoformat(START) + timedelta(seconds=self._at + (self.burst - self._level) / self.per_s)
        said = {"limit": f"{self.burst}", "remaining": f"{int(self._level)}", "reset": f"{full:%Y-%m-%dT%H:%M:%SZ}"}
        return quotas(
            {f"anthropic-ratelimit-requests-{name}": text for name, text in said.items()}, now=self.clock.now()
        )

    def _drawn(self, what: str, low: float, high: float) -> float:
        return low + (high - low) * seed_for(7, what, self.answered + self.refused) / 2**63


async def campaign(provider: Provider, limiter: Limiter, *, calls: int, callers: int) -> None:
    """`callers` make `calls` calls between them, each until it is answered."""
    numbers = iter(range(calls))
    await asyncio.gather(*(_caller(provider, limiter, numbers) for _ in range(callers)))


async def _caller(provider: Provider, limiter: Limiter, numbers: Iterator[int]) -> None:
    for number in numbers:
        async with limiter.slot() as slot:
            attempt, end = 0, provider.clock.monotonic() + DEADLINE_S
            while True:
                assert await slot.turn(end), "a call was given up"
                sent = slot.send()
                status, wait_s, told = await provider.call()
                if status == 200:
                    sent.answered(USAGE, told)
                    break
                sent.failed(status, wait_s, told)
                await provider.clock.sleep(max(Backoff().delay(attempt, number), wait_s or 0.0))
                attempt += 1
