"""One worker process as the server holds it: its socket, the requests in its hands, and its end."""

from __future__ import annotations

import asyncio
import logging
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from core.errors import DependencyDown
from core.ports import Clock
from core.serving.parser.frames import SETUP, Assembler, encoded
from core.serving.parser.judge import Method, Reply, Setup, Status
from core.serving.parser.limits import Limits

AHEAD = 8
"""Requests that a worker holds at most: the one it judges, and the next ones already in its socket, so that neither
side wakes the other for each."""
START_DEADLINE_S = 30.0
_MODULE = "core.serving.parser.worker"


class Ending(StrEnum):
    """Why a worker is gone."""

    DIED = "died"
    """Killed from outside, or crashed."""
    TIME = "time"
    """Killed by us: one request took too long."""
    MEMORY = "memory"
    """Left by itself: one request needed too much."""
    CLOSED = "closed"
    """Ended by us, no longer needed."""


@dataclass(slots=True, eq=False)
class Job:
    """One request on its way to a reply."""

    method: Method
    request: bytes
    reply: asyncio.Future[Reply]
    deaths: int = 0
    """How many workers ended over it."""
    moved: bool = False
    """Given to another worker as well, because the one that holds it is stalled."""

    def finish(self, reply: Reply) -> None:
        """Answer it, unless it was answered elsewhere or nobody waits any more."""
        if not self.reply.done():
            self.reply.set_result(reply)


class WorkerProcess(asyncio.Protocol):
    """A worker that answers what it `take`s, in order. Made by `started`."""

    def __init__(self, process: subprocess.Popen[bytes], clock: Clock, then: Callable[[], None]) -> None:
        self.jobs: deque[Job] = deque()
        """In its hands, the one it judges first."""
        self.answered = 0
        self._process = process
        self._clock = clock
        self._then = then
        self._assembler = Assembler()
        self._outgoing = bytearray()
        self._transport: asyncio.Transport | None = None
        self._since = 0.0
        self._stalled = False
        self._ending = Ending.DIED
        self._set_up = asyncio.get_running_loop().create_future()
        self._lost = asyncio.Event()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def load(self) -> int:
        """Requests in its hands; more than any number while it is stalled or about to end."""
        return sys.maxsize if self._stalled else len(self.jobs)

    def held_s(self, now: float) -> float:
        """How long, in seconds, it has been judging the same request."""
        return now - self._since if self.jobs else 0.0

    def take(self, job: Job) -> None:
        """Judge `job` after those in hand."""
        if not self.jobs:
            self._since = self._clock.monotonic()
        self.jobs.append(job)
        if not self._outgoing:
            # At the end of this turn of the loop, with what else comes in it: each write wakes the process.
            asyncio.get_running_loop().call_soon(self._flush)
        self._outgoing += encoded(job.method, job.request)

    def _flush(self) -> None:
        assert self._transport is not None
        # Where the process has just gone, its requests are about to be dealt again.
        if not self._transport.is_closing():
            self._transport.write(bytes(self._outgoing))
        self._outgoing.clear()

    def stall(self) -> list[Job]:
        """Take no more until the first is done; the others in hand, in order, for other workers to judge as well."""
        self._stalled = True
        followers = [job for job in list(self.jobs)[1:] if not job.moved and not job.reply.done()]
        for job in followers:
            job.moved = True
        return followers

    def end(self, why: Ending) -> None:
        """Kill the process; what it holds stays in `jobs`."""
        self._leave(why)
        self._process.kill()

    async def ended(self) -> Ending:
        """Wait for the end of the process, by whatever hand, and for all that it still said."""
        await self._lost.wait()
        await asyncio.to_thread(self._process.wait)
        return self._ending

    async def close(self) -> None:
        """Kill the process and wait until it is gone."""
        self.end(Ending.CLOSED)
        await self.ended()

    async def set_up(self, setup: Setup) -> None:
        """Send `setup` and wait until the process can judge. Raises DependencyDown when it ends instead."""
        assert self._transport is not None
        self._transport.write(encoded(SETUP, setup.model_dump_json().encode()))
        await self._set_up

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        # Of another class under another event loop.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        for kind, body in self._assembler.feed(data):
            if self._set_up.done():
                self._replied(Reply(Status(kind), body))
            else:
                self._set_up.set_result(None)
        self._since = self._clock.monotonic()
        self._then()

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002  named by asyncio
        """Called by the event loop once the process has closed its end, dead or not."""
        self._leave(Ending.DIED)
        if not self._set_up.done():
            self._set_up.set_exception(DependencyDown("a parser worker ended before it could judge"))
        self._process.kill()
        self._lost.set()

    def _replied(self, reply: Reply) -> None:
        self.answered += 1
        self._stalled = False
        self.jobs.popleft().finish(reply)
        if reply.status is Status.RESOURCE_EXHAUSTED:
            self._leave(Ending.MEMORY)

    def _leave(self, why: Ending) -> None:
        """Take nothing more; the first reason given is the one that counts."""
        if self._ending is Ending.DIED:
            self._ending = why
        self._stalled = True


async def started(setup: Setup, limits: Limits, clock: Clock, then: Callable[[], None]) -> WorkerProcess:
    """A new process that can judge; `then` is called after its replies. Raises DependencyDown when there is none.

    A socket pair, and never a fork of this process: its threads belong to gRPC.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        process = _spawned(theirs.fileno(), limits)
    worker = WorkerProcess(process, clock, then)
    await asyncio.get_running_loop().create_connection(lambda: worker, sock=ours)
    try:
        async with asyncio.timeout(START_DEADLINE_S):
            await worker.set_up(setup)
    except BaseException as error:
        await worker.close()
        if isinstance(error, TimeoutError):
            raise DependencyDown(f"a parser worker was silent for {START_DEADLINE_S:g} s") from error
        raise
    return worker


def _spawned(connection: int, limits: Limits) -> subprocess.Popen[bytes]:
    # Not through the event loop, which may fork, or reap what is ours to wait for; it holds the loop up for 1 ms.
    command = [sys.executable, "-m", _MODULE, str(connection), str(limits.memory_mb << 20), _level()]
    return subprocess.Popen(command, pass_fds=(connection,), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def _level() -> str:
    return logging.getLevelName(logging.getLogger().getEffectiveLevel()).lower()
