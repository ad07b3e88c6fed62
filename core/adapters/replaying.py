"""The workshop of a replay: replies come from their recordings, the gate is in this process, nothing is reached."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from core.adapters.build import Workshop
from core.adapters.languages import VOCABULARIES
from core.adapters.llm.request import Surface
from core.adapters.llm.surfaces import wire_to
from core.adapters.llm.wire import Wire
from core.adapters.offline import Reach, shut_off
from core.adapters.parser.inprocess import InProcessParser
from core.adapters.record import Recordings
from core.errors import LlmUnavailable
from core.model.prompt import Completion, Prompt
from core.model.record import RunRecord
from core.model.specs import LanguageSpec, ModelSpec, Provider, RehearsalSpec, RuntimeSpec
from core.ports import Clock, Llm, Parser, Places

NOWHERE = "http://replay.invalid"
"""Stands where an address is asked for; nothing is sent to it."""


@dataclass(frozen=True)
class Replay:
    """Opens the workshop of a replay: a core.lab.runner.OpenWorkshop that can be sent to other processes."""

    recordings: Path
    """Of the run that is replayed; read, never written."""
    record: RunRecord
    reach: Reach = Reach.LOOPBACK
    """How far the processes reach that it is opened in, from then on."""

    def __call__(
        self,
        places: Places,
        runtime: RuntimeSpec,
        clock: Clock,
        budget: object = None,  # noqa: ARG002  none is spent
    ) -> AbstractAsyncContextManager[Workshop]:
        """The workshop over `places`, whose own recordings are left aside."""
        return self._opened(replace(places, recordings=self.recordings), runtime, clock)

    @contextlib.asynccontextmanager
    async def _opened(self, places: Places, runtime: RuntimeSpec, clock: Clock) -> AsyncIterator[Workshop]:
        shut_off(self.reach)
        async with contextlib.AsyncExitStack() as stack:
            yield _ReplayWorkshop(stack, places, runtime, clock, self.record)


class _ReplayWorkshop(Workshop):
    """A workshop without servers. Indices and embedders are this machine's own in any case."""

    def __init__(
        self,
        stack: contextlib.AsyncExitStack,
        places: Places,
        runtime: RuntimeSpec,
        clock: Clock,
        record: RunRecord,
    ) -> None:
        super().__init__(stack, places, runtime, clock)
        self._record = record

    async def parser(self, language: LanguageSpec) -> Parser:
        """The gate for `language`; that it is the recorded one is seen where the record is compared."""

        async def opening() -> Parser:
            return InProcessParser(language, self._places.configs / VOCABULARIES)

        return await self._once(["parser", language], opening)

    async def llm(self, spec: ModelSpec, role: str, acting: RehearsalSpec | None) -> Llm:
        """The recorded replies of `spec`. No key is needed, and retired models are as good as others."""

        async def opening() -> Llm:
            folder = (
                self._rehearsed(acting) if acting and spec.provider is Provider.REHEARSAL else self._places.recordings
            )
            recordings = Recordings(folder)
            return RecordedLlm(wire_to(spec, role, NOWHERE), _surface(self._record, spec, role), recordings)

        return await self._once(["llm", role, spec, acting], opening)


@dataclass(frozen=True)
class RecordedLlm:
    """core.ports.Llm over recordings alone. Raises RecordingMissing for a prompt that was never answered."""

    wire: Wire
    """Makes requests; is never connected."""
    surface: Surface | None
    """What the recorded run called through, which is part of a reply's address; None is what is installed."""
    recordings: Recordings

    async def complete(self, prompt: Prompt) -> Completion:
        """The recorded reply to `prompt`."""
        request = self.wire.request(prompt)
        if self.surface is not None:
            request = replace(request, surface=self.surface)
        return await self.recordings.obtain(request.key, _refused)


def _surface(record: RunRecord, spec: ModelSpec, role: str) -> Surface | None:
    models = (model for suite in record.suites for model in (suite.generator, suite.judge) if model is not None)
    found = next((model for model in models if (model.role, model.model) == (role, spec.model)), None)
    return Surface(found.sdk, found.api_version) if found else None


def _refused() -> NoReturn:
    raise LlmUnavailable("a replay sends nothing", remedy="replay with the configuration that was recorded")
