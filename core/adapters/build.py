"""From specifications to open adapters: each distinct one opened once, shared by all suites, closed together."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from core.adapters import rehearsal
from core.adapters.domain import leaked, load_examples, load_golden
from core.adapters.embed import embedder_digest, open_embedder
from core.adapters.index import build, open_examples, open_index, wanted_manifest
from core.adapters.ledger import open_ledger
from core.adapters.llm import open_llm, preflight
from core.adapters.llm.prices import PRICES, load_prices
from core.adapters.llm.surfaces import takes_batches
from core.adapters.parser import opening as parser
from core.adapters.parser.access import Access
from core.adapters.parser.pool import PoolPolicy
from core.adapters.record import Recordings, recorder
from core.errors import EmbedderUnavailable, IndexUnavailable
from core.model.frozen import Frozen, digest
from core.model.record import FewShotRecord, FewShotStatus
from core.model.specs import (
    EmbedderSpec,
    FewShotSpec,
    IndexSpec,
    LanguageSpec,
    ModelSpec,
    Provider,
    RehearsalSpec,
    RetrievalSpec,
    RuntimeSpec,
    Transport,
)
from core.model.traffic import Steering, Traffic
from core.policy.ledger import NOTHING, Budget, Ledger
from core.policy.limiter import InFlight, Limiter
from core.ports import Clock, Embedder, FewShots, Index, Llm, Parser, Places

Opened = TypeVar("Opened")


class Workshop:
    """core.ports.Workshop in this process. A spec that was opened before gives the same adapter again."""

    def __init__(
        self,
        stack: contextlib.AsyncExitStack,
        places: Places,
        runtime: RuntimeSpec,
        clock: Clock,
        budget: Budget | None = None,
    ) -> None:
        """`budget` is one that other processes share; None makes this workshop the only one that spends."""
        self._stack = stack
        self._places = places
        self._runtime = runtime
        self._clock = clock
        self._opened: dict[str, Any] = {}
        self._recordings: dict[tuple[Path, str], Recordings] = {}
        self._in_flight = InFlight(runtime.concurrency)
        self._limiters: dict[str, Limiter] = {}
        self._steering = Steering()
        self._shared = budget
        self._ledger: Ledger | None = None
        self._opening = asyncio.Lock()

    def truth(self, acting: RehearsalSpec) -> Path:
        """The file where a rehearsal model of this behaviour notes what it spoiled, there once we have started one.

        It stands beside the replies it speaks of: without it they could not be told from clean ones.
        """
        return self._rehearsed(acting) / "truth.jsonl"

    async def parser(self, language: LanguageSpec) -> Parser:
        """The gate for `language`: the configured server, or one of our own."""
        target, deadline_s = self._runtime.parser_url, self._runtime.parser_deadline_s

        async def opening() -> Parser:
            if target is not None:
                access = Access.of(self._runtime, os.environ)
                policy = PoolPolicy.of(self._runtime, os.environ)
                parsers = parser.connect(target, language=language, deadline_s=deadline_s, access=access, policy=policy)
                return await self._enter(parsers)
            log = self._log("parser")
            return await self._enter(parser.embedded(language=language, deadline_s=deadline_s, log=log))

        return await self._once(["parser", language], opening)

    async def llm(self, spec: ModelSpec, role: str, acting: RehearsalSpec | None) -> Llm:
        """A caller of `spec`; `acting` says how a rehearsal model behaves."""
        preflight(spec, role=role, clock=self._clock)

        runtime = self._runtime
        transport = runtime.transport if takes_batches(spec) else Transport.MESSAGES
        batch = runtime.batch if transport is Transport.BATCHES else None

        async def opening() -> Llm:
            caller = open_llm(
                spec,
                role=role,
                base_url=await self._base_url(spec, role, acting),
                prices=load_prices(self._places.configs / PRICES),
                recordings=await self._replies(
                    acting if spec.provider is Provider.REHEARSAL else None, channel_of(spec, role, runtime)
                ),
                ledger=await self.budget(),
                limiter=await self._limiter(channel_of(spec, role, runtime), transport),
                clock=self._clock,
                deadline_s=batch.deadline_s if batch else runtime.llm_deadline_s,
                batch=batch,
            )
            return await self._enter(caller)

        return await self._once(["llm", role, spec, acting], opening)

    async def traffic(self) -> Traffic:
        """What the language-model calls are doing. What a shared budget has spent is known where it lives."""
        spent, held = (self._ledger.spent, self._ledger.held) if self._ledger else (NOTHING, NOTHING)
        return Traffic(
            channels=tuple(limiter.traffic() for limiter in self._limiters.values()),
            tokens=spent.tokens,
            usd=float(spent.usd),
            held_tokens=held.tokens,
            held_usd=float(held.usd),
        )

    async def steer(self, steering: Steering) -> None:
        """Pause, go on, be narrower or wider, from now on."""
        self._steering = steering
        self._in_flight.change(steering.concurrency or self._runtime.concurrency)
        for limiter in self._limiters.values():
            limiter.steer(steering)

    async def embedder(self, spec: EmbedderSpec) -> Embedder:
        """The embedder of `spec`, with the vectors that earlier runs kept."""

        async def opening() -> Embedder:
            return open_embedder(spec, cache=self._places.cache)

        return await self._once(["embedder", spec], opening)

    async def index(self, spec: IndexSpec, retrieval: RetrievalSpec) -> Index:
        """The index of `spec`, built first where there is none."""

        async def opening() -> Index:
            embedder = await self.embedder(spec.embedder)
            folder = await build(
                spec, configs=self._places.configs, cache=self._places.cache, embedder=embedder, clock=self._clock
            )
            wanted = await asyncio.to_thread(wanted_manifest, spec, self._places.configs)
            return await open_index(folder, wanted, embedder, retrieval)

        return await self._once(["index", spec, retrieval], opening)

    async def few_shots(self, spec: FewShotSpec, golden: Path, embedder: EmbedderSpec) -> FewShots:
        """The few-shot pool without the answers of the golden set. A pool that cannot be had is a degraded one."""
        if spec.k == 0:
            return FewShots(None, FewShotRecord(status=FewShotStatus.OFF, k_configured=0))

        async def opening() -> FewShots:
            try:
                return await self._pool(spec, golden, embedder)
            except (IndexUnavailable, EmbedderUnavailable) as error:
                degraded = FewShotStatus.DEGRADED
                return FewShots(None, FewShotRecord(status=degraded, k_configured=spec.k, reason=str(error)))

        return await self._once(["few_shots", spec, str(golden), embedder], opening)

    async def _pool(self, spec: FewShotSpec, golden: Path, embedder: EmbedderSpec) -> FewShots:
        examples = load_examples(self._places.configs / spec.pool)
        excluded = leaked(examples, load_golden(golden))
        index = await open_examples(
            examples,
            embedder=await self.embedder(embedder),
            exclude=excluded,
            embedder_digest=embedder_digest(embedder),
        )
        record = FewShotRecord(
            status=FewShotStatus.OK,
            k_configured=spec.k,
            pool_size=index.manifest.count,
            pool_sha256=index.manifest.corpus_sha256,
            excluded=tuple(sorted(excluded)),
        )
        return FewShots(index, record)

    async def _base_url(self, spec: ModelSpec, role: str, acting: RehearsalSpec | None) -> str | None:
        configured = self._runtime.generator_url if role == "generator" else self._runtime.judge_url
        if configured is not None or spec.provider is not Provider.REHEARSAL:
            return configured
        behaviour = acting or RehearsalSpec()

        async def opening() -> str:
            return await self._enter(
                rehearsal.running(behaviour, self._runtime, truth=self.truth(behaviour), log=self._log("rehearsal"))
            )

        return await self._once(["rehearsal", behaviour], opening)

    async def _replies(self, acting: RehearsalSpec | None, channel: str) -> Recordings:
        """A model's recorded replies. Rehearsal models of one name that behave differently must not share theirs.

        Each channel writes a file of its own, since it may have a process of its own.
        """
        run = self._places.recordings.parent
        folder = self._places.recordings if acting is None else self._rehearsed(acting)
        async with self._opening:
            if (folder, channel) not in self._recordings:
                replies = recorder(folder, self._clock, writer=digest(channel)[:8], below=run)
                self._recordings[folder, channel] = await self._enter(replies)
            return self._recordings[folder, channel]

    def _rehearsed(self, acting: RehearsalSpec) -> Path:
        return self._places.recordings / f"rehearsal-{digest(acting)[:8]}"

    async def budget(self) -> Budget:
        """The one budget of the run: shared, or this workshop's own, which others may share through it."""
        async with self._opening:
            if self._shared is None:
                opened = open_ledger(self._places.recordings, self._runtime.budget, self._clock)
                self._shared = self._ledger = await self._enter(opened)
            return self._shared

    async def _limiter(self, channel: str, transport: Transport) -> Limiter:
        """The one of `channel`. What an earlier process of it had in flight is spent: its replies are lost."""
        name = f"{channel}, batches" if transport is Transport.BATCHES else channel
        budget = await self.budget()
        async with self._opening:
            if name not in self._limiters:
                await budget.forfeit(name)
                limiter = self._new_limiter(name, transport)
                limiter.steer(self._steering)
                self._limiters[name] = limiter
        return self._limiters[name]

    def _new_limiter(self, name: str, transport: Transport) -> Limiter:
        """Requests wait in a batch for hours: they take no place from others, and need not be tried a few at a time."""
        most = self._runtime.concurrency
        if transport is Transport.BATCHES:
            return Limiter(most, self._clock, name=name, start=most)
        longest = self._runtime.llm_deadline_s
        return Limiter(most, self._clock, name=name, overall=self._in_flight, longest_pause_s=longest)

    async def _once(self, key: list[str | Frozen | None], opening: Callable[[], Awaitable[Opened]]) -> Opened:
        name = digest(key)
        if name not in self._opened:
            self._opened[name] = await opening()
        return cast("Opened", self._opened[name])

    async def _enter(self, context: contextlib.AbstractAsyncContextManager[Opened]) -> Opened:
        return await self._stack.enter_async_context(context)

    def _log(self, name: str) -> Path:
        self._places.logs.mkdir(parents=True, exist_ok=True)
        return self._places.logs / f"{name}.log"


def channel_of(spec: ModelSpec, role: str, runtime: RuntimeSpec) -> str:
    """Whose quota a call of `spec` counts against: the provider, and its address where one is configured."""
    url = runtime.generator_url if role == "generator" else runtime.judge_url
    return f"{spec.provider.value} at {url}" if url else spec.provider.value


@contextlib.asynccontextmanager
async def workshop(
    places: Places, runtime: RuntimeSpec, clock: Clock, budget: Budget | None = None
) -> AsyncIterator[Workshop]:
    """Adapters on demand; everything opened is closed at the end, last opened first.

    `budget` is one that other processes share; see core.adapters.ledger.open_ledger.
    """
    async with contextlib.AsyncExitStack() as stack:
        yield Workshop(stack, places, runtime, clock, budget)
