"""Calls to a parser service, without a notion of a run: the channel, the deadline, and what a failure means."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from core.adapters.parser_wire import SERVICE, from_info, from_response, to_text
from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.adapters.proto.avap.parser.v1.parser_pb2_grpc import ParserStub
from core.errors import AssayError, ConfigError, ParserRefused, ParserUnavailable
from core.model.specs import LanguageSpec
from core.model.syntax import ParseResult, ParserInfo

_Reply = TypeVar("_Reply")
_Value = TypeVar("_Value")

_NO_EVIDENCE = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.INTERNAL,
}
"""Status codes that say nothing about the request; with any other the parser declined it."""

_LOOPBACK = ("127.", "localhost:", "[::1]:", "unix:")
_OPTIONS = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    # gRPC would wait up to two minutes before it tries a restarted parser again.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1000),
    ("grpc.max_reconnect_backoff_ms", 1000),
)


class ParserChannel:
    """One connection to the parser at `target`. Every call raises ParserUnavailable or ParserRefused."""

    def __init__(self, channel: grpc.aio.Channel, target: str, deadline_s: float) -> None:
        self.target = target
        self._deadline_s = deadline_s
        self._parser = ParserStub(channel)
        self._health = health_pb2_grpc.HealthStub(channel)

    async def parse(self, code: str, language: LanguageSpec) -> tuple[ParseResult, str]:
        """The judgement of `code`, and the sha256 of the vocabulary that it was judged by."""
        request = wire.ParseRequest(code=to_text(code), vocabulary=language.vocabulary, dialect=language.dialect.value)
        reply = await self._call(self._parser.Parse, request)
        return self._read(from_response, reply), reply.vocabulary_sha256

    async def info(self) -> ParserInfo:
        """What the parser is."""
        return self._read(from_info, await self._call(self._parser.Info, wire.InfoRequest()))

    async def healthy(self, within_s: float) -> None:
        """Return once the parser serves. Raises ParserUnavailable when it does not within `within_s` seconds."""
        request = health_pb2.HealthCheckRequest(service=SERVICE)
        reply = await self._call(self._health.Check, request, deadline_s=within_s, wait_for_ready=True)
        if reply.status != health_pb2.HealthCheckResponse.SERVING:
            raise ParserUnavailable(f"AVAP parser at {self.target} says that it is not serving", endpoint=self.target)

    async def _call(
        self,
        method: Callable[..., Awaitable[_Reply]],
        request: object,
        *,
        deadline_s: float | None = None,
        wait_for_ready: bool = False,
    ) -> _Reply:
        deadline_s = deadline_s or self._deadline_s
        try:
            return await method(request, timeout=deadline_s, wait_for_ready=wait_for_ready)
        except grpc.aio.AioRpcError as error:
            late = error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            details = f"no answer within {deadline_s:g} s" if late else error.details() or "no details"
            raise _error(self.target, error.code(), details) from error
        except grpc.aio.BaseError as error:
            raise ParserUnavailable(f"the call to the parser failed: {error}", endpoint=self.target) from error

    def _read(self, read: Callable[[_Reply], _Value], reply: _Reply) -> _Value:
        try:
            return read(reply)
        except ValueError as error:
            raise ParserRefused(
                f"AVAP parser at {self.target} answered what this client cannot read: {error}",
                remedy="run the client and the parser from the same release",
            ) from error


@contextlib.asynccontextmanager
async def opened(target: str, *, deadline_s: float) -> AsyncIterator[ParserChannel]:
    """A connection to `target`, made at the first call and closed at the end; each call has `deadline_s` seconds.

    Raises ConfigError when `target` is not the address of a gRPC server.
    """
    if not target or target.startswith(("http://", "https://")):
        raise ConfigError(
            f"{target!r} is not the address of a parser",
            path="runtime.parser_url",
            remedy="write host:port, without a scheme",
        )
    # A proxy that the environment names for the outside world cannot reach this machine's own ports.
    direct = (("grpc.enable_http_proxy", 0),) if target.startswith(_LOOPBACK) else ()
    async with grpc.aio.insecure_channel(target, options=(*_OPTIONS, *direct)) as channel:
        yield ParserChannel(channel, target, deadline_s)


def _error(target: str, code: grpc.StatusCode, details: str) -> AssayError:
    if code in _NO_EVIDENCE:
        return ParserUnavailable(
            f"AVAP parser at {target} is unavailable ({code.name}): {details}",
            endpoint=target,
            remedy="start one there with `assay parser serve`, or leave runtime.parser_url out to have one started",
        )
    return ParserRefused(
        f"AVAP parser at {target} refused the request ({code.name}): {details}",
        remedy=f"see what it accepts: assay parser info {target}",
    )
