"""Every reply of a language model, kept: one file per content address, so that nothing is ever paid for twice."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from decimal import Decimal
from enum import StrEnum
from pathlib import Path

from core.adapters.recording import DamagedRecording, Recording, decode, encode
from core.adapters.single_flight import Part, SingleFlight
from core.disk import StorageQueue, each, folders, make_folder, read
from core.errors import RecordingMissing, StoreError
from core.model.frozen import Frozen
from core.model.prompt import Completion, Usage
from core.policy.ledger import NOTHING, Spend

_log = logging.getLogger(__name__)

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
    """The replies in `folder`, which is made when the first one is written. One event loop at a time uses an instance;
    several processes may share the folder.

    A damaged file is treated as absent, with a warning, when recording; when replaying it is a StoreError.
    """

    def __init__(self, folder: Path, mode: RecordingMode, *, below: Path | None = None) -> None:
        """With `below`, a folder above `folder`, nothing is made where that one is missing."""
        self.folder = folder
        self._below = below
        self.mode = mode
        self._flights = SingleFlight[tuple[Recording, bool]]()
        self._reading, self._writing = StorageQueue(), StorageQueue()
        self._recent: dict[str, Completion] = {}
        self._has_folder = False

    async def obtain(self, key: str, asking: Asking) -> Completion:
        """The reply under `key`: from its file, or from `asking`, whose context is left once the reply is durable.

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

        Reads every file, and blocks meanwhile: for the start and the end of a run.
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
        recording = await self._reading.do(lambda: self._read(key), self._file(key))
        if recording is not None:
            return recording, True
        if self.mode is RecordingMode.REPLAY:
            raise RecordingMissing(
                f"no recorded reply under {key[:12]} in {self.folder}",
                key=key,
                remedy="replay with the config, prompts and SDK version that were recorded, or record anew",
            )
        async with asking() as fresh:
            await self._keep(fresh)
        return fresh, False

    def _remember(self, recording: Recording) -> None:
        if len(self._recent) >= RECENT:
            del self._recent[next(iter(self._recent))]
        self._recent[recording.key] = recording.completion(replayed=True)

    async def _keep(self, recording: Recording) -> None:
        if not self._has_folder:
            await self._writing.do(lambda: make_folder(self.folder, below=self._below), self.folder)
            self._has_folder = True
        await self._writing.replace(self._file(recording.key), encode(recording))

    def _read(self, key: str) -> Recording | None:
        content = read(self._file(key))
        return None if content is None else self._decoded(key, content)

    def _decoded(self, key: str, content: bytes) -> Recording | None:
        try:
            return decode(content, key)
        except DamagedRecording as error:
            self._report(self._file(key), error)
            return None

    def _report(self, file: Path, error: DamagedRecording) -> None:
        if self.mode is RecordingMode.REPLAY:
            raise StoreError(
                f"{file} is damaged: {error}", file=str(file), remedy="restore it from a copy, or record it anew"
            ) from error
        _log.warning("%s is damaged (%s): treated as absent, its reply is asked for again", file, error)

    def all(self) -> Iterator[Recording]:
        """Every reply that reads back, by key. Blocks."""
        for name, content in each(self.folder, ".json"):
            recording = self._decoded(name.removesuffix(".json"), content)
            if recording is not None:
                yield recording

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def replies_in(root: Path) -> Mapping[str, Recording]:
    """Everything recorded in `root` and the folders right below it, by Recordings.address. Reads every file."""
    kept = (Recordings(folder, RecordingMode.RECORD) for folder in (root, *folders(root)))
    return {recordings.address(reply.key): reply for recordings in kept for reply in recordings.all()}


def spent_in(root: Path) -> Spend:
    """What everything recorded in `root` and the folders right below it has cost."""
    charges = (Spend.of(reply.usage, Decimal(str(reply.cost_usd))) for reply in replies_in(root).values())
    return sum(charges, NOTHING)
