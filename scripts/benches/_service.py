"""A parser service in a process of its own, asked over loopback: what the benches of parser and service share."""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

import psutil
import uvloop
from _bars import Bar

from core.adapters.parser.opening import connect
from core.model.specs import Comparator, LanguageSpec
from core.ports import Parser

Result = TypeVar("Result")

CALLS = 3_000
ROUNDS = 8
IN_FLIGHT = 32
DEADLINE_S = 20.0

ANSWERS = (
    'addParam("email", email)\nif(email, None, "==")\n  addVar(_status, 400)\n  addResult(email)\nend()',
    'encodeSHA256(password, hash_{n})\naddVar(message, "stored")\naddResult(hash_{n})\naddResult(message)',
    "total = 0\nstartLoop(i, 1, {n})\n  total = total + i * 2\nendLoop()\naddResult(total)",
    'try()\n  RequestGet("https://api.example.com/{n}", "", "", reply, 5000)\n  addResult(reply)\n'
    "exception(problem)\n  addVar(_status, 500)\n  addResult(problem)\nend()",
    "function price(net, rate){{\n  gross = net * (1 + rate / 100)\n  return(gross)\n}}\n"
    'addParam("net", net)\nid = go(price, net, {n})\nresult = gather(id, 2000)\naddResult(result)',
)
"""Programs of the length that models write; `{n}` keeps each from being like the last."""


def programs(count: int) -> list[str]:
    """`count` valid programs, no two alike."""
    return [ANSWERS[n % len(ANSWERS)].format(n=n + 1) for n in range(count)]


@dataclass(frozen=True)
class Server:
    """A parser service in a process of its own, as `assay parser serve` starts it."""

    process: psutil.Process
    target: str

    def workers(self) -> list[psutil.Process]:
        """Its worker processes."""
        return [child for child in self.process.children() if child.is_running()]

    def resident_mb(self) -> float:
        """Memory of the server with its workers, in MiB."""
        total = 0
        for process in (self.process, *self.workers()):
            with contextlib.suppress(psutil.Error):
                total += process.memory_info().rss
        return total / 2**20


@contextlib.contextmanager
def served(*options: str) -> Iterator[Server]:
    """A server with its default number of workers while the context is open."""
    command = [sys.executable, "-m", "core.serving.parser", "--port", "0", "--log-level", "error", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["ready"]["port"]
        yield Server(psutil.Process(process.pid), f"127.0.0.1:{port}")
        process.terminate()


async def latencies(parser: Parser, texts: list[str], in_flight: int) -> list[float]:
    """Seconds that each call took."""
    waiting = iter(texts)
    took: list[float] = []

    async def caller() -> None:
        for text in waiting:
            started = perf_counter()
            await parser.parse(text)
            took.append(perf_counter() - started)

    await asyncio.gather(*(caller() for _ in range(in_flight)))
    return took


async def rounds() -> list[tuple[float, float]]:
    """Calls per second, and the 99th percentile in milliseconds, of each round after a warm-up."""
    found = []
    with served() as server:
        async with connect(server.target, language=LanguageSpec(), deadline_s=DEADLINE_S) as parser:
            await latencies(parser, programs(1_000), IN_FLIGHT)
            for _ in range(ROUNDS):
                started = perf_counter()
                took = await latencies(parser, programs(CALLS), IN_FLIGHT)
                found.append((CALLS / (perf_counter() - started), statistics.quantiles(took, n=100)[98] * 1000))
    return found


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, on the same kind of event loop as the server's: half of what is measured is the client."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def loopback_bars() -> Iterator[Bar]:
    """Calls per second and their p99, of the best round: what else the machine does is not the service's doing."""
    found = run(rounds())
    rate, tail = max(found)
    print("rounds: " + ", ".join(f"{calls:,.0f}/s (p99 {late:.0f} ms)" for calls, late in found))
    yield Bar(f"Parse over loopback, {IN_FLIGHT} in flight", rate, Comparator.AT_LEAST, 2_500, "calls/s")
    yield Bar("  its p99", tail, Comparator.AT_MOST, 100, "ms")
