"""Who may call the parser service, how much at once, and how it leaves: TLS, token, limits, metrics, drain."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from pydantic import SecretStr

from core.adapters.languages import load_vocabulary, vocabulary_root
from core.adapters.parser.access import NO_ACCESS, Access
from core.adapters.parser.execution_wire import from_execution
from core.adapters.parser.opening import ask, connect
from core.adapters.parser.wire import RETRY_AFTER, SERVICE
from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.adapters.proto.avap.parser.v1.parser_pb2_grpc import ParserServicer, ParserStub, add_ParserServicer_to_server
from core.avap import parse
from core.avap.execution import Inputs, execute
from core.errors import ConfigError, ParserRefused, ParserUnavailable
from core.model.specs import LanguageSpec, RuntimeSpec, TlsSpec
from core.model.syntax import Dialect, Validity
from core.serving.parser import process as parser_process
from core.serving.parser.judge import Languages
from core.serving.parser.limits import Limits
from core.serving.parser.server import Listening, ServerSpec, Tls, serving

LANGUAGE = LanguageSpec()
LANGUAGES = Languages.read(vocabulary_root(), LANGUAGE)
GOOD = "addVar(x, 1)"
WAIT_S = 20.0
PEM = Path(__file__).resolve().parents[1] / "data/tls"
ALONE = Limits(workers=0)


@contextlib.asynccontextmanager
async def served(**spec: object) -> AsyncIterator[str]:
    async with serving(LANGUAGES, ServerSpec.model_validate({"port": 0, "limits": ALONE, **spec})) as server:
        yield f"127.0.0.1:{server.port}"


async def verdict(target: str, access: Access = NO_ACCESS) -> Validity:
    async with connect(target, language=LANGUAGE, deadline_s=WAIT_S, access=access) as parser:
        return (await parser.parse(GOOD)).verdict


SERVER = Tls(cert=PEM / "server.pem", key=PEM / "server.key")
MUTUAL = Tls(cert=PEM / "server.pem", key=PEM / "server.key", client_ca=PEM / "ca.pem")


def trusting(ca: str = "ca", own: str | None = None) -> Access:
    cert, key = (None, None) if own is None else (str(PEM / f"{own}.pem"), str(PEM / f"{own}.key"))
    return Access(TlsSpec(ca=str(PEM / f"{ca}.pem"), cert=cert, key=key))


async def test_tls_answers_those_who_know_its_authority() -> None:
    async with served(tls=SERVER) as target:
        assert await verdict(target, trusting()) is Validity.VALID
        assert await verdict(f"grpcs://{target}", trusting()) is Validity.VALID
        for stranger in (NO_ACCESS, trusting("other-ca")):
            with pytest.raises(ParserUnavailable):
                await verdict(target, stranger)
        with pytest.raises(ParserUnavailable):
            await verdict(f"grpcs://{target}")


async def test_mutual_tls_answers_its_own_clients_only() -> None:
    async with served(tls=MUTUAL) as target:
        assert await verdict(target, trusting(own="client")) is Validity.VALID
        for outsider in (trusting(), trusting(own="stranger")):
            with pytest.raises(ParserUnavailable):
                await verdict(target, outsider)


@pytest.mark.parametrize(
    "tls",
    [
        Tls(cert=PEM / "absent.pem", key=PEM / "server.key"),
        Tls(cert=PEM / "server.pem", key=PEM / "make"),
        Tls(cert=PEM / "server.pem", key=PEM / "client.key"),
    ],
)
async def test_tls_files_that_cannot_work_stop_the_start(tls: Tls) -> None:
    with pytest.raises(ConfigError):
        async with served(tls=tls):
            raise AssertionError


async def test_a_token_is_asked_of_every_call_but_of_health() -> None:
    async with served(token=SecretStr("s3cret")) as target:
        assert await verdict(target, Access(token="s3cret")) is Validity.VALID
        for token in (None, "", "s3cre", "s3cret2"):
            with pytest.raises(ParserRefused, match="UNAUTHENTICATED"):
                await verdict(target, Access(token=token))
        with pytest.raises(ParserRefused, match="UNAUTHENTICATED"):
            await ask(target, deadline_s=WAIT_S)
        async with grpc.aio.insecure_channel(target) as channel:
            health = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service=SERVICE))
    assert health.status == health_pb2.HealthCheckResponse.SERVING


async def test_a_token_never_leaves_this_machine_in_the_clear() -> None:
    with pytest.raises(ConfigError, match=r"parser\.example:1 in the clear"):
        await verdict("parser.example:1", Access(token="s3cret"))
    assert "s3cret" not in repr(Access(token="s3cret"))


def test_access_comes_from_a_file_or_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("from-file\n")
    environment = {"AVAP_PARSER_TOKEN": "from-environment"}
    assert Access.of(RuntimeSpec(), {}).token is None
    assert Access.of(RuntimeSpec(), environment).token == "from-environment"
    assert Access.of(RuntimeSpec(parser_token_file=str(file)), environment).token == "from-file"
    for bad in ("", "\n", "zwei\nZeilen"):
        file.write_text(bad)
        with pytest.raises(ConfigError, match="token"):
            Access.of(RuntimeSpec(parser_token_file=str(file)), {})
    with pytest.raises(ConfigError, match="cannot be read"):
        Access.of(RuntimeSpec(parser_token_file=str(tmp_path / "absent")), {})


@pytest.fixture
def unruly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_process, "_MODULE", "unruly_worker")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)]))


async def test_overload_is_told_with_a_time_to_come_back(unruly: None, tmp_path: Path) -> None:
    gates = [tmp_path / f"gate-{n}" for n in range(3)]
    for gate in gates:
        os.mkfifo(gate)
    spec = ServerSpec(port=0, limits=Limits(workers=1, calls=3), metrics_port=0)
    async with (
        serving(LANGUAGES, spec) as server,
        grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel,
    ):
        stub = ParserStub(channel)
        held = [stub.Parse(wire.ParseRequest(code=f"# wait {gate}")) for gate in gates]
        while "parser_in_hand 3.0" not in await metrics(server):
            pass
        refused = await asyncio.gather(*(error_of(stub) for _ in range(20)))
        assert {error.code() for error in refused} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
        assert all(10 <= pause_ms(error) <= 2000 for error in refused)
        await asyncio.gather(*(asyncio.to_thread(gate.write_bytes, b"go") for gate in gates))
        assert [reply.verdict for reply in await asyncio.gather(*held)] == ["INVALID"] * 3
        assert (await stub.Parse(wire.ParseRequest(code=GOOD))).verdict == "VALID"


async def metrics(server: Listening) -> list[str]:
    url = f"http://127.0.0.1:{server.metrics_port}/metrics"
    text: str = await asyncio.to_thread(lambda: urllib.request.urlopen(url).read().decode())
    return text.splitlines()


def pause_ms(error: grpc.aio.AioRpcError) -> int:
    metadata = cast("Iterable[tuple[str, str]]", error.trailing_metadata())
    return int(dict(metadata)[RETRY_AFTER])


async def error_of(stub: ParserStub) -> grpc.aio.AioRpcError:
    try:
        await stub.Parse(wire.ParseRequest(code=GOOD))
    except grpc.aio.AioRpcError as error:
        return error
    raise AssertionError("admitted")


class Busy(ParserServicer):
    """Turns callers away `times` times."""

    def __init__(self, times: int) -> None:
        self.left = times

    def Parse(self, request: wire.ParseRequest, context: grpc.ServicerContext) -> wire.ParseResponse:  # noqa: N802
        self.left -= 1
        if self.left >= 0:
            context.set_trailing_metadata(((RETRY_AFTER, "10"),))
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "busy")
        return wire.ParseResponse(verdict="VALID", dialect="strict")


@contextlib.contextmanager
def busy(times: int) -> Iterator[str]:
    server = grpc.server(ThreadPoolExecutor(2))
    add_ParserServicer_to_server(Busy(times), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(0).wait()


async def test_the_client_comes_back_when_told_and_gives_up_at_its_deadline() -> None:
    with busy(3) as target:
        assert await verdict(target) is Validity.VALID
    with busy(10**6) as target:
        async with connect(target, language=LANGUAGE, deadline_s=0.2) as parser:
            with pytest.raises(ParserUnavailable, match=r"too busy \(RESOURCE_EXHAUSTED\)"):
                await parser.parse(GOOD)


async def test_a_batch_wider_than_the_gate_passes_when_it_is_alone() -> None:
    batch = wire.ParseBatchRequest(requests=[wire.ParseRequest(code=GOOD)] * 20)
    async with served(limits=Limits(workers=1, calls=2)) as target, grpc.aio.insecure_channel(target) as channel:
        reply = await ParserStub(channel).ParseBatch(batch)
    assert [result.verdict for result in reply.results] == ["VALID"] * 20


async def test_metrics_count_calls_by_status_and_show_what_is_in_hand() -> None:
    spec = ServerSpec(port=0, limits=Limits(workers=1), metrics_port=0)
    async with serving(LANGUAGES, spec) as server:
        target = f"127.0.0.1:{server.port}"
        for _ in range(3):
            assert await verdict(target) is Validity.VALID
        async with connect(target, language=LanguageSpec(vocabulary="none"), deadline_s=WAIT_S) as parser:
            with pytest.raises(ParserRefused):
                await parser.parse(GOOD)
        lines = await metrics(server)
    assert 'parser_calls_total{code="OK",method="Parse"} 3.0' in lines
    assert 'parser_calls_total{code="INVALID_ARGUMENT",method="Parse"} 1.0' in lines
    assert 'parser_call_seconds_count{method="Parse"} 4.0' in lines
    assert {"parser_in_hand 0.0", "parser_queue 0.0", "parser_workers 1.0"} <= set(lines)


@pytest.mark.parametrize("workers", ["0", "1"])
def test_calls_in_flight_are_finished_before_it_leaves(workers: str) -> None:
    command = [sys.executable, "-W", "error", "-m", "core.serving.parser", "--port", "0", "--workers", workers]
    long = 'addVar(x, "1")\n' * 5_000
    with subprocess.Popen([*command, "--log-level", "info"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        port = json.loads(server.stdout.readline())["ready"]["port"]
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = ParserStub(channel)
            stub.Parse(wire.ParseRequest(code=GOOD))
            calls = [stub.Parse.future(wire.ParseRequest(code=long)) for _ in range(4)]
            stub.Info(wire.InfoRequest())
            server.send_signal(signal.SIGTERM)
            assert [call.result(WAIT_S).verdict for call in calls] == ["VALID"] * 4
        assert server.wait(WAIT_S) == 0
        logged = server.stderr.read().decode()
    assert [json.loads(line)["event"] for line in logged.splitlines()] == ["serving", "draining"]
    assert "addVar" not in logged


RUNS = 'addParam("net", net)\ngross = net * 2\naddResult(gross)\naddVar(_status, 201)'


@pytest.mark.parametrize("workers", [0, 1])
async def test_execute_runs_what_is_valid_as_it_runs_here(workers: int) -> None:
    vocabulary = load_vocabulary(LANGUAGE.vocabulary)
    failing = "x = 1 / 0"
    async with (
        served(limits=Limits(workers=workers)) as target,
        grpc.aio.insecure_channel(target) as channel,
    ):
        stub = ParserStub(channel)
        for code, inputs in ((RUNS, '{"net": 21}'), (RUNS, ""), (failing, "")):
            reply = await stub.Execute(wire.ExecuteRequest(code=code, inputs=inputs))
            here = execute(
                parse(code, vocabulary, Dialect.STRICT).tree, Inputs.from_json(inputs) if inputs else Inputs()
            )
            assert reply.parse.verdict == "VALID"
            assert from_execution(reply.execution) == here
        invalid = await stub.Execute(wire.ExecuteRequest(code="for x in y:"))
    assert (invalid.parse.verdict, invalid.HasField("execution")) == ("INVALID", False)


async def test_execute_takes_narrower_limits_and_never_wider_ones() -> None:
    loop = "startLoop(i, 1, 100000000)\n  x = i\nendLoop()"
    async with served() as target, grpc.aio.insecure_channel(target) as channel:
        stub = ParserStub(channel)
        for steps in (100, 2**60):
            limits = wire.ExecuteLimits(steps=steps, trace=5)
            reply = (await stub.Execute(wire.ExecuteRequest(code=loop, limits=limits))).execution
            assert (reply.limit, reply.status, reply.error.kind) == ("steps", 500, "limit")
            assert list(reply.trace) == [1, 2, 2, 2, 2]


@pytest.mark.parametrize("inputs", ["[", "[]", '{"__now__": "yesterday"}'])
async def test_inputs_that_are_none_are_an_invalid_argument(inputs: str) -> None:
    async with served() as target, grpc.aio.insecure_channel(target) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await ParserStub(channel).Execute(wire.ExecuteRequest(code=RUNS, inputs=inputs))
    assert error.value.code() is grpc.StatusCode.INVALID_ARGUMENT
