"""Beside a run while it is driven: its status is written down, and it is told what somebody elsewhere wants of it.

Neither may cost the run anything: a status that cannot be written is left out, and callers that do not answer are
asked again a moment later.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping

from pydantic import ValidationError

from core.disk import read, remove
from core.errors import AssayError
from core.lab.experiment import Plan
from core.lab.progress import Watcher
from core.lab.status import STATUS_FILE, STEERING_FILE, Phase, RunStatus, Tally, phase_of
from core.lab.store import RunFolder
from core.model.traffic import Steering, Traffic
from core.ports import Clock, Workshop

_log = logging.getLogger(__name__)
INTERVAL_S = 1.0
ANSWER_DEADLINE_S = 5.0


class Attendant:
    """A Watcher that passes on what it is told, writes the status of the run and obeys its steering file."""

    def __init__(self, folder: RunFolder, shop: Workshop, watcher: Watcher, clock: Clock) -> None:
        self._folder = folder
        self._shop = shop
        self._watcher = watcher
        self._clock = clock
        self._started_at, self._started = clock.now(), clock.monotonic()
        self._tally: Tally | None = None
        self._before = 0
        self._steering = Steering()

    def begin(self, plan: Plan, finished: Mapping[str, int]) -> None:
        """The run starts."""
        self._tally = Tally(plan, finished)
        self._before = sum(finished.values())
        self._watcher.begin(plan, finished)

    def advance(self, cell: str, rows: int = 1) -> None:
        """`rows` more rows of `cell` are durable."""
        if self._tally is not None:
            self._tally.advance(cell, rows)
        self._watcher.advance(cell, rows)

    def watch(self, traffic: Traffic, steering: Steering) -> None:
        """Passed on."""
        self._watcher.watch(traffic, steering)

    async def attend(self) -> None:
        """Once: obey, ask, write."""
        await self._obey()
        traffic = await self._asked()
        if traffic is not None:
            self._watcher.watch(traffic, self._steering)
        await self._write(phase_of(self._steering), traffic)

    async def leave(self) -> None:
        """The driver ends: the status says so, and the steering was meant for it alone."""
        await self._write(Phase.ENDED, await self._asked())
        with contextlib.suppress(AssayError):
            await asyncio.to_thread(remove, self._folder.path / STEERING_FILE)

    async def _obey(self) -> None:
        wanted = await asyncio.to_thread(wanted_of, self._folder) or self._steering
        if wanted == self._steering == Steering():
            return
        # Said again each time: a caller that died and was started anew has forgotten it.
        try:
            async with asyncio.timeout(ANSWER_DEADLINE_S):
                await self._shop.steer(wanted)
        except (AssayError, TimeoutError) as error:
            _log.warning("the run could not be steered, which is tried again: %s", error)
        else:
            self._steering = wanted

    async def _asked(self) -> Traffic | None:
        try:
            async with asyncio.timeout(ANSWER_DEADLINE_S):
                return await self._shop.traffic()
        except (AssayError, TimeoutError):
            return None

    async def _write(self, phase: Phase, traffic: Traffic | None) -> None:
        if self._tally is None:
            return
        status = self._status(self._tally, phase, traffic)
        try:
            await asyncio.to_thread(self._folder.write_model, STATUS_FILE, status)
        except AssayError as error:
            _log.debug("no status: %s", error)

    def _status(self, tally: Tally, phase: Phase, traffic: Traffic | None) -> RunStatus:
        elapsed, rows, expected = self._clock.monotonic() - self._started, tally.done.total(), tally.expected.total()
        rate = (rows - self._before) / elapsed if rows > self._before and elapsed > 0 else None
        return RunStatus(
            run=self._folder.name,
            phase=phase,
            started_at=self._started_at,
            updated_at=self._clock.now(),
            elapsed_s=elapsed,
            rows=rows,
            expected=expected,
            rows_before=self._before,
            rows_per_s=rate,
            eta_s=(expected - rows) / rate if rate else None,
            suites=tally.suites(),
            traffic=traffic,
            steering=self._steering,
        )


@contextlib.asynccontextmanager
async def attended(folder: RunFolder, shop: Workshop, watcher: Watcher, clock: Clock) -> AsyncIterator[Watcher]:
    """Have the run in `folder` attended while the context is open; the watcher to tell instead of `watcher`."""
    with contextlib.suppress(AssayError):
        await asyncio.to_thread(remove, folder.path / STEERING_FILE)
    attendant = Attendant(folder, shop, watcher, clock)
    rounds = asyncio.create_task(_rounds(attendant, clock))
    try:
        yield attendant
    finally:
        rounds.cancel()
        await asyncio.gather(rounds, return_exceptions=True)
        await attendant.leave()


async def _rounds(attendant: Attendant, clock: Clock) -> None:
    while True:
        await attendant.attend()
        await clock.sleep(INTERVAL_S)


def wanted_of(folder: RunFolder) -> Steering | None:
    """What somebody wrote into the steering file of the run; None when nobody did, or it cannot be read."""
    try:
        return Steering.model_validate_json(read(folder.path / STEERING_FILE) or b"")
    except (AssayError, ValidationError):
        return None
