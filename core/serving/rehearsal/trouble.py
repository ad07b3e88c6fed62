"""Failures on request: rate limits, overload, cut and hanging connections, at seeded rates or by request header."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from core.serving.rehearsal.draws import Draws

HEADER = "assay-trouble"
"""`KIND` fails this request always, `KIND*N` its first N attempts."""


class Trouble(StrEnum):
    """What can go wrong instead of a reply."""

    RATE_LIMITED = "429"
    SERVER_ERROR = "500"
    OVERLOADED = "529"
    CUT = "cut"
    """The connection closes in the middle of the reply."""
    HALF = "half"
    """Half of the reply arrives, as if it were whole."""
    HANG = "hang"
    """Nothing arrives, ever."""


ERROR_TYPES = {
    Trouble.RATE_LIMITED: "rate_limit_error",
    Trouble.SERVER_ERROR: "api_error",
    Trouble.OVERLOADED: "overloaded_error",
}


class Troubles:
    """Decides by request and attempt, so that a retry of the same request can succeed.

    Attempts are counted in memory, by request; a restarted server starts counting again.
    """

    def __init__(self, rates: Mapping[Trouble, float]) -> None:
        self._rates = {trouble: rates[trouble] for trouble in Trouble if rates.get(trouble)}
        self._attempts: dict[str, int] = {}

    def strike(self, identity: str, header: str | None) -> Trouble | None:
        """What befalls this attempt at the request `identity`. Raises ValueError for an unreadable header."""
        if not (self._rates or header):
            return None
        attempt = self._attempts[identity] = self._attempts.get(identity, 0) + 1
        if header:
            return _asked_for(header, attempt)
        drawn = Draws(identity).share("trouble", attempt)
        for trouble, rate in self._rates.items():
            if drawn < rate:
                return trouble
            drawn -= rate
        return None


def _asked_for(header: str, attempt: int) -> Trouble | None:
    kind, _, attempts = header.partition("*")
    trouble = Trouble(kind)
    return trouble if not attempts or attempt <= int(attempts) else None
