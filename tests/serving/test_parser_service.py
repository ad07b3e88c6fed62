"""The parser service as any gRPC client meets it, and as a process."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.protobuf.json_format import MessageToDict
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from core.adapters.languages import load_vocabulary, vocabulary_root
from core.adapters.parser.wire import BATCH, MESSAGE_BYTES, SERVICE
from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.adapters.proto.avap.parser.v1.parser_pb2_grpc import ParserStub
from core.avap import PARSER_VERSION, TRACE_TEMPLATES_SHA256
from core.errors import ConfigError
from core.model.specs import LanguageSpec
from core.serving.parser.judge import Languages
from core.serving.parser.limits import Limits
from core.serving.parser.server import ServerSpec, start

GOOD = "addVar(x, 1)"
BAD = "getSHA256(password, digest)"
BARE = "addVar(url, https://example.com)"
WAIT_S = 20.0


@pytest.fixture(scope="module")
def languages() -> Languages:
    return Languages.read(vocabulary_root(), LanguageSpec())


IN_PROCESS = Limits(workers=0)


@pytest.fixture(scope="module", params=[0, 2], ids=["inline", "workers"])
def channel(languages: Languages, request: pytest.FixtureRequest) -> Iterator[grpc.Channel]:
    server = start(languages, ServerSpec(port=0, limits=Limits(workers=request.param)))
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield channel
    server.stop()


@pytest.fixture
def parser(channel: grpc.Channel) -> ParserStub:
    return ParserStub(channel)


def code_of(error: pytest.ExceptionInfo[grpc.RpcError]) -> grpc.StatusCode:
    return error.value.code()


def test_a_reply_reads_as_the_record_spells_it(parser: ParserStub) -> None:
    reply = MessageToDict(parser.Parse(wire.ParseRequest(code=BAD)), preserving_proto_field_name=True)
    assert (reply["verdict"], reply["category"]) == ("INVALID", "unknown_token")
    assert reply["diagnostics"][0]["suggestion"] == "encodeSHA256"
    assert reply["trace"] == ["Line 1: unknown command 'getSHA256' — did you mean 'encodeSHA256'?"]
    assert "node_types" not in reply


def test_empty_fields_mean_the_defaults_and_the_reply_names_them(parser: ParserStub) -> None:
    reply = parser.Parse(wire.ParseRequest(code=GOOD))
    assert (reply.verdict, reply.vocabulary, reply.dialect) == ("VALID", "lrm-2026.04", "strict")
    assert reply.vocabulary_sha256 == load_vocabulary("lrm-2026.04").sha256
    assert dict(reply.node_types) == {"addVar": 1}
    assert not reply.HasField("category")


def test_each_request_may_name_its_own_language(parser: ParserStub) -> None:
    program = 'variableFromJSON(reply, "name", target)'
    assert parser.Parse(wire.ParseRequest(code=program)).verdict == "INVALID"
    assert parser.Parse(wire.ParseRequest(code=program, vocabulary="definitions-2026.03")).verdict == "VALID"
    assert parser.Parse(wire.ParseRequest(code=BARE)).verdict == "INVALID"
    assert parser.Parse(wire.ParseRequest(code=BARE, dialect="lenient")).verdict == "VALID"


@pytest.mark.parametrize(
    ("request_", "known"),
    [
        (wire.ParseRequest(code=GOOD, vocabulary="../lrm-2026.04"), "definitions-2026.03, lrm-2026.04"),
        (wire.ParseRequest(code=GOOD, dialect="STRICT"), "lenient, strict"),
    ],
)
def test_an_unknown_language_is_an_invalid_argument(
    parser: ParserStub, request_: wire.ParseRequest, known: str
) -> None:
    with pytest.raises(grpc.RpcError, match=known) as error:
        parser.Parse(request_)
    assert code_of(error) is grpc.StatusCode.INVALID_ARGUMENT


def test_a_message_over_the_limit_is_refused_and_code_over_its_own_is_judged(parser: ParserStub) -> None:
    with pytest.raises(grpc.RpcError) as error:
        parser.Parse(wire.ParseRequest(code="x" * (MESSAGE_BYTES + 1)))
    assert code_of(error) is grpc.StatusCode.RESOURCE_EXHAUSTED
    reply = parser.Parse(wire.ParseRequest(code=f"{GOOD}\n" * 30_000))
    assert (reply.verdict, reply.category) == ("INVALID", "syntax_error")


def test_nesting_to_the_limit_is_no_matter_for_a_server(parser: ParserStub) -> None:
    assert parser.Parse(wire.ParseRequest(code=f"x = {'[' * 200}{']' * 200}")).verdict == "VALID"
    assert parser.Parse(wire.ParseRequest(code=f"x = {'(' * 100_000}")).verdict == "INVALID"


def test_a_batch_keeps_its_order(parser: ParserStub) -> None:
    requests = [wire.ParseRequest(code=code) for code in (GOOD, BAD, GOOD)]
    reply = parser.ParseBatch(wire.ParseBatchRequest(requests=requests))
    assert [result.verdict for result in reply.results] == ["VALID", "INVALID", "VALID"]
    assert list(reply.results) == [parser.Parse(request) for request in requests]


@pytest.mark.parametrize(
    "requests",
    [
        [wire.ParseRequest(code=GOOD), wire.ParseRequest(code=GOOD, vocabulary="none")],
        [wire.ParseRequest(code=GOOD)] * (BATCH + 1),
    ],
)
def test_a_batch_is_judged_whole_or_not_at_all(parser: ParserStub, requests: list[wire.ParseRequest]) -> None:
    with pytest.raises(grpc.RpcError) as error:
        parser.ParseBatch(wire.ParseBatchRequest(requests=requests))
    assert code_of(error) is grpc.StatusCode.INVALID_ARGUMENT


def test_info_is_all_that_a_record_pins(parser: ParserStub) -> None:
    info = parser.Info(wire.InfoRequest())
    assert [vocabulary.id for vocabulary in info.vocabularies] == ["definitions-2026.03", "lrm-2026.04"]
    assert all(entry.sha256 == load_vocabulary(entry.id).sha256 for entry in info.vocabularies)
    assert [entry.node_types for entry in info.vocabularies] == [40, 38]
    assert (info.parser_version, info.trace_templates_sha256) == (PARSER_VERSION, TRACE_TEMPLATES_SHA256)
    assert list(info.dialects) == ["strict", "lenient"]
    limits = info.limits
    assert (limits.code_bytes, limits.depth, limits.message_bytes, limits.batch) == (262_144, 200, 4_194_304, 256)
    assert (info.default_vocabulary, info.default_dialect) == ("lrm-2026.04", "strict")


@pytest.mark.parametrize("service", ["", SERVICE])
def test_health_is_the_standard_service(channel: grpc.Channel, service: str) -> None:
    reply = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service=service))
    assert reply.status == health_pb2.HealthCheckResponse.SERVING


def test_reflection_lists_the_services(channel: grpc.Channel) -> None:
    ask = reflection_pb2.ServerReflectionRequest(list_services="")
    (reply,) = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(iter([ask]))
    assert {SERVICE, "grpc.health.v1.Health"} <= {entry.name for entry in reply.list_services_response.service}


def test_a_port_in_use_is_a_clear_error(languages: Languages) -> None:
    first = start(languages, ServerSpec(port=0, limits=IN_PROCESS))
    try:
        with pytest.raises(ConfigError, match=f"127.0.0.1:{first.port}.*in use"):
            start(languages, ServerSpec(port=first.port, limits=IN_PROCESS))
    finally:
        first.stop()


def test_a_process_that_serves_imports_nothing_heavy() -> None:
    script = "import core.serving.parser.__main__, sys; print(*sys.modules)"
    modules = set(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout.split())
    assert not modules & {b"torch", b"numpy", b"anthropic", b"httpx", b"typer", b"rich", b"omegaconf"}


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-W", "error", "-m", "core.serving.parser", "--port", "0", "--lifeline"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        yield process
        process.kill()


def ready_port(process: subprocess.Popen[bytes]) -> int:
    assert process.stdout is not None
    return int(json.loads(process.stdout.readline())["ready"]["port"])


def answers(port: int) -> bool:
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        try:
            return bool(ParserStub(channel).Parse(wire.ParseRequest(code=GOOD), timeout=WAIT_S).verdict == "VALID")
        except grpc.RpcError:
            return False


def test_sigterm_ends_it_cleanly(process: subprocess.Popen[bytes]) -> None:
    port = ready_port(process)
    assert answers(port)
    process.send_signal(signal.SIGINT)
    assert answers(port), "Ctrl-C at the terminal is for the parent to handle"
    process.terminate()
    assert process.wait(WAIT_S) == 0
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert not answers(port)


def test_the_end_of_stdin_ends_it(process: subprocess.Popen[bytes]) -> None:
    port = ready_port(process)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(WAIT_S) == 0
    assert not answers(port)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waiting for a process that is not a child needs pidfd")
def test_a_killed_parent_leaves_no_parser_behind(tmp_path: Path) -> None:
    script = """
import asyncio, psutil
from core.adapters.parser.opening import embedded
from core.model.specs import LanguageSpec

async def main():
    async with embedded(language=LanguageSpec(), deadline_s=10) as parser:
        await parser.parse("addVar(x, 1)")
        print(*(child.pid for child in psutil.Process().children()), flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        gone = os.pidfd_open(int(parent.stdout.readline()))
        try:
            assert select.select([gone], [], [], 0)[0] == []
            parent.kill()
            assert select.select([gone], [], [], WAIT_S)[0] == [gone]
        finally:
            os.close(gone)


def test_a_port_in_use_ends_the_process_with_the_reason() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [sys.executable, "-m", "core.serving.parser", "--port", port, "--lifeline"],
            stdin=subprocess.PIPE,
            capture_output=True,
            timeout=WAIT_S,
            check=False,
        )
    assert ended.returncode == 2
    assert b"cannot listen on 127.0.0.1:" + port.encode() in ended.stderr
    assert b"Fatal" not in ended.stderr
