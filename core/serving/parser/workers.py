"""The server's side of its worker processes: who judges what, and what happens when one of them does not come back.

Requests are dealt to the least busy worker, a few ahead of need so that none idles. A worker that is killed, by
whomever, costs at most the request it was judging, and that one is tried once more elsewhere; the requests behind it
had not begun and go to others. A request that holds its worker for longer than STALL_S loses its followers to others,
so that it delays nobody; one that holds it longer than the limit is ended with its worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator

from core.errors import DependencyDown
from core.policy.retry import Backoff
from core.ports import Clock
from core.serving.parser.judge import Method, Reply, Setup, Status
from core.serving.parser.limits import Limits
from core.serving.parser.log import event
from core.serving.parser.process import AHEAD, Ending, Job, WorkerProcess, started
from core.serving.parser.telemetry import Meter

STALL_S = 0.05
TICK_S = 0.025
ATTEMPTS = 2
"""How often a request may be in the hands of a worker that dies."""

_BACKOFF = Backoff(first_s=0.1, ceiling_s=5.0, jitter=0.0)
_LOG = logging.getLogger("assay.parser.workers")


class Workers:
    """Judges in processes of our own. Open with `working`."""

    def __init__(self, setup: Setup, limits: Limits, clock: Clock, meter: Meter) -> None:
        self._setup = setup
        self._limits = limits
        self._clock = clock
        self._meter = meter
        self._queue: deque[Job] = deque()
        self._ready: list[WorkerProcess] = []
        self._busy = asyncio.Event()
        meter.observe("parser_queue", "Requests waiting for a worker.", lambda: self.waiting)
        meter.observe("parser_workers", "Worker processes that answer.", lambda: len(self._ready))

    @property
    def waiting(self) -> int:
        """Requests that no worker holds yet."""
        return len(self._queue)

    async def answer(self, method: Method, request: bytes) -> Reply:
        """The reply to one request, however its workers fare."""
        job = Job(method, request, asyncio.get_running_loop().create_future())
        self._queue.append(job)
        self._deal()
        return await job.reply

    async def keep(self, worker: WorkerProcess) -> None:
        """Use `worker`, and a new one whenever it ends, until cancelled."""
        barren = 0
        while True:
            await self._use(worker)
            barren = 0 if worker.answered else barren + 1
            worker = await self._another(barren)

    async def _use(self, worker: WorkerProcess) -> None:
        self._ready.append(worker)
        self._deal()
        try:
            ending = await worker.ended()
        finally:
            self._ready.remove(worker)
            await worker.close()
        self._settle(worker, ending)

    async def watch(self) -> None:
        """Look after requests that take long, for ever."""
        while True:
            await self._busy.wait()
            await self._clock.sleep(TICK_S)
            now = self._clock.monotonic()
            for worker in self._ready:
                self._look_after(worker, now)
            if not any(worker.jobs for worker in self._ready):
                self._busy.clear()

    def _deal(self) -> None:
        while self._queue:
            worker = min(self._ready, key=lambda each: each.load, default=None)
            if worker is None or worker.load >= AHEAD:
                return
            job = self._queue.popleft()
            if not job.reply.done():
                worker.take(job)
                self._busy.set()

    def _look_after(self, worker: WorkerProcess, now: float) -> None:
        held_s = worker.held_s(now)
        if held_s > self._limits.seconds:
            worker.end(Ending.TIME)
        elif held_s > STALL_S:
            followers = worker.stall()
            self._queue.extendleft(reversed(followers))
            self._deal()

    def _settle(self, worker: WorkerProcess, ending: Ending) -> None:
        """Answer, or give to others, what the ended `worker` held."""
        self._meter.worker_ended(ending)
        held = deque(worker.jobs)
        if ending is not Ending.MEMORY and held:
            self._blame(held[0], ending)
        waiting = [job for job in held if not job.moved and not job.reply.done()]
        event(_LOG, logging.WARNING, "worker_ended", reason=ending.value, pid=worker.pid, held=len(held))
        self._queue.extendleft(reversed(waiting))

    def _blame(self, job: Job, ending: Ending) -> None:
        """Charge the end of a worker to the request it was judging."""
        job.deaths += 1
        job.moved = False
        if ending is Ending.TIME:
            text = f"the request takes longer than the {self._limits.seconds:g} s that one may take"
            job.finish(Reply(Status.RESOURCE_EXHAUSTED, text.encode()))
        elif job.deaths >= ATTEMPTS:
            text = f"{ATTEMPTS} worker processes ended over this request"
            job.finish(Reply(Status.UNAVAILABLE, text.encode()))

    async def _another(self, barren: int) -> WorkerProcess:
        """A new worker; pauses grow while those that start end without having answered anything."""
        while True:
            if barren > 1:
                await self._clock.sleep(_BACKOFF.delay(barren - 2, 0))
            try:
                return await self.start()
            except DependencyDown as error:
                event(_LOG, logging.ERROR, "worker_did_not_start", reason=str(error))
                barren += 2

    async def start(self) -> WorkerProcess:
        """One more worker, for `keep`. Raises DependencyDown."""
        return await started(self._setup, self._limits, self._clock, self._deal)


@contextlib.asynccontextmanager
async def working(setup: Setup, limits: Limits, clock: Clock, meter: Meter) -> AsyncIterator[Workers]:
    """Workers that answer, as many as `limits` says; gone at the end. Raises DependencyDown when they do not start."""
    workers = Workers(setup, limits, clock, meter)
    starting = [asyncio.create_task(workers.start()) for _ in range(limits.workers)]
    tasks: list[asyncio.Task[None]] = []
    try:
        first = await asyncio.gather(*starting)
        tasks += [asyncio.create_task(workers.keep(worker)) for worker in first]
        tasks.append(asyncio.create_task(workers.watch()))
        yield workers
    finally:
        for task in (*starting, *tasks):
            task.cancel()
        await asyncio.gather(*starting, *tasks, return_exceptions=True)
        for task in starting:
            if not task.cancelled() and task.exception() is None:
                await task.result().close()
