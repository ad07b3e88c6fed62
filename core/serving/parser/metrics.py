"""The parser service's figures for Prometheus, as text over HTTP."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from core.errors import ConfigError
from core.serving.parser.telemetry import Meter

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)


class PrometheusMeter:
    """A Meter whose figures a registry holds."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._calls = Counter(
            "parser_calls", "Calls by method and gRPC status.", ("method", "code"), registry=self.registry
        )
        self._seconds = Histogram(
            "parser_call_seconds", "Time of a call in the server.", ("method",), buckets=_SECONDS,
            registry=self.registry,
        )  # fmt: skip
        self._endings = Counter(
            "parser_worker_endings", "Worker processes lost, by reason.", ("reason",), registry=self.registry
        )

    def finished(self, method: str, code: str, seconds: float) -> None:
        """A call ended with the gRPC status `code` after `seconds`."""
        self._calls.labels(method, code).inc()
        self._seconds.labels(method).observe(seconds)

    def worker_ended(self, reason: str) -> None:
        """A worker process is gone."""
        self._endings.labels(reason).inc()

    def observe(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """Show `read()` as the gauge `name` whenever somebody looks."""
        Gauge(name, meaning, registry=self.registry).set_function(read)


@contextlib.contextmanager
def exposed(host: str, port: int) -> Iterator[tuple[Meter, int]]:
    """A Meter whose figures are at `http://host:port/metrics` while the context is open, and the port; 0 takes a free
    one. Raises ConfigError when the address cannot be bound."""
    meter = PrometheusMeter()
    try:
        server, thread = start_http_server(port, addr=host, registry=meter.registry)
    except OSError as error:
        raise ConfigError(
            f"cannot show metrics on {host}:{port}: {error.strerror}", remedy="choose another --metrics-port"
        ) from error
    try:
        yield meter, server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
