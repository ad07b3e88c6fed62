"""Several parsers behind one address: the least busy healthy one is asked, and the next when that fails."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.adapters.parser.access import Access
from core.adapters.parser.channel import Judged, ParserChannel, opened
from core.errors import ParserRefused, ParserUnavailable
from core.model.specs import LanguageSpec, RuntimeSpec
from core.model.syntax import ParserInfo
from core.policy.breaker import Breaker, BreakerPolicy
from core.ports import Clock


@dataclass(frozen=True)
class PoolPolicy:
    """How a pool treats its endpoints."""

    breaker: BreakerPolicy = field(default_factory=BreakerPolicy)
    """Of each endpoint."""
    hedge_s: float | None = None
    """Seconds of silence after which a second endpoint is asked as well; None never does."""
    health_every_s: float = 5.0
    health_within_s: float = 1.0

    @classmethod
    def of(cls, runtime: RuntimeSpec, environment: Mapping[str, str]) -> PoolPolicy | None:
        """The policy for the parsers of `runtime`; None for a single one, which a run does not outlive anyway.

        Raises ConfigError for numbers in the environment that cannot work.
        """
        if "," not in (runtime.parser_url or ""):
            return None
        return cls(BreakerPolicy.from_environment(environment), runtime.parser_hedge_s)


@dataclass(eq=False)
class Endpoint:
    """One parser, and what is known of it."""

    channel: ParserChannel
    breaker: Breaker
    serving: bool = True
    """What its health service said last."""
    in_flight: int = 0
    asked: int = 0
    """Calls so far: where loads are equal, the one asked less often is next."""

    async def parse(self, code: str, language: LanguageSpec, within_s: float) -> Judged:
        """Judge one program, and let the circuit know. Raises as a Parser does; ParserUnavailable when it is open."""
        permit = self.breaker.admit()
        if permit is None:
            raise ParserUnavailable(f"the circuit to {self.channel.target} is open", endpoint=self.channel.target)
        self.in_flight += 1
        self.asked += 1
        try:
            judged = await self.channel.parse(code, language, within_s)
        except ParserUnavailable:
            permit.failed()
            raise
        except ParserRefused:
            permit.succeeded()
            raise
        except BaseException:
            permit.abandoned()
            raise
        finally:
            self.in_flight -= 1
        permit.succeeded()
        return judged

    async def look(self, within_s: float) -> None:
        """Ask its health service."""
        try:
            await self.channel.healthy(within_s)
        except (ParserUnavailable, ParserRefused):
            self.serving = False
        else:
            self.serving = True


class ParserPool:
    """What a single ParserChannel is, over several."""

    def __init__(self, endpoints: Sequence[Endpoint], policy: PoolPolicy, clock: Clock) -> None:
        self.target = ", ".join(endpoint.channel.target for endpoint in endpoints)
        self.endpoints = endpoints
        self._policy = policy
        self._clock = clock

    async def parse(self, code: str, language: LanguageSpec, within_s: float) -> Judged:
        """Judge one program at one endpoint, or at the next while time is left. Raises as a Parser does."""
        ends = self._clock.monotonic() + within_s
        tried: list[Endpoint] = []
        failure = ParserUnavailable(f"the circuits to {self.target} are open", endpoint=self.target)
        while (left := ends - self._clock.monotonic()) > 0 and (endpoint := self._choice(tried)):
            tried.append(endpoint)
            try:
                return await self._asked(endpoint, tried, _Question(code, language, left))
            except ParserUnavailable as error:
                failure = error
        raise failure

    async def info(self, within_s: float) -> ParserInfo:
        """What the parsers are: those that answer. Raises ParserRefused when they are not all the same."""
        asked = [endpoint.channel.info(within_s) for endpoint in self.endpoints]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        known = {}
        for endpoint, answer in zip(self.endpoints, answers, strict=True):
            if isinstance(answer, ParserInfo):
                known[endpoint.channel.target] = answer
            elif not isinstance(answer, ParserUnavailable):
                raise answer
        if not known:
            raise ParserUnavailable(f"none of the parsers at {self.target} answers", endpoint=self.target)
        return _same(known)

    async def watch(self) -> None:
        """Keep asking the endpoints whether they serve, until cancelled."""
        while True:
            await asyncio.gather(*(endpoint.look(self._policy.health_within_s) for endpoint in self.endpoints))
            await self._clock.sleep(self._policy.health_every_s)

    def _choice(self, tried: Collection[Endpoint]) -> Endpoint | None:
        """The endpoint to ask next; one that is said to be ill only when there is no other."""
        open_to = [each for each in self.endpoints if each not in tried and each.breaker.passes]
        return min(open_to, key=lambda each: (not each.serving, each.in_flight, each.asked), default=None)

    async def _asked(self, endpoint: Endpoint, tried: list[Endpoint], question: _Question) -> Judged:
        """The judgement of `endpoint`, or of a second one where the policy hedges and the first is slow."""
        if self._policy.hedge_s is None:
            return await endpoint.parse(*question)
        tasks = [asyncio.create_task(endpoint.parse(*question))]
        try:
            await asyncio.wait(tasks, timeout=self._policy.hedge_s)
            second = None if tasks[0].done() else self._choice(tried)
            if second is not None:
                tried.append(second)
                tasks.append(asyncio.create_task(second.parse(*question.after(self._policy.hedge_s))))
            return await _first_good(tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _same(known: Mapping[str, ParserInfo]) -> ParserInfo:
    """What all of them say. Raises ParserRefused where two differ."""
    (first, info), *others = known.items()
    for target, other in others:
        if other != info:
            raise ParserRefused(
                f"the parsers at {first} and {target} are not the same",
                remedy="give all endpoints one release and one set of vocabulary files",
            )
    return info


class _Question(NamedTuple):
    """The arguments of one call."""

    code: str
    language: LanguageSpec
    within_s: float

    def after(self, seconds: float) -> _Question:
        """The same with less time."""
        return self._replace(within_s=max(0.001, self.within_s - seconds))


async def _first_good(tasks: Sequence[asyncio.Task[Judged]]) -> Judged:
    failure: ParserUnavailable | None = None
    for finished in asyncio.as_completed(tasks):
        try:
            return await finished
        except ParserUnavailable as error:
            failure = error
    assert failure is not None
    raise failure


@contextlib.asynccontextmanager
async def pooled(targets: Sequence[str], access: Access, policy: PoolPolicy, clock: Clock) -> AsyncIterator[ParserPool]:
    """A pool over `targets`, watched while the context is open. Raises ConfigError."""
    async with contextlib.AsyncExitStack() as stack:
        endpoints = [
            Endpoint(await stack.enter_async_context(opened(target, access, clock)), Breaker(policy.breaker, clock))
            for target in targets
        ]
        pool = ParserPool(endpoints, policy, clock)
        watching = asyncio.create_task(pool.watch())
        try:
            yield pool
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
