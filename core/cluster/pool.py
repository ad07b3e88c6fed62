"""The pool whose cells run in worker processes of a Ray cluster, their rows streamed back as they come."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import ray  # noqa: TID251 - this package is the edge where Ray is known
from ray.exceptions import RayError, RayTaskError  # noqa: TID251

from core.cluster.answers import PLACE_DEADLINE_S, Silent, cause_of, heard
from core.cluster.packing import unpacked
from core.cluster.session import is_own
from core.cluster.workers import CellWorker
from core.errors import DependencyDown, WorkerLost
from core.model.specs import RaySpec

_log = logging.getLogger(__name__)
Result = TypeVar("Result")

AHEAD = 16
"""Rows that a worker may be ahead of whoever takes them."""
QUIET_S = 15.0
"""After so long without any worker it is said what is waited for."""
TOGETHER_S = 10.0
"""From the first worker to the others, which start at the same time where there is room for them."""
STOP_DEADLINE_S = 20.0


@dataclass(eq=False)
class _Seat:
    """A worker, and how many cells it runs."""

    worker: Any
    placed: asyncio.Task[None]
    cells: int = 0

    @property
    def is_ready(self) -> bool:
        return self.placed.done() and not self.placed.cancelled() and self.placed.exception() is None


class RayPool:
    """core.ports.Pool on the Ray that this process is connected to when workers are first needed.

    They are made then and kept; each runs several cells at a time on its event loop. A worker that is lost is replaced,
    and the cells it ran end with WorkerLost.
    """

    def __init__(self, spec: RaySpec, cells: int, known: object = None) -> None:
        """`cells` are in flight at most. Workers are told `known` as they start, so that its modules are loaded before
        the first cell comes.
        """
        self._spec = spec
        self._cells = cells
        self._known = known
        self._seats: list[_Seat] = []
        self._together = False

    async def run(self, source: Callable[[], AsyncIterator[Result]]) -> AsyncIterator[Result]:
        """The results of `source()`, run by the worker with the fewest cells. Raises as core.ports.Pool."""
        async with self._seat() as seat:
            rows = seat.worker.rows.options(num_returns="streaming", _generator_backpressure_num_objects=AHEAD).remote(
                source
            )
            ended = False
            try:
                while (row := await heard(seat.worker, anext(rows, None))) is not None:
                    [result] = unpacked(await heard(seat.worker, row))
                    yield cast("Result", result)
                ended = True
            except RayTaskError as error:
                ended = True
                raise cause_of(error) from error
            except (RayError, Silent) as error:
                ended = True
                self._dismiss(seat)
                raise WorkerLost(
                    f"the worker that ran a cell is gone: {type(error).__name__}",
                    remedy="resume the run; if it is lost again, see Ray's logs for why (memory, most often)",
                ) from error
            finally:
                if not ended:
                    await _stopped(rows)

    @contextlib.contextmanager
    def hired(self) -> Iterator[None]:
        """With workers that start at once, on the running event loop, and end with the context."""
        self._hire()
        try:
            yield
        finally:
            self.close()

    def close(self) -> None:
        """End the workers; they end with this process in any case."""
        for seat in tuple(self._seats):
            self._dismiss(seat)

    @contextlib.asynccontextmanager
    async def _seat(self) -> AsyncIterator[_Seat]:
        self._hire()
        seat = await self._ready()
        seat.cells += 1
        try:
            yield seat
        finally:
            seat.cells -= 1

    async def _ready(self) -> _Seat:
        """The least busy of the workers that have a place; waits for the first one to get one."""
        waiting = [seat.placed for seat in self._seats]
        if not any(seat.is_ready for seat in self._seats):
            await asyncio.wait(waiting, timeout=QUIET_S, return_when=asyncio.FIRST_COMPLETED)
        if not any(task.done() for task in waiting):
            _log.warning("waiting for Ray to find a place for a worker with %g CPU", self._spec.cpus_per_worker)
            await asyncio.wait(waiting, timeout=PLACE_DEADLINE_S, return_when=asyncio.FIRST_COMPLETED)
        await self._met(waiting)
        ready = [seat for seat in self._seats if seat.is_ready]
        if ready:
            return min(ready, key=lambda seat: seat.cells)
        failed = [seat for seat in self._seats if seat.placed.done()]
        for seat in failed:
            self._dismiss(seat)
        if failed:
            raise WorkerLost("a Ray worker could not be started", remedy="see Ray's logs, then resume the run")
        raise DependencyDown(
            f"Ray gave no worker a place in {PLACE_DEADLINE_S:g} s",
            endpoint="ray",
            remedy=f"`ray status` says why; a worker needs {self._spec.cpus_per_worker:g} CPU",
        )

    async def _met(self, waiting: Sequence[asyncio.Task[None]]) -> None:
        """Give the other workers a moment once: else the first one to start would get every cell."""
        pending = [task for task in waiting if not task.done()]
        if pending and not self._together:
            await asyncio.wait(pending, timeout=TOGETHER_S)
        self._together = True

    def _size(self) -> int:
        if self._spec.workers is not None:
            return self._spec.workers
        if not is_own(self._spec):
            return self._cells
        cores = ray.cluster_resources().get("CPU", 1.0)
        return max(1, min(self._cells, int(cores / self._spec.cpus_per_worker)))

    def _hire(self) -> None:
        """Fill the seats that are empty."""
        kind: Any = CellWorker
        while len(self._seats) < self._size():
            worker = kind.options(num_cpus=self._spec.cpus_per_worker, scheduling_strategy="SPREAD").remote(self._known)
            self._seats.append(_Seat(worker, asyncio.ensure_future(_placed(worker))))

    def _dismiss(self, seat: _Seat) -> None:
        if seat in self._seats:
            self._seats.remove(seat)
        seat.placed.cancel()
        ray.kill(seat.worker)


async def _placed(worker: Any) -> None:
    await worker.ready.remote()


async def _stopped(rows: Any) -> None:
    """Cancel the source on its worker and wait until it has ended, so that it sends nothing more."""
    ray.cancel(rows)
    with contextlib.suppress(RayError, TimeoutError, StopAsyncIteration):
        async with asyncio.timeout(STOP_DEADLINE_S):
            while True:
                await (await anext(rows))
