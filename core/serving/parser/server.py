"""The parser service as a gRPC server: its address, its security, its start, and an end that loses no call."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_health.v1._async import HealthServicer
from grpc_reflection.v1alpha import reflection
from pydantic import SecretStr

from core.adapters.clock import SystemClock
from core.adapters.parser.wire import MESSAGE_BYTES, SERVICE
from core.errors import ConfigError
from core.model.frozen import Frozen
from core.serving.parser.judge import Judge, Languages
from core.serving.parser.limits import Limits
from core.serving.parser.log import event
from core.serving.parser.service import Backend, Gate, Inline, ParserService
from core.serving.parser.telemetry import Meter, Unmetered
from core.serving.parser.workers import working

GRACE_S = 1.0
"""How much longer than any one request may take the calls in flight may go on after the order to stop."""
_STREAMS = 1024
"""Calls on one connection; a client's further ones wait on its own side."""
_CALLS = 8 * _STREAMS
"""Calls that gRPC lets in; beyond, it turns them away itself, without a time to come back."""
_LOG = logging.getLogger("assay.parser")

_OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_concurrent_streams", _STREAMS),
    # Two servers on one port would share its calls without a word; the second must fail instead.
    ("grpc.so_reuseport", 0),
)


class Tls(Frozen):
    """PEM files. With `client_ca`, only clients that its authorities vouch for may connect (mTLS)."""

    cert: Path
    key: Path
    client_ca: Path | None = None


class ServerSpec(Frozen):
    """Where and how to serve."""

    host: str = "127.0.0.1"
    port: int = 50051
    """0 takes a free one."""
    limits: Limits = Limits()
    tls: Tls | None = None
    token: SecretStr | None = None
    """What callers must present; None lets everybody in."""
    metrics_port: int | None = None
    """Where Prometheus may look; 0 takes a free port, None shows nothing."""


@dataclass(frozen=True)
class Listening:
    """A server that answers."""

    port: int
    metrics_port: int | None
    workers: int


@contextlib.asynccontextmanager
async def serving(languages: Languages, spec: ServerSpec) -> AsyncIterator[Listening]:
    """Serve `languages` while the context is open; at its end calls in flight are finished.

    Raises ConfigError when an address cannot be bound or a TLS file is not right; DependencyDown when the worker
    processes do not start.
    """
    clock = SystemClock()
    async with contextlib.AsyncExitStack() as stack:
        meter, metrics_port = stack.enter_context(_metering(spec))
        backend = await stack.enter_async_context(_backend(languages, spec.limits, clock, meter))
        gate = Gate(spec.limits.calls, clock)
        token = spec.token.get_secret_value() if spec.token else None
        service = ParserService(languages, backend, gate, token=token, meter=meter, clock=clock)
        port = await stack.enter_async_context(_listening(service, spec))
        event(_LOG, logging.INFO, "serving", port=port, workers=spec.limits.workers, tls=str(spec.tls is not None))
        yield Listening(port, metrics_port, spec.limits.workers)
        event(_LOG, logging.INFO, "draining", in_hand=gate.taken)


@contextlib.asynccontextmanager
async def _listening(service: ParserService, spec: ServerSpec) -> AsyncIterator[int]:
    server = grpc.aio.server(options=_OPTIONS, maximum_concurrent_rpcs=_CALLS)
    server.add_generic_rpc_handlers((service.handlers(),))
    healthy = HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    reflection.enable_server_reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    port = _bind(server, spec)
    await healthy.set(SERVICE, health_pb2.HealthCheckResponse.SERVING)
    await server.start()
    try:
        yield port
    finally:
        await healthy.enter_graceful_shutdown()
        await server.stop(spec.limits.seconds + GRACE_S)


@contextlib.asynccontextmanager
async def _backend(languages: Languages, limits: Limits, clock: SystemClock, meter: Meter) -> AsyncIterator[Backend]:
    if limits.workers:
        async with working(languages.setup, limits, clock, meter) as workers:
            yield workers
    else:
        yield Inline(Judge(languages))


@contextlib.contextmanager
def _metering(spec: ServerSpec) -> Iterator[tuple[Meter, int | None]]:
    if spec.metrics_port is None:
        yield Unmetered(), None
        return
    from core.serving.parser.metrics import exposed

    with exposed(spec.host, spec.metrics_port) as (meter, port):
        yield meter, port


def _bind(server: grpc.aio.Server, spec: ServerSpec) -> int:
    address = f"[{spec.host}]:{spec.port}" if ":" in spec.host else f"{spec.host}:{spec.port}"
    credentials = None if spec.tls is None else _credentials(spec.tls)
    try:
        if credentials is None:
            return server.add_insecure_port(address)
        return server.add_secure_port(address, credentials)
    except RuntimeError as error:
        reason = "it is in use, or no address of this machine" + (", or the TLS files are not right" * bool(spec.tls))
        raise ConfigError(
            f"cannot listen on {address}: {reason}",
            remedy="choose another --port (0 takes a free one), or stop what listens there",
        ) from error


def _credentials(tls: Tls) -> grpc.ServerCredentials:
    chain = [(_pem(tls.key, "--tls-key"), _pem(tls.cert, "--tls-cert"))]
    authorities = None if tls.client_ca is None else _pem(tls.client_ca, "--client-ca")
    return grpc.ssl_server_credentials(chain, authorities, require_client_auth=authorities is not None)


def _pem(file: Path, option: str) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{option} {file} cannot be read: {error.strerror}", file=str(file)) from error
    if b"-----BEGIN" not in content:
        raise ConfigError(f"{option} {file} is not a PEM file", file=str(file), remedy="give the PEM form")
    return content


def serve(languages: Languages, spec: ServerSpec, *, ready: Callable[[Listening], None], leaving: Leaving) -> None:
    """Serve until `leaving` is told; `ready` is told when the server answers. Raises as `serving` does."""
    with asyncio.Runner(loop_factory=_loop_factory(spec.limits)) as runner:
        runner.run(_until(languages, spec, ready, leaving))


def _loop_factory(limits: Limits) -> Callable[[], asyncio.AbstractEventLoop] | None:
    """A quicker loop where requests pass through to workers; asyncio's own where starting at once counts for more."""
    if not limits.workers or sys.platform == "win32":
        return None
    import uvloop

    return uvloop.new_event_loop


async def _until(languages: Languages, spec: ServerSpec, ready: Callable[[Listening], None], leaving: Leaving) -> None:
    leave = leaving.bound()
    async with serving(languages, spec) as listening:
        ready(listening)
        await leave.wait()


class Leaving:
    """The order to stop: given from any thread or signal handler, before or after the server has started."""

    def __init__(self) -> None:
        self._given = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._event: asyncio.Event | None = None

    def give(self) -> None:
        """Stop."""
        self._given = True
        if self._loop is not None and self._event is not None:
            self._loop.call_soon_threadsafe(self._event.set)

    def bound(self) -> asyncio.Event:
        """An event of the running loop that the order sets."""
        self._event, self._loop = asyncio.Event(), asyncio.get_running_loop()
        if self._given:
            self._event.set()
        return self._event


@dataclass(frozen=True)
class Running:
    """A server in a thread of this process."""

    port: int
    stop: Callable[[], None]
    """Finish the calls in flight, refuse new ones, and return when the server is gone."""


def start(languages: Languages, spec: ServerSpec) -> Running:
    """Serve in a thread until `stop`. Raises as `serving` does."""
    leaving = Leaving()
    outcome: Future[Listening] = Future()

    def run() -> None:
        try:
            serve(languages, spec, ready=outcome.set_result, leaving=leaving)
        except BaseException as error:  # noqa: BLE001  it belongs to whoever started the thread
            outcome.set_exception(error)

    thread = threading.Thread(target=run, name="parser-server", daemon=True)
    thread.start()
    listening = outcome.result()

    def stop() -> None:
        leaving.give()
        thread.join()

    return Running(listening.port, stop)
