"""Whether a failed call is worth repeating, and after how long. Decisions only: nothing here sends or waits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

from core.model.frozen import seed_for
from core.policy.quota import Quota, quotas

_TRANSIENT = frozenset({408, 409, 429})


class Charge(StrEnum):
    """Whether a failed attempt may have been billed."""

    NONE = "none"
    POSSIBLE = "possible"
    """The request went out and its reply was lost: the provider may have produced, and billed, all of it."""


@dataclass(frozen=True)
class Failure:
    """One attempt that gave no usable reply."""

    reason: str
    """For people; holds nothing of the prompt."""
    status: int = 0
    """The HTTP status, or 0 when there was no whole response: no connection, a cut stream, truncated JSON."""
    advised: bool | None = None
    """What the server said in `x-should-retry`; None when it said nothing."""
    wait_s: float | None = None
    """What the server said in Retry-After, in seconds from now."""
    charge: Charge = Charge.NONE
    quotas: tuple[Quota, ...] = ()
    """What the response said of the provider's quotas."""


def is_retryable(failure: Failure) -> bool:
    """Whether repeating can help: the server's own advice, else 408, 409, 429, 5xx (529 too) and lost replies."""
    if failure.advised is not None:
        return failure.advised
    return failure.status == 0 or is_transient(failure.status)


def is_transient(status: int) -> bool:
    """Whether a status speaks of the moment rather than of the request."""
    return status in _TRANSIENT or status >= 500


@dataclass(frozen=True)
class Backoff:
    """Pauses that double from `first_s` to `ceiling_s`, each shortened by up to `jitter` of itself."""

    first_s: float = 0.5
    ceiling_s: float = 8.0
    jitter: float = 0.25

    def delay(self, attempt: int, seed: int) -> float:
        """Seconds before the attempt that follows the failed `attempt` (from 0); equal seeds give equal delays."""
        full = min(self.first_s * 2.0 ** min(attempt, 32), self.ceiling_s)
        return full * (1.0 - self.jitter * seed_for(seed, attempt) / 2**63)

    def pause(self, failure: Failure, *, attempt: int, seed: int, remaining_s: float) -> float | None:
        """Seconds to wait before trying again, or None to give up.

        Retry-After only lengthens a pause, so that a server saying 0 is not hammered. A pause that would reach our own
        deadline is not begun: nothing could be sent after it.
        """
        if not is_retryable(failure):
            return None
        wait = max(self.delay(attempt, seed), failure.wait_s or 0.0)
        return wait if wait < remaining_s else None


def from_response(status: int, headers: Mapping[str, str], reason: str, *, now: str) -> Failure:
    """The failure that an HTTP error response describes; `headers` are looked up in lower case."""
    return Failure(reason, status, _advice(headers), _wait(headers, now), quotas=quotas(headers, now=now))


def _advice(headers: Mapping[str, str]) -> bool | None:
    return {"true": True, "false": False}.get(headers.get("x-should-retry", "").strip().lower())


def _wait(headers: Mapping[str, str], now: str) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "").strip()
    seconds = _number(text)
    return seconds if seconds is not None else _until(text, now)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _until(date: str, now: str) -> float | None:
    """Seconds from `now` (ISO 8601) to an HTTP date; None when `date` is none."""
    try:
        then = parsedate_to_datetime(date)
    except (ValueError, TypeError):
        return None
    aware = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.fromisoformat(now)).total_seconds())
