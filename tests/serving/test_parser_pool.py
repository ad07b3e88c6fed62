"""Several parsers as one: loads, illness, circuits, hedging, and parsers that are not the same."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import grpc
import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1._async import HealthServicer

from core.adapters.clock import SystemClock
from core.adapters.parser.access import NO_ACCESS
from core.adapters.parser.opening import connect
from core.adapters.parser.pool import ParserPool, PoolPolicy, pooled
from core.adapters.parser.wire import SERVICE
from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.adapters.proto.avap.parser.v1.parser_pb2_grpc import ParserServicer, add_ParserServicer_to_server
from core.errors import ConfigError, ParserRefused, ParserUnavailable
from core.model.specs import LanguageSpec, RuntimeSpec
from core.model.syntax import Validity
from core.policy.breaker import BreakerPolicy, State

LANGUAGE = LanguageSpec()
WAIT_S = 20.0


@dataclass
class Fake(ParserServicer):
    """Answers, in the same event loop as its client, what the test says."""

    version: str = "1"
    status: grpc.StatusCode | None = None
    open: asyncio.Event = field(default_factory=asyncio.Event)
    """Replies wait for it."""
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    asked: int = 0
    target: str = ""
    health: HealthServicer = field(default_factory=HealthServicer)

    async def Parse(  # noqa: N802
        self, request: wire.ParseRequest, context: grpc.aio.ServicerContext[wire.ParseRequest, wire.ParseResponse]
    ) -> wire.ParseResponse:
        self.asked += 1
        self.arrived.set()
        await self.open.wait()
        if self.status is not None:
            await context.abort(self.status, "as the test asked")
        return wire.ParseResponse(
            verdict="VALID", vocabulary=LANGUAGE.vocabulary, dialect="strict", parser_version=self.version,
            vocabulary_sha256="aa",
        )  # fmt: skip

    async def Info(self, request: wire.InfoRequest, context: object) -> wire.InfoResponse:  # noqa: N802
        vocabulary = wire.Vocabulary(id=LANGUAGE.vocabulary, sha256="aa")
        return wire.InfoResponse(parser_version=self.version, vocabularies=[vocabulary], dialects=["strict"])


@contextlib.asynccontextmanager
async def fakes(*servicers: Fake) -> AsyncIterator[list[str]]:
    servers = []
    for servicer in servicers:
        server = grpc.aio.server()
        add_ParserServicer_to_server(servicer, server)
        health_pb2_grpc.add_HealthServicer_to_server(servicer.health, server)
        await servicer.health.set(SERVICE, health_pb2.HealthCheckResponse.SERVING)
        servicer.target = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        await server.start()
        servers.append(server)
    try:
        yield [servicer.target for servicer in servicers]
    finally:
        for server in servers:
            await server.stop(None)


def ready(**facts: object) -> Fake:
    fake = Fake(**facts)  # type: ignore[arg-type]
    fake.open.set()
    return fake


async def judged(pool: ParserPool, within_s: float = WAIT_S) -> Validity:
    return (await pool.parse("addVar(x, 1)", LANGUAGE, within_s)).result.verdict


@contextlib.asynccontextmanager
async def pool_of(*servicers: Fake, policy: PoolPolicy | None = None) -> AsyncIterator[ParserPool]:
    async with (
        fakes(*servicers) as targets,
        pooled(targets, NO_ACCESS, policy or PoolPolicy(), SystemClock()) as pool,
    ):
        yield pool


def unused() -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"127.0.0.1:{taken.getsockname()[1]}"


async def test_the_least_busy_is_asked() -> None:
    slow, quick = Fake(), ready()
    async with pool_of(slow, quick) as pool:
        first = asyncio.create_task(judged(pool))
        await slow.arrived.wait()
        for _ in range(5):
            assert await judged(pool) is Validity.VALID
        assert (slow.asked, quick.asked) == (1, 5)
        slow.open.set()
        await first


async def test_equal_loads_take_turns() -> None:
    one, other = ready(), ready()
    async with pool_of(one, other) as pool:
        for _ in range(6):
            await judged(pool)
    assert (one.asked, other.asked) == (3, 3)


async def test_a_parser_that_is_down_costs_no_verdict() -> None:
    alive = ready()
    async with (
        fakes(alive) as targets,
        connect(f"{unused()}, {targets[0]}", language=LANGUAGE, deadline_s=WAIT_S) as parser,
    ):
        for _ in range(5):
            assert (await parser.parse("addVar(x, 1)")).verdict is Validity.VALID
        assert (await parser.info()).version == "1"


async def test_the_circuit_of_a_failing_parser_opens_and_it_is_left_alone() -> None:
    failing, fine = ready(status=grpc.StatusCode.UNAVAILABLE), ready()
    async with pool_of(failing, fine, policy=PoolPolicy(BreakerPolicy(threshold=2, cooldown_s=600))) as pool:
        for _ in range(10):
            assert await judged(pool) is Validity.VALID
    assert failing.asked == 2


async def test_open_circuits_make_no_call_until_the_cooldown_is_over() -> None:
    failing = ready(status=grpc.StatusCode.UNAVAILABLE)
    async with pool_of(failing, policy=PoolPolicy(BreakerPolicy(threshold=1, cooldown_s=600))) as pool:
        for _ in range(5):
            with pytest.raises(ParserUnavailable):
                await judged(pool)
    assert failing.asked == 1
    failing = ready(status=grpc.StatusCode.UNAVAILABLE)
    async with pool_of(failing, policy=PoolPolicy(BreakerPolicy(threshold=1, cooldown_s=0))) as pool:
        with pytest.raises(ParserUnavailable):
            await judged(pool)
        failing.status = None
        assert await judged(pool) is Validity.VALID
    assert failing.asked == 2


async def test_a_refusal_is_an_answer_and_opens_nothing() -> None:
    strict = ready(status=grpc.StatusCode.INVALID_ARGUMENT)
    async with pool_of(strict, policy=PoolPolicy(BreakerPolicy(threshold=1))) as pool:
        for _ in range(3):
            with pytest.raises(ParserRefused):
                await judged(pool)
        assert pool.endpoints[0].breaker.state is State.CLOSED


async def test_a_call_given_up_says_nothing_about_the_parser() -> None:
    slow = Fake()
    async with pool_of(slow, policy=PoolPolicy(BreakerPolicy(threshold=1))) as pool:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await judged(pool)
        assert pool.endpoints[0].breaker.state is State.CLOSED
        assert pool.endpoints[0].in_flight == 0


async def test_a_parser_that_says_it_is_leaving_is_asked_last() -> None:
    leaving, staying = ready(), ready()
    async with pool_of(leaving, staying) as pool:
        await leaving.health.set(SERVICE, health_pb2.HealthCheckResponse.NOT_SERVING)
        await asyncio.gather(*(endpoint.look(WAIT_S) for endpoint in pool.endpoints))
        for _ in range(4):
            await judged(pool)
        assert (leaving.asked, staying.asked) == (0, 4)
        staying.status = grpc.StatusCode.UNAVAILABLE
        assert await judged(pool) is Validity.VALID
    assert leaving.asked == 1


async def test_a_deadline_is_for_all_attempts_together() -> None:
    silent, also_silent = Fake(), Fake()
    async with pool_of(silent, also_silent) as pool:
        with pytest.raises(ParserUnavailable, match="DEADLINE_EXCEEDED"):
            await judged(pool, within_s=0.2)
    assert silent.asked + also_silent.asked == 1


async def test_hedging_asks_a_second_one_and_takes_the_first_answer() -> None:
    silent, quick = Fake(), ready()
    async with pool_of(silent, quick, policy=PoolPolicy(hedge_s=0.05)) as pool:
        for _ in range(2):
            assert await judged(pool) is Validity.VALID
        assert silent.asked >= 1
        assert all(endpoint.in_flight == 0 for endpoint in pool.endpoints)
    assert PoolPolicy().hedge_s is None


async def test_parsers_that_are_not_the_same_are_refused() -> None:
    async with fakes(ready(version="1"), ready(version="2")) as targets:
        target = ",".join(targets)
        async with connect(target, language=LANGUAGE, deadline_s=WAIT_S) as parser:
            with pytest.raises(ParserRefused, match="are not the same"):
                await parser.info()
        async with connect(target, language=LANGUAGE, deadline_s=WAIT_S) as parser:
            with pytest.raises(ParserRefused, match="changed during the run"):
                await asyncio.gather(*(parser.parse("addVar(x, 1)") for _ in range(4)))


async def test_nobody_at_all_is_unavailable() -> None:
    async with connect(f"{unused()},{unused()}", language=LANGUAGE, deadline_s=WAIT_S) as parser:
        with pytest.raises(ParserUnavailable):
            await parser.parse("addVar(x, 1)")
        with pytest.raises(ParserUnavailable, match="none of the parsers"):
            await parser.info()


async def test_an_empty_place_in_the_list_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="not the address of a parser"):
        async with connect("localhost:1,,localhost:2", language=LANGUAGE, deadline_s=WAIT_S):
            raise AssertionError


def test_the_policy_of_a_run() -> None:
    several = RuntimeSpec(parser_url="a:1,b:2", parser_hedge_s=0.5)
    environment = {"PARSER_CB_THRESHOLD": "7"}
    assert PoolPolicy.of(several, environment) == PoolPolicy(BreakerPolicy(threshold=7), hedge_s=0.5)
    assert PoolPolicy.of(RuntimeSpec(parser_url="a:1"), {}) is None
    assert PoolPolicy.of(RuntimeSpec(), {}) is None
