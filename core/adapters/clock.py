"""The one place that asks the machine what time it is."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class SystemClock:
    """core.ports.Clock over the operating system."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        return time.monotonic()

    def now(self) -> str:
        """UTC to the second, as `2026-11-21T09:30:00Z`."""
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")  # noqa: TID251 - the adapter everybody is sent to

    async def sleep(self, seconds: float) -> None:
        """Wait; 0 or less yields once to the loop."""
        await asyncio.sleep(max(0.0, seconds))  # noqa: TID251 - the adapter everybody is sent to
