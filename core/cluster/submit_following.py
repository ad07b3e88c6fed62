"""Following a job from afar to its end: its log as it grows, then its status, through any break of the connection."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Protocol

from core.cluster.submit_client import Job, JobStatus
from core.errors import DependencyDown
from core.ports import Clock

SILENCE_S = 60.0
"""After so long without a line, ask whether the job still lives: a vanished head closes no connection."""
PAUSES_S = (1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 30.0, 30.0, 60.0, 60.0, 60.0)
"""Between attempts in a row that bring nothing new; after the last the cluster counts as gone."""
STOPPED = 130
"""What a shell expects of a command that a person ended."""
SIGNALLED = 128
"""A shell adds the number of the signal that ended a command."""


class Source(Protocol):
    """What is followed: core.cluster.submit_client.Jobs."""

    def get(self, job: str) -> Job:
        """The job as it is now."""

    def log(self, job: str) -> str:
        """All it has printed."""

    def tail(self, job: str) -> AsyncIterator[str]:
        """What it prints, from the beginning."""


async def followed(source: Source, job: str, say: Callable[[str], None], clock: Clock) -> Job:
    """`job` once it has ended, all of its log said exactly once.

    Raises DependencyDown when the cluster stays silent; the job may go on without anyone watching.
    """
    following = _Following(source, job, say)
    pauses = iter(PAUSES_S)
    while True:
        before = following.shown
        found = await following.to_a_stop()
        if found is not None and found.status.is_final:
            return found
        if found is not None or following.shown > before:
            pauses = iter(PAUSES_S)
        pause = next(pauses, None)
        if pause is None:
            raise DependencyDown(f"{job} can no longer be watched: the cluster does not answer", endpoint=job,
                                 remedy="it may go on without you: look again once the cluster is back")  # fmt: skip
        await clock.sleep(pause)


def exit_code(job: Job) -> int:
    """What `assay run` ended with there, as a shell here would say it. Raises DependencyDown if it never ran."""
    if job.status is JobStatus.SUCCEEDED:
        return 0
    if job.status is JobStatus.STOPPED:
        return STOPPED
    if job.exit_code is None:
        raise DependencyDown(
            f"{job.id} was not run to its end: {job.message or 'Ray gives no reason'}",
            endpoint=job.id,
            remedy="submit again: a new attempt goes on where this one stopped. If it repeats, see `ray status` and "
            "the logs of the head",
        )
    return job.exit_code if job.exit_code >= 0 else SIGNALLED - job.exit_code


class _Following:
    """How much of a log has been said. A tail always begins at the beginning."""

    def __init__(self, source: Source, job: str, say: Callable[[str], None]) -> None:
        self.shown = 0
        self._source = source
        self._job = job
        self._say = say

    async def to_a_stop(self) -> Job | None:
        """Say what comes until there is no more, or the connection breaks; the job then, None if nobody answers."""
        try:
            await self._tailed()
            return self._source.get(self._job)
        except DependencyDown:
            return self._after_a_break()

    def _after_a_break(self) -> Job | None:
        try:
            found = self._source.get(self._job)
        except DependencyDown:
            return None
        if found.status.is_final:
            with contextlib.suppress(DependencyDown):
                self._said(self._source.log(self._job))
        return found

    async def _tailed(self) -> None:
        read = ""
        stream = self._source.tail(self._job)
        coming = asyncio.ensure_future(anext(stream, None))
        try:
            while (text := await self._arrived(coming)) is not None:
                read += text
                self._said(read)
                coming = asyncio.ensure_future(anext(stream, None))
        finally:
            coming.cancel()

    async def _arrived(self, coming: asyncio.Future[str | None]) -> str | None:
        """The next piece; None at the end. Raises DependencyDown when the job ended and its stream did not notice."""
        while not (await asyncio.wait({coming}, timeout=SILENCE_S))[0]:
            if self._source.get(self._job).status.is_final:
                raise DependencyDown("the stream stands still", endpoint=self._job)
        return coming.result()

    def _said(self, log: str) -> None:
        if len(log) > self.shown:
            self._say(log[self.shown :])
            self.shown = len(log)
