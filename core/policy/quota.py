"""A provider's quota as its response headers state it, and our own account of it between two responses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum


class Resource(StrEnum):
    """What a provider counts, as it is spelled in `anthropic-ratelimit-<resource>-limit`, `-remaining` and `-reset`."""

    REQUESTS = "requests"
    INPUT_TOKENS = "input-tokens"
    OUTPUT_TOKENS = "output-tokens"


@dataclass(frozen=True)
class Quota:
    """One quota at the moment of a response: a bucket that refills steadily."""

    resource: Resource
    limit: float
    """Size of the bucket."""
    remaining: float
    full_in_s: float
    """Seconds until it is full again, to about a second: both ends are written in whole seconds."""


def quotas(headers: Mapping[str, str], *, now: str) -> tuple[Quota, ...]:
    """The quotas in `headers`, looked up in lower case; what does not read is left out. `now` is UTC in ISO 8601."""
    found = (_quota(headers, resource, now) for resource in Resource)
    return tuple(quota for quota in found if quota is not None)


def _quota(headers: Mapping[str, str], resource: Resource, now: str) -> Quota | None:
    prefix = f"anthropic-ratelimit-{resource.value}"
    try:
        limit, remaining = (float(headers[f"{prefix}-{name}"]) for name in ("limit", "remaining"))
        full_in_s = (_moment(headers[f"{prefix}-reset"]) - _moment(now)).total_seconds()
    except (KeyError, ValueError, OverflowError):
        return None
    if not (math.isfinite(limit) and 0 <= remaining <= limit and limit > 0):
        return None
    return Quota(resource, limit, remaining, max(0.0, full_in_s))


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text.strip())
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


SETTLED_S = 5.0
"""A refill rate is worth believing when a full bucket is at least so far off, since its moment is known to a second."""
MARGIN = 0.01
"""Share of a bucket that is left in it: requests overtake each other on the way."""
MEMORY = 0.1
"""Weight of the newest call in the mean use of a call."""


class Bucket:
    """Our account of one quota: what the last response left, refilled by the time, less what was sent since."""

    def __init__(self) -> None:
        self._limit = math.inf
        self._level = math.inf
        self._per_s = 0.0
        self._at = 0.0
        self._use = 0.0

    def learn(self, quota: Quota, *, sent_at: float, now: float, since: int) -> None:
        """`quota` is the answer to a request of `sent_at` (in our own seconds), after which `since` more were sent."""
        if quota.full_in_s >= SETTLED_S:
            self._per_s = (quota.limit - quota.remaining) / quota.full_in_s
        self._limit = quota.limit
        refilled = min(quota.limit, quota.remaining + self._per_s * (now - sent_at))
        self._level, self._at = refilled - since * self._use, now

    def learn_use(self, amount: float) -> None:
        """A call used `amount` of it."""
        self._use += (amount - self._use) * (MEMORY if self._use else 1.0)

    def free_at(self, now: float) -> float:
        """When the next call fits; at once while the rate of refilling is not known."""
        lacking = self._use + MARGIN * self._limit - self._level_at(now)
        return now if lacking <= 0 or not self._per_s else now + lacking / self._per_s

    def take(self, now: float) -> None:
        """One more call is sent."""
        if math.isfinite(self._limit):
            self._level, self._at = self._level_at(now) - self._use, now

    def _level_at(self, now: float) -> float:
        return min(self._limit, self._level + self._per_s * (now - self._at)) if self._per_s else self._level
