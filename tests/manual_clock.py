"""A clock that moves only when told to, or slept on."""

from datetime import UTC, datetime, timedelta


class ManualClock:
    """core.ports.Clock; `slept` lists what was waited for, in seconds."""

    def __init__(self, start: str = "2026-11-21T12:00:00Z") -> None:
        self._start = datetime.fromisoformat(start)
        self._elapsed_s = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self._elapsed_s

    def now(self) -> str:
        moment = self._start + timedelta(seconds=self._elapsed_s)
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._elapsed_s += seconds

    def advance(self, seconds: float) -> None:
        self._elapsed_s += seconds
