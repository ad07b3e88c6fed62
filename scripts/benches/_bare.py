"""What a campaign asked, asked again by the SDK alone, which keeps nothing. `python _bare.py RUN URL IN_FLIGHT`."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import anthropic
import httpx2

from core.adapters.record import replies_in


def asked_alone(run: Path, url: str, in_flight: int) -> tuple[int, float]:
    """How many requests `run` recorded, and the seconds that all of them take in a process of their own."""
    words = [sys.executable, __file__, str(run), url, str(in_flight)]
    requests, seconds = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    return int(requests), float(seconds)


async def _asked(bodies: list[dict[str, Any]], url: str, in_flight: int) -> float:
    waiting = iter(bodies)
    client = anthropic.AsyncAnthropic(
        api_key="bare", base_url=url, max_retries=0, http_client=anthropic.DefaultAioHttpClient()
    )

    async def ask() -> None:
        for body in waiting:
            await client.post("/v1/messages", cast_to=httpx2.Response, body=body)

    async with client:
        started = perf_counter()
        await asyncio.gather(*(ask() for _ in range(in_flight)))
        return perf_counter() - started


if __name__ == "__main__":
    found = [dict(reply.request) for reply in replies_in(Path(sys.argv[1], "recordings")).values()]
    print(len(found), asyncio.run(_asked(found, sys.argv[2], int(sys.argv[3]))))
