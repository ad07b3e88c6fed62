"""How fast calls may follow each other, learned from a server that says nothing but "too many".

The rate at which calls were accepted just before a refusal is what the server allows. Calls go on slightly below it,
return to it, stay near it, and then try more, ever faster: the window of CUBIC (RFC 9438, section 4.2) as a rate.
"""

from __future__ import annotations

from collections import deque

WINDOW_S = 2.0
"""Accepted calls are counted over so long,"""
SAMPLE = 20
"""or over so many, whichever is longer. Fewer are but a guess."""
BELOW = 0.95
"""Share of the allowed rate to go on with after a refusal."""
STEEPEST = 0.5
"""One refusal lowers a known rate at most by this factor (times BELOW): what was counted may have been a lull."""
CYCLE_S = 15.0
"""Seconds of pacing until the allowed rate is reached again,"""
CYCLE_CALLS = 40
"""or so many calls, whichever is longer."""
LAG = 1.15
"""What is counted lags behind: a growing rate was lower a moment ago, and a pause falls into the count."""
HASTE = 10
"""How much shorter these are while the allowed rate is guessed."""
LATENESS_S = 0.05
"""How far a late caller is made up for, so that a busy machine does not lower the rate."""


class Pace:
    """The rate of one channel, in calls per second; unlimited until the first refusal."""

    def __init__(self) -> None:
        self._accepted: deque[float] = deque()
        self._began: float | None = None
        self._allowed: float | None = None
        self._haste = 1
        self._paced_s = 0.0
        self._next = 0.0

    @property
    def rate(self) -> float | None:
        """Calls per second now; None is unlimited."""
        if self._allowed is None:
            return None
        cycles = self._haste * self._paced_s / max(CYCLE_S, CYCLE_CALLS / self._allowed)
        return self._allowed * (1 + (1 - BELOW) * (cycles - 1) ** 3)

    def free_at(self, now: float) -> float:
        """When the next call may be sent."""
        return max(now, self._next)

    def take(self, at: float) -> None:
        """A call is sent at `at`, which may be a moment to come."""
        if self._began is None:
            self._began = at
        rate = self.rate
        if rate is None:
            return
        if at - self._next <= LATENESS_S:
            # Only a rate that is used up says anything: after an idle hour it is what it was before.
            self._paced_s += 1 / rate
        self._next = max(self._next, at - LATENESS_S) + 1 / rate

    def accepted(self, now: float) -> None:
        """A call was answered."""
        self._accepted.append(now)
        while len(self._accepted) > SAMPLE and self._accepted[0] < now - WINDOW_S:
            self._accepted.popleft()

    def refused(self, now: float, *, served: int) -> None:
        """A call was one too many, while `served` others were being served.

        Tell at most one per round trip: the refusals that follow it speak of the same moment.
        """
        seen, before = self._seen(now), self.rate
        if before is None:
            self._allowed = seen + served / self._elapsed(now)
        else:
            least = 0.0 if self._haste == HASTE else before * STEEPEST
            self._allowed = min(before, max(LAG * seen, least))
        self._haste = 1 if len(self._accepted) >= SAMPLE else HASTE
        self._paced_s = 0.0

    def _seen(self, now: float) -> float:
        """Calls per second that were accepted lately."""
        return max(1, len(self._accepted)) / self._elapsed(now)

    def _elapsed(self, now: float) -> float:
        began = now if self._began is None else self._began
        oldest = self._accepted[0] if len(self._accepted) >= SAMPLE else began
        return max(now - max(began, min(oldest, now - WINDOW_S)), 0.1)
