"""Every reply of a language model, kept under its content address, so that nothing is ever paid for twice.

Replies are lines of files `*.replies.jsonl`, one file for each process that writes to a folder: calls that end at the
same moment share one fsync, or on an object store one request. What an earlier version kept, a file `<key>.json` for
each reply, is read as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from decimal import Decimal
from enum import StrEnum
from pathlib import Path

from core.adapters.lines import Lines, Place, files_in, placed, read, writing
from core.adapters.recording import DamagedRecording, Recording, decode, encode, key_in
from core.adapters.single_flight import Part, SingleFlight
from core.disk import StorageQueue, each, folders, make_folder, read_part
from core.errors import RecordingMissing, StoreError
from core.model.frozen import Frozen
from core.model.prompt import Completion, Usage
from core.policy.ledger import NOTHING, Spend
from core.ports import Clock

_log = logging.getLogger(__name__)

SUFFIX = ".replies.jsonl"
RECENT = 8192
"""Replies that are kept in memory: suites of a campaign ask much the same, about when the others do."""

Asking = Callable[[], AbstractAsyncContextManager[Recording]]
"""Asks for a reply on entering its context."""


class RecordingMode(StrEnum):
    """What happens when a reply is not recorded."""

    RECORD = "record"
    """It is asked for, and recorded."""
    REPLAY = "replay"
    """RecordingMissing: nothing is ever sent."""


class ModelSpend(Frozen):
    """What one model's recordings add up to."""

    calls: int = 0
    usage: Usage = Usage()
    cost_usd: Decimal = Decimal(0)

    def with_reply(self, recording: Recording) -> ModelSpend:
        """The sum with one more reply."""
        cost = self.cost_usd + Decimal(str(recording.cost_usd))
        return ModelSpend(calls=self.calls + 1, usage=self.usage + recording.usage, cost_usd=cost)


class Recordings:
    """The replies in `folder`. One event loop uses an instance; several processes may share the folder.

    A damaged reply is treated as absent, with a warning, when recording; when replaying it is a StoreError.
    """

    def __init__(self, folder: Path, lines: Lines | None = None) -> None:
        """What is recorded goes to `lines`, a file in `folder`; without one nothing is, and replies are only replayed.

        See recorder().
        """
        self.folder = folder
        self.mode = RecordingMode.REPLAY if lines is None else RecordingMode.RECORD
        self._lines = lines
        self._flights = SingleFlight[tuple[Recording, bool]]()
        self._reading = StorageQueue()
        self._recent: dict[str, Completion] = {}
        self._places: dict[str, Place] | None = None
        self._looking = asyncio.Lock()

    async def obtain(self, key: str, asking: Asking) -> Completion:
        """The reply under `key`: from the folder, or from `asking`, whose context is left once the reply is durable.

        Whatever the context holds (a place among the calls in flight) therefore covers the call until a kill can no
        longer repeat it. Equal requests at the same time ask once. Raises what `asking` raises, RecordingMissing,
        StoreError.
        """
        recent = self._recent.get(key)
        if recent is not None:
            return recent
        (recording, found), part = await self._flights.run(key, lambda: self._recall_or_ask(key, asking))
        self._remember(recording)
        return recording.completion(replayed=found or part is Part.JOINED)

    def spent(self) -> Mapping[str, ModelSpend]:
        """Calls, usage and cost of everything recorded, by model as asked for, in alphabetical order.

        Reads everything, and blocks meanwhile: for the start and the end of a run.
        """
        sums: dict[str, ModelSpend] = defaultdict(ModelSpend)
        for recording in self.all():
            sums[recording.model] = sums[recording.model].with_reply(recording)
        return dict(sorted(sums.items()))

    def total(self) -> Spend:
        """What a ledger must start from so that a resumed run keeps to its budget."""
        return sum((Spend.of(model.usage, model.cost_usd) for model in self.spent().values()), NOTHING)

    def address(self, key: str) -> str:
        """Names the reply under `key` among the recordings of a whole run, whose folders lie side by side."""
        return f"{self.folder.name}/{key}"

    async def _recall_or_ask(self, key: str, asking: Asking) -> tuple[Recording, bool]:
        recording = await self._recalled(key)
        if recording is not None:
            return recording, True
        if self._lines is None:
            raise RecordingMissing(
                f"no recorded reply under {key[:12]} in {self.folder}",
                key=key,
                remedy="replay with the config, prompts and SDK version that were recorded, or record anew",
            )
        async with asking() as fresh:
            assert self._places is not None, "was looked into just now"
            self._places[key] = await self._lines.append(encode(fresh))
        return fresh, False

    async def _recalled(self, key: str) -> Recording | None:
        async with self._looking:
            if self._places is None:
                self._places = await asyncio.to_thread(self._found)
        place = self._places.get(key)
        if place is None:
            return None
        content = await self._reading.do(lambda: read_part(place.file, place.start, place.length), place.file)
        try:
            return decode(content or b"", key)
        except DamagedRecording as error:
            if self.mode is RecordingMode.REPLAY:
                remedy = "restore the file from a copy, or record the reply anew"
                raise StoreError(_damage(key, place, error), file=str(place.file), remedy=remedy) from error
            _log.warning("%s; it is treated as absent, and asked for again", _damage(key, place, error))
            return None

    def _found(self) -> dict[str, Place]:
        """Where each reply is; of two under one key the later one, asked for because the first is damaged."""
        return {key: place for key, (_, place) in self._contents().items()}

    def _contents(self) -> dict[str, tuple[bytes, Place]]:
        """Every reply as its bytes, by key."""
        found = {
            name.removesuffix(".json"): (content, Place(self.folder / name, 0, len(content)))
            for name, content in each(self.folder, ".json")
        }
        for file in files_in(self.folder, SUFFIX):
            found |= {key_in(line): (line, place) for line, place in placed(read(file))}
        return found

    def _remember(self, recording: Recording) -> None:
        if len(self._recent) >= RECENT:
            del self._recent[next(iter(self._recent))]
        self._recent[recording.key] = recording.completion(replayed=True)

    def all(self) -> Iterator[Recording]:
        """Every reply that reads back, by key; the others are warned of. Blocks."""
        for key, (content, place) in sorted(self._contents().items()):
            try:
                yield decode(content, key)
            except DamagedRecording as error:
                _log.warning("%s", _damage(key, place, error))


@contextlib.asynccontextmanager
async def recorder(
    folder: Path, clock: Clock, *, writer: str = "all", below: Path | None = None
) -> AsyncIterator[Recordings]:
    """The replies in `folder`, which is made where it is not there, to add to while the context is open.

    `writer` names the file that new ones go to; no other process may have it open. With `below`, a folder above
    `folder`, nothing is made where that one is missing. Raises StoreError.
    """
    await asyncio.to_thread(make_folder, folder, below=below)
    async with writing(folder / f"{writer}{SUFFIX}", clock) as lines:
        yield Recordings(folder, lines)


def replies_in(root: Path) -> Mapping[str, Recording]:
    """Everything recorded in `root` and the folders right below it, by Recordings.address. Reads everything."""
    kept = [Recordings(folder) for folder in (root, *folders(root))]
    return {recordings.address(reply.key): reply for recordings in kept for reply in recordings.all()}


def spent_in(root: Path) -> Spend:
    """What everything recorded in `root` and the folders right below it has cost."""
    charges = (Spend.of(reply.usage, Decimal(str(reply.cost_usd))) for reply in replies_in(root).values())
    return sum(charges, NOTHING)


def _damage(key: str, place: Place, error: DamagedRecording) -> str:
    return f"{place.file}: the reply under {key[:12]}, at byte {place.start}, is damaged: {error}"
