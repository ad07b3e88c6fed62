"""The parser service: calls/s and p99 with 32 in flight, 4x overload, workers killed under load."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Iterator

import grpc
import grpc.aio
from _bars import Bar, conclude
from _service import CALLS, DEADLINE_S, IN_FLIGHT, Server, loopback_bars, programs, run, served

from core.adapters.clock import SystemClock
from core.adapters.parser.opening import connect
from core.adapters.parser.wire import RETRY_AFTER
from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.adapters.proto.avap.parser.v1.parser_pb2_grpc import ParserStub
from core.errors import ParserUnavailable
from core.model.specs import Comparator, LanguageSpec

ADMITTED = 32
OVERLOAD = 4 * ADMITTED
KILLS = 4


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


def bars() -> Iterator[Bar]:
    """Every measurement, as it comes."""
    yield from loopback_bars()
    ends, growth = run(overloaded())
    print(f"4x overload: {dict(ends)}")
    answered = (ends["verdict"] + ends["come back later"]) / ends.total()
    yield Bar("4x overload: verdict or a time to come back", answered, Comparator.AT_LEAST, 1, "of all")
    yield Bar("4x overload: memory grows by", growth, Comparator.AT_MOST, 64, "MiB")
    lost, killed = run(lost_to_kills())
    yield Bar(f"calls lost to {killed} workers killed with SIGKILL", lost, Comparator.AT_MOST, killed, "calls")


if __name__ == "__main__":
    conclude(bars())
