"""An event loop whose time jumps to the next thing that is due: hours of waiting pass in milliseconds, in order."""

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

Result = TypeVar("Result")


class _Jumping(selectors.SelectSelector):
    """Instead of waiting for a timer it moves the time."""

    elapsed_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout:
            self.elapsed_s += timeout
        elif not ready and timeout is None:
            raise AssertionError("every task waits for something that nobody will do")
        return ready


class VirtualClock:
    """core.ports.Clock over the time of the loop that it is used in."""

    def __init__(self, start: str = "2026-11-21T12:00:00Z") -> None:
        self._start = datetime.fromisoformat(start)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    def now(self) -> str:
        moment = self._start + timedelta(seconds=self.monotonic())
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))  # noqa: TID251  the loop's own time


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """Run `main` to its end in virtual time. No threads, no sockets."""
    selector = _Jumping()

    class Loop(asyncio.SelectorEventLoop):
        def time(self) -> float:
            return selector.elapsed_s

    with asyncio.Runner(loop_factory=lambda: Loop(selector)) as runner:
        return runner.run(main)
