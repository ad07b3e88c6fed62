"""The gRPC face of the parser service: who may call, how many at once, and the status of what cannot be answered.

Requests pass through as bytes; only the judge, wherever it runs, reads them.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NoReturn, Protocol

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from core.adapters.parser.wire import BATCH, RETRY_AFTER, SERVICE, to_info
from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.ports import Clock
from core.serving.parser.judge import Judge, Languages, Method, Reply, Status
from core.serving.parser.telemetry import Meter
from core.serving.parser.worker import answer

_CODES = {code.value[0]: code for code in grpc.StatusCode}
_SHORT = 4096
"""Bytes that are judged in less time than handing them to a thread is worth holding everybody up for."""
_THREADS = 2
_LEAST_WAIT_MS, _MOST_WAIT_MS = 10, 2000
_WEIGHT = 0.1
"""Of the newest call in the moving mean of durations."""

Context = grpc.aio.ServicerContext[bytes, bytes]


class Backend(Protocol):
    """Where requests are judged."""

    async def answer(self, method: Method, request: bytes) -> Reply:
        """The reply to one request."""


class Inline:
    """Judges in this process: short programs at once, the others in threads, so that they do not hold up the short."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="judge")

    async def answer(self, method: Method, request: bytes) -> Reply:
        """The reply to one request."""
        if method is Method.PARSE and len(request) <= _SHORT:
            return answer(self._judge, method, request)
        return await asyncio.get_running_loop().run_in_executor(self._threads, answer, self._judge, method, request)


class Refusal(Exception):
    """The end of a call that has no reply."""

    def __init__(self, code: grpc.StatusCode, details: str, *, retry_ms: int | None = None) -> None:
        super().__init__(details)
        self.code = code
        self.metadata = () if retry_ms is None else ((RETRY_AFTER, str(retry_ms)),)


class Gate:
    """How many requests are in hand; whoever is turned away is told when a place should be free."""

    def __init__(self, places: int, clock: Clock) -> None:
        self.taken = 0
        self._places = places
        self._clock = clock
        self._mean_s = 0.0

    @contextmanager
    def admitted(self, requests: int) -> Iterator[None]:
        """Room for `requests` while the context is open. Raises Refusal; a batch wider than the gate passes alone."""
        if self.taken and self.taken + requests > self._places:
            raise Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many calls at once", retry_ms=self._wait_ms())
        self.taken += requests
        started = self._clock.monotonic()
        try:
            yield
        finally:
            self.taken -= requests
            self._mean_s += _WEIGHT * (self._clock.monotonic() - started - self._mean_s)

    def _wait_ms(self) -> int:
        """By when the calls of now are through: as long as a call takes these days."""
        return min(max(round(self._mean_s * 1000), _LEAST_WAIT_MS), _MOST_WAIT_MS)


class ParserService:
    """The methods of avap.parser.v1.Parser over a backend."""

    def __init__(
        self, languages: Languages, backend: Backend, gate: Gate, *, token: str | None, meter: Meter, clock: Clock
    ) -> None:
        self._info_reply = to_info(languages.info, languages.setup.default).SerializeToString()
        self._backend = backend
        self._gate = gate
        self._expected = None if token is None else f"Bearer {token}".encode()
        self._meter = meter
        self._clock = clock
        meter.observe("parser_in_hand", "Requests admitted and not yet answered.", lambda: gate.taken)

    def handlers(self) -> grpc.GenericRpcHandler[bytes, bytes]:
        """What a server is given."""
        methods = {"Parse": self._parse, "ParseBatch": self._parse_batch, "Execute": self._execute, "Info": self._info}
        return grpc.method_handlers_generic_handler(
            SERVICE, {name: grpc.unary_unary_rpc_method_handler(self._guarded(name, methods[name])) for name in methods}
        )

    def _guarded(
        self, name: str, work: Callable[[bytes], Awaitable[bytes]]
    ) -> Callable[[bytes, Context], Awaitable[bytes]]:
        """`work` for callers who may, its refusals as statuses, its end counted."""

        async def handler(request: bytes, context: Context) -> bytes:
            started = self._clock.monotonic()
            code = grpc.StatusCode.CANCELLED
            try:
                self._authenticate(context)
                reply = await work(request)
                code = grpc.StatusCode.OK
            except Refusal as refusal:
                code = refusal.code
                await context.abort(code, str(refusal), refusal.metadata)
            finally:
                self._meter.finished(name, code.name, self._clock.monotonic() - started)
            return reply

        return handler

    def _authenticate(self, context: Context) -> None:
        if self._expected is None:
            return
        given = [value for key, value in context.invocation_metadata() or () if key == "authorization"]
        presented = given[0].encode() if given and isinstance(given[0], str) else b""
        if not hmac.compare_digest(presented, self._expected):
            raise Refusal(grpc.StatusCode.UNAUTHENTICATED, "a token is needed, and this is not it")

    async def _parse(self, request: bytes) -> bytes:
        with self._gate.admitted(1):
            return _body(await self._backend.answer(Method.PARSE, request))

    async def _execute(self, request: bytes) -> bytes:
        with self._gate.admitted(1):
            return _body(await self._backend.answer(Method.EXECUTE, request))

    async def _parse_batch(self, request: bytes) -> bytes:
        parts = [each.SerializeToString() for each in _batch(request)]
        if len(parts) > BATCH:
            _refuse(grpc.StatusCode.INVALID_ARGUMENT, f"{len(parts)} programs in one batch; at most {BATCH}")
        with self._gate.admitted(len(parts)):
            replies = await asyncio.gather(*(self._backend.answer(Method.PARSE, part) for part in parts))
        results = [wire.ParseResponse.FromString(_body(reply)) for reply in replies]
        return wire.ParseBatchResponse(results=results).SerializeToString()

    async def _info(self, request: bytes) -> bytes:  # noqa: ARG002  the request has no fields
        return self._info_reply


def _body(reply: Reply) -> bytes:
    if reply.status is not Status.OK:
        raise Refusal(_CODES[reply.status], reply.body.decode())
    return reply.body


def _batch(request: bytes) -> Sequence[wire.ParseRequest]:
    try:
        return wire.ParseBatchRequest.FromString(request).requests
    except DecodeError:
        _refuse(grpc.StatusCode.INVALID_ARGUMENT, "the request is no message of this service")


def _refuse(code: grpc.StatusCode, details: str) -> NoReturn:
    raise Refusal(code, details)
