"""The parser service as a process: `python -m core.serving.parser --port 50051`.

A synchronous server, since parsing is pure computation and the interpreter lock makes its threads take turns:
they keep short programs from waiting behind long ones. Health and reflection are the standard gRPC services.
"""

from __future__ import annotations

import argparse
import gc
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from core.adapters.languages import vocabulary_root
from core.adapters.parser_wire import MESSAGE_BYTES, SERVICE
from core.adapters.proto.avap.parser.v1.parser_pb2_grpc import add_ParserServicer_to_server
from core.errors import ConfigError
from core.model.specs import LanguageSpec
from core.model.syntax import Dialect
from core.serving.lifeline import announce, when_parent_leaves
from core.serving.parser_service import Languages, ParserService

THREADS = 8
GRACE_S = 2.0
"""How long calls in flight may go on after the order to stop."""

_OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.max_send_message_length", -1),
    # Two servers on one port would share its calls without a word; the second must fail instead.
    ("grpc.so_reuseport", 0),
)


@dataclass(frozen=True)
class Running:
    """A server that answers on `port`."""

    port: int
    stop: Callable[[], None]
    """Finish the calls in flight, for at most GRACE_S, refuse new ones, and return when the server is gone."""


def start(languages: Languages, *, host: str, port: int) -> Running:
    """Serve `languages` on `host:port` from threads; port 0 takes a free one.

    Raises ConfigError when the address cannot be bound.
    """
    server = grpc.server(ThreadPoolExecutor(THREADS, thread_name_prefix="parse"), options=_OPTIONS)
    add_ParserServicer_to_server(ParserService(languages), server)
    healthy = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    reflection.enable_server_reflection((SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    bound = _bind(server, host, port)
    healthy.set(SERVICE, health_pb2.HealthCheckResponse.SERVING)
    server.start()

    def stop() -> None:
        healthy.enter_graceful_shutdown()
        server.stop(GRACE_S).wait()

    return Running(bound, stop)


def _bind(server: grpc.Server, host: str, port: int) -> int:
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        return server.add_insecure_port(address)
    except RuntimeError as error:
        raise ConfigError(
            f"cannot listen on {address}: it is in use, or no address of this machine",
            remedy="choose another --port (0 takes a free one), or stop what listens there",
        ) from error


def serve(
    languages: Languages, *, host: str, port: int, ready: Callable[[int], None], leaving: threading.Event
) -> None:
    """Serve until `leaving` is set; `ready` is told the port once it answers. Raises as `start` does."""
    running = start(languages, host=host, port=port)
    ready(running.port)
    leaving.wait()
    running.stop()


def set_by(*signals: signal.Signals) -> threading.Event:
    """An event that any of `signals` sets from now on; for the main thread only."""
    event = threading.Event()
    for each in signals:
        signal.signal(each, lambda *_: event.set())
    return event


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT, or, with `--lifeline`, until SIGTERM or the end of stdin; the exit code."""
    options = _options(arguments)
    # Trees are large and hold no cycles: at the usual thresholds half of a long parse goes into looking for some.
    gc.set_threshold(100_000, 50, 100)
    leaving = set_by(signal.SIGTERM, signal.SIGINT)
    if options.lifeline:
        # Ctrl-C reaches the whole process group; a child serves its parent to the end.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        when_parent_leaves(leaving.set)
    try:
        default = LanguageSpec(vocabulary=options.vocabulary, dialect=options.dialect)
        languages = Languages.read(options.vocabulary_root or vocabulary_root(), default)
        serve(languages, host=options.host, port=options.port, ready=announce, leaving=leaving)
    except ConfigError as error:
        print(f"parser: {error}\n  {error.remedy}".rstrip(), file=sys.stderr)
        return error.exit_code
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m core.serving.parser", description="The AVAP parser over gRPC.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=50051, help="0 takes a free one (default: %(default)s)")
    parser.add_argument("--vocabulary-root", type=Path, default=None, help="folder of vocabulary files")
    parser.add_argument("--vocabulary", default=LanguageSpec().vocabulary, help="default for requests that name none")
    parser.add_argument("--dialect", type=Dialect, default=Dialect.STRICT, choices=list(Dialect), help="likewise")
    parser.add_argument("--lifeline", action="store_true", help="leave when stdin closes, as a child process should")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
