"""A provider's request quota, enforced: a bucket that refills steadily, its headers, and a 429 when it is empty."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from core.ports import Clock


class RequestQuota:
    """`per_s` requests per second, `burst` of them at once after a quiet time."""

    def __init__(self, per_s: float, burst: int, clock: Clock) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._level = float(burst)
        self._at = clock.monotonic()

    def take(self) -> int | None:
        """Count one request; None when it is within the quota, else the whole seconds that Retry-After says."""
        self._refill()
        if self._level >= 1:
            self._level -= 1
            return None
        return max(1, math.ceil((1 - self._level) / self._per_s))

    @property
    def headers(self) -> Mapping[str, str]:
        """As the API states it, to the second."""
        self._refill()
        full = datetime.fromisoformat(self._clock.now()) + timedelta(
            seconds=math.ceil((self._burst - self._level) / self._per_s)
        )
        return {
            "anthropic-ratelimit-requests-limit": str(self._burst),
            "anthropic-ratelimit-requests-remaining": str(int(self._level)),
            "anthropic-ratelimit-requests-reset": full.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }

    def _refill(self) -> None:
        now = self._clock.monotonic()
        self._level = min(self._burst, self._level + (now - self._at) * self._per_s)
        self._at = now
