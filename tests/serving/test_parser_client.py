"""The parser client against servers that fail, hang, die and change."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import psutil
import pytest

from core.adapters.languages import vocabulary_root
from core.adapters.parser.opening import ask, connect, embedded
from core.adapters.parser.wire import MESSAGE_BYTES
from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.adapters.proto.avap.parser.v1.parser_pb2_grpc import ParserServicer, add_ParserServicer_to_server
from core.errors import ConfigError, ExitCode, ParserRefused, ParserUnavailable
from core.model.specs import LanguageSpec
from core.model.syntax import Dialect, ParseResult, Validity
from core.ports import Parser
from core.serving.parser import server as parser_server
from core.serving.parser.judge import Languages
from core.serving.parser.limits import Limits
from core.serving.parser.server import ServerSpec

LANGUAGE = LanguageSpec()
GOOD = "addVar(x, 1)"
DEADLINE_S = 10.0
SHORT_S = 0.3


def valid(version: str = "1", sha256: str = "aa") -> wire.ParseResponse:
    return wire.ParseResponse(
        verdict="VALID", vocabulary="lrm-2026.04", dialect="strict", parser_version=version, vocabulary_sha256=sha256
    )


@dataclass
class Scripted(ParserServicer):
    """Answers what the test says."""

    status: grpc.StatusCode | None = None
    reply: wire.ParseResponse = field(default_factory=valid)
    about: wire.InfoResponse = field(
        default_factory=lambda: wire.InfoResponse(
            parser_version="1", vocabularies=[wire.Vocabulary(id="lrm-2026.04", sha256="aa")], dialects=["strict"]
        )
    )

    def Parse(self, request: wire.ParseRequest, context: grpc.ServicerContext) -> wire.ParseResponse:  # noqa: N802
        if self.status is not None:
            context.abort(self.status, "as the test asked")
        return self.reply

    def Info(self, request: wire.InfoRequest, context: grpc.ServicerContext) -> wire.InfoResponse:  # noqa: N802
        return self.about


@contextmanager
def serving(service: Scripted) -> Iterator[str]:
    server = grpc.server(ThreadPoolExecutor(2))
    add_ParserServicer_to_server(service, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(0).wait()


def the_parser_process() -> psutil.Process:
    (process,) = (each for each in psutil.Process().children() if "core.serving.parser" in each.cmdline())
    return process


async def until_it_answers(parser: Parser) -> ParseResult:
    async with asyncio.timeout(DEADLINE_S):
        while True:
            with suppress(ParserUnavailable):
                return await parser.parse(GOOD)


@pytest.mark.parametrize("name", ["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN", "INTERNAL"])
async def test_no_evidence_is_unavailable(name: str) -> None:
    with serving(Scripted(status=grpc.StatusCode[name])) as target:
        async with connect(target, language=LANGUAGE, deadline_s=DEADLINE_S) as parser:
            with pytest.raises(ParserUnavailable, match=name) as error:
                await parser.parse(GOOD)
    assert error.value.endpoint == target
    assert "assay parser serve" in error.value.remedy
    assert error.value.exit_code is ExitCode.DEPENDENCY_DOWN


@pytest.mark.parametrize(
    "name", ["INVALID_ARGUMENT", "RESOURCE_EXHAUSTED", "UNIMPLEMENTED", "PERMISSION_DENIED", "UNAUTHENTICATED"]
)
async def test_declining_is_refused(name: str) -> None:
    with serving(Scripted(status=grpc.StatusCode[name])) as target:
        async with connect(target, language=LANGUAGE, deadline_s=DEADLINE_S) as parser:
            with pytest.raises(ParserRefused, match=f"{name}.*as the test asked"):
                await parser.parse(GOOD)


@pytest.mark.parametrize(
    "reply",
    [
        wire.ParseResponse(),
        wire.ParseResponse(verdict="PERHAPS", dialect="strict"),
        wire.ParseResponse(verdict="INVALID", category="bad_mood", dialect="strict"),
    ],
)
async def test_a_reply_nobody_understands_is_never_a_verdict(reply: wire.ParseResponse) -> None:
    with serving(Scripted(reply=reply)) as target:
        async with connect(target, language=LANGUAGE, deadline_s=DEADLINE_S) as parser:
            with pytest.raises(ParserRefused, match="cannot read"):
                await parser.parse(GOOD)


@pytest.mark.parametrize("changed", [valid(version="2"), valid(sha256="bb")])
async def test_another_parser_in_the_middle_of_a_run_is_refused(changed: wire.ParseResponse) -> None:
    service = Scripted()
    with serving(service) as target:
        async with connect(target, language=LANGUAGE, deadline_s=DEADLINE_S) as parser:
            await parser.info()
            assert (await parser.parse(GOOD)).verdict is Validity.VALID
            service.reply = changed
            with pytest.raises(ParserRefused, match="changed during the run"):
                await parser.parse(GOOD)


async def test_what_the_first_verdict_pinned_holds_for_info_too() -> None:
    service = Scripted(reply=valid(version="0"))
    with serving(service) as target:
        async with connect(target, language=LANGUAGE, deadline_s=DEADLINE_S) as parser:
            await parser.parse(GOOD)
            with pytest.raises(ParserRefused, match="changed during the run"):
                await parser.info()


@pytest.mark.parametrize(
    ("language", "message"),
    [
        (LanguageSpec(vocabulary="lrm-1999.01"), r"no vocabulary 'lrm-1999\.01'; it has lrm-2026\.04"),
        (LanguageSpec(dialect=Dialect.LENIENT), "no dialect 'lenient'; it has strict"),
    ],
)
async def test_info_refuses_a_parser_without_the_language(language: LanguageSpec, message: str) -> None:
    with serving(Scripted()) as target:
        async with connect(target, language=language, deadline_s=DEADLINE_S) as parser:
            with pytest.raises(ParserRefused, match=message):
                await parser.info()
        assert (await ask(target, deadline_s=DEADLINE_S)).version == "1"


async def test_nobody_there_is_known_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with asyncio.timeout(10), connect(f"127.0.0.1:{port}", language=LANGUAGE, deadline_s=60) as parser:
        with pytest.raises(ParserUnavailable, match="UNAVAILABLE"):
            await parser.parse(GOOD)


async def test_a_server_that_never_speaks_costs_one_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with connect(f"127.0.0.1:{silent.getsockname()[1]}", language=LANGUAGE, deadline_s=SHORT_S) as parser:
            with pytest.raises(ParserUnavailable, match=r"no answer within 0\.3 s"):
                await parser.parse(GOOD)


@pytest.mark.parametrize("target", ["", "http://localhost:50051"])
async def test_an_address_that_is_none_is_a_config_error(target: str) -> None:
    with pytest.raises(ConfigError, match="not the address of a parser"):
        await ask(target, deadline_s=DEADLINE_S)


async def test_a_message_too_big_is_refused_and_the_next_is_judged() -> None:
    async with embedded(language=LANGUAGE, deadline_s=DEADLINE_S) as parser:
        with pytest.raises(ParserRefused, match="RESOURCE_EXHAUSTED"):
            await parser.parse("x" * (MESSAGE_BYTES + 1))
        assert (await parser.parse(GOOD)).verdict is Validity.VALID


async def test_a_parser_killed_in_the_middle_fails_every_call_and_hangs_none() -> None:
    async with embedded(language=LANGUAGE, deadline_s=DEADLINE_S) as parser:
        assert (await parser.parse(GOOD)).verdict is Validity.VALID
        the_parser_process().kill()
        async with asyncio.timeout(DEADLINE_S):
            outcomes = await asyncio.gather(*(parser.parse(GOOD) for _ in range(16)), return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {ParserUnavailable}


async def test_a_parser_that_hangs_costs_one_deadline_and_is_used_again_when_it_wakes() -> None:
    async with embedded(language=LANGUAGE, deadline_s=SHORT_S) as parser:
        process = the_parser_process()
        process.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(ParserUnavailable, match=r"DEADLINE_EXCEEDED.*0\.3 s"):
                await parser.parse(GOOD)
        finally:
            process.send_signal(signal.SIGCONT)
        assert (await until_it_answers(parser)).verdict is Validity.VALID


async def test_a_parser_that_comes_back_is_found_again() -> None:
    languages = Languages.read(vocabulary_root(), LANGUAGE)
    limits = Limits(workers=0)
    async with contextlib.AsyncExitStack() as stack:
        async with parser_server.serving(languages, ServerSpec(port=0, limits=limits)) as first:
            target = f"127.0.0.1:{first.port}"
            parser = await stack.enter_async_context(connect(target, language=LANGUAGE, deadline_s=DEADLINE_S))
            await parser.parse(GOOD)
        with pytest.raises(ParserUnavailable):
            await parser.parse(GOOD)
        async with parser_server.serving(languages, ServerSpec(port=first.port, limits=limits)):
            assert (await until_it_answers(parser)).verdict is Validity.VALID


async def test_leaving_ends_the_child_also_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError):  # noqa: PT012  the error comes from inside the context
        async with embedded(language=LANGUAGE, deadline_s=DEADLINE_S):
            process = the_parser_process()
            raise ZeroDivisionError
    assert not process.is_running()


async def test_an_embedded_parser_without_the_vocabulary_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match=r"unknown vocabulary 'lrm-1999\.01'.*lrm-2026\.04"):
        async with embedded(language=LanguageSpec(vocabulary="lrm-1999.01"), deadline_s=DEADLINE_S):
            raise AssertionError


async def test_a_child_that_cannot_start_is_unavailable_and_quoted(tmp_path: Path, configs: Path) -> None:
    good = configs / "languages/avap/lrm-2026.04.yaml"
    (tmp_path / good.name).write_bytes(good.read_bytes())
    (tmp_path / "torn.yaml").write_text("id: [\n}")
    with pytest.raises(ParserUnavailable, match=r"torn\.yaml:2: not YAML"):
        async with embedded(language=LANGUAGE, deadline_s=DEADLINE_S, vocabularies=tmp_path):
            raise AssertionError
