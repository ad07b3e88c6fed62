"""Calls that wait for company: requests go out in message batches, and a batch outlives the process that sent it.

A batch is written down before it is sent, so that after any crash each request is in exactly one place: not sent, in
a batch that can be found again, or answered. Recordings, budget and retries are the caller's, as for single messages.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from core.adapters.lines import writing
from core.adapters.llm.batch_api import MOST_BYTES, BatchApi, Refused
from core.adapters.llm.batch_file import BatchFile, Known
from core.adapters.llm.messages import MessagesWire
from core.adapters.llm.reply import Reply
from core.adapters.llm.request import Request
from core.model.specs import BatchSpec, ModelSpec
from core.policy.retry import Backoff, Charge, Failure, is_retryable
from core.ports import Clock

Result = TypeVar("Result")
_log = logging.getLogger(__name__)

SEPARATORS = 128
"""Bytes around one body in a batch, its custom_id included."""
FIRST_LOOK_S, LONGEST_LOOK_S, SLOWER = 2.0, 60.0, 1.5
"""A batch is looked at after the first, then ever less often."""
CLOCKS_APART = timedelta(minutes=10)
"""How far the provider's clock may be behind ours."""
SETTLING_S = 5.0
"""What was sent by a process just killed may appear in the provider's list so much later."""

Outcomes = Mapping[str, Reply | Failure]
"""The results of one batch, by key."""


@dataclass
class _Gathering:
    """Requests that will go in one batch."""

    requests: dict[str, Request] = field(default_factory=dict)
    size: int = 0
    sent: asyncio.Event = field(default_factory=asyncio.Event)


class BatchWire(MessagesWire):
    """core.adapters.llm.wire.Wire over message batches."""

    def __init__(self, spec: ModelSpec, base_url: str | None, batch: BatchSpec, file: Path, clock: Clock) -> None:
        """`file` is where this caller's batches are written down; it is no other caller's."""
        super().__init__(spec, base_url)
        self._batch = batch
        self._file = file
        self._clock = clock
        self._gathering = _Gathering()
        self._under_way: dict[str, asyncio.Task[Outcomes] | Known] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def patience(self) -> float:
        """All of the deadline: a batch that is slow is not sent again."""
        return 1.0

    def sent_before(self, request: Request) -> bool:
        """Whether it is in a batch already."""
        return request.key in self._under_way

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Open the connections and the file of batches. What is on its way when it closes is found by the next one."""
        async with super().connected(), writing(self._file, self._clock) as lines:
            assert self._client is not None
            self._book = BatchFile(lines, str(self._file))
            self._api = BatchApi(self._client, self._surface.api_version)
            self._under_way = {key: known for known in self._book.earlier for key in known.keys}
            try:
                yield
            finally:
                for task in self._tasks:
                    task.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)

    async def send(self, request: Request, *, timeout_s: float, now: str) -> Reply | Failure:  # noqa: ARG002 - of the protocol
        """The result of `request` from the batch it is in, or from the next one that is sent."""
        key = request.key
        if key not in self._under_way:
            await self._gathered(request)
        try:
            outcome = (await asyncio.shield(self._task_of(key))).get(key, _MISSING)
        except Refused as error:
            outcome = error.failure
        # Only now: until somebody has it, a result must not be lost. What failed may be sent again.
        self._under_way.pop(key, None)
        return outcome

    async def _gathered(self, request: Request) -> None:
        """Wait until `request` has gone out with others."""
        size = len(request.content) + SEPARATORS
        if self._gathering.size + size > MOST_BYTES:
            self._flush()
        gathering = self._gathering
        if not gathering.requests:
            self._begun(self._after_window(gathering))
        gathering.requests[request.key] = request
        gathering.size += size
        if len(gathering.requests) >= self._batch.requests:
            self._flush()
        try:
            await gathering.sent.wait()
        except asyncio.CancelledError:
            gathering.requests.pop(request.key, None)
            raise

    async def _after_window(self, gathering: _Gathering) -> None:
        await self._clock.sleep(self._batch.window_s)
        if gathering is self._gathering:
            self._flush()

    def _flush(self) -> None:
        gathering, self._gathering = self._gathering, _Gathering()
        if gathering.requests:
            task = self._begun(self._sent(tuple(gathering.requests.values())))
            self._under_way.update(dict.fromkeys(gathering.requests, task))
        gathering.sent.set()

    def _task_of(self, key: str) -> asyncio.Task[Outcomes]:
        """What will have the result of a request that is under way; one of an earlier process is looked for first."""
        found = self._under_way[key]
        if isinstance(found, asyncio.Task):
            return found
        task = self._begun(self._results(found, found.id) if found.id else self._found_again(found))
        self._under_way.update({other: task for other in found.keys if self._under_way.get(other) is found})
        return task

    async def _sent(self, requests: Sequence[Request]) -> Outcomes:
        """One batch from its sending to its results."""
        known = await self._book.mean([request.key for request in requests], self._clock.now())
        try:
            name = await self._api.create(requests, now=self._clock.now())
        except Refused as error:
            if error.failure.charge is Charge.NONE:
                await self._book.void(known)
                return dict.fromkeys(known.keys, error.failure)
            _log.warning("a batch of %d may or may not have been made: %s", len(requests), error.failure.reason)
            return await self._found_again(known)
        await self._book.made(known, name)
        _log.info("batch %s: %d requests sent", name, len(requests))
        return await self._results(known, name)

    async def _found_again(self, known: Known) -> Outcomes:
        """The results of a batch whose name nobody noted: of the provider's batches, the one that holds its keys."""
        await self._clock.sleep(SETTLING_S)
        for name in await self._candidates(known):
            outcomes = await self._results(known, name)
            if outcomes.keys() == set(known.keys):
                await self._book.made(known, name)
                return outcomes
        await self._book.void(known)
        return dict.fromkeys(known.keys, Failure("its batch was never made"))

    async def _candidates(self, known: Known) -> Sequence[str]:
        """Batches of the right age and size that we have no other name for."""
        since = (datetime.fromisoformat(known.at) - CLOCKS_APART).isoformat()
        while True:
            try:
                recent = [found async for found in self._api.recent(since, now=self._clock.now())]
            except Refused as error:
                await self._wait_out(error)
            else:
                return [name for name, size in recent if size == len(known.keys) and name not in self._book.names]

    async def _results(self, known: Known, name: str) -> Outcomes:
        """The results of batch `name`, once it has ended; the callers' deadlines bound the wait."""
        pause = FIRST_LOOK_S
        while True:
            try:
                if await self._api.has_ended(name, now=self._clock.now()):
                    outcomes = await self._api.results(name, now=self._clock.now())
                    _log.info("batch %s has ended: %d results", name, len(outcomes))
                    return outcomes
            except Refused as error:
                if not error.found:
                    await self._book.void(known)
                    return dict.fromkeys(known.keys, Failure(f"the provider knows no batch {name}"))
                await self._wait_out(error)
            await self._clock.sleep(pause)
            pause = min(pause * SLOWER, LONGEST_LOOK_S)

    async def _wait_out(self, error: Refused) -> None:
        """Wait as the provider asks. What repeating cannot help is raised."""
        if not is_retryable(error.failure):
            raise error
        _log.info("a call about a batch failed: %s", error.failure.reason)
        await self._clock.sleep(max(Backoff().ceiling_s, error.failure.wait_s or 0.0))

    def _begun(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # An error reaches whoever waits for the task; when nobody does, nobody needs it.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task


_MISSING = Failure("its batch has no result for it")
