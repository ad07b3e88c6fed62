"""Calls to a parser service, without a notion of a run: the channel, the deadline, and what a failure means."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import NamedTuple, TypeVar, cast

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from core.adapters.parser.access import Access, channel_to
from core.adapters.parser.wire import RETRY_AFTER, SERVICE, from_info, from_response, to_text
from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.adapters.proto.avap.parser.v1.parser_pb2_grpc import ParserStub
from core.errors import AssayError, ParserRefused, ParserUnavailable
from core.model.specs import LanguageSpec
from core.model.syntax import ParseResult, ParserInfo
from core.ports import Clock

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


class Judged(NamedTuple):
    """A judgement, and the digest of the vocabulary that it was made by."""

    result: ParseResult
    vocabulary_sha256: str


class ParserChannel:
    """One connection to the parser at `target`. Every call raises ParserUnavailable or ParserRefused."""

    def __init__(self, channel: grpc.aio.Channel, target: str, access: Access, clock: Clock) -> None:
        self.target = target
        self._metadata = access.metadata or None
        self._clock = clock
        self._parser = ParserStub(channel)
        self._health = health_pb2_grpc.HealthStub(channel)

    async def parse(self, code: str, language: LanguageSpec, within_s: float) -> Judged:
        """The judgement of `code`, had within `within_s` seconds."""
        request = wire.ParseRequest(code=to_text(code), vocabulary=language.vocabulary, dialect=language.dialect.value)
        reply = await self._call(self._parser.Parse, request, within_s)
        return Judged(self._read(from_response, reply), reply.vocabulary_sha256)

    async def info(self, within_s: float) -> ParserInfo:
        """What the parser is."""
        return self._read(from_info, await self._call(self._parser.Info, wire.InfoRequest(), within_s))

    async def healthy(self, within_s: float) -> None:
        """Return once the parser serves. Raises ParserUnavailable when it does not within `within_s` seconds."""
        request = health_pb2.HealthCheckRequest(service=SERVICE)
        reply = await self._call(self._health.Check, request, within_s, wait_for_ready=True)
        if reply.status != health_pb2.HealthCheckResponse.SERVING:
            raise ParserUnavailable(f"AVAP parser at {self.target} says that it is not serving", endpoint=self.target)

    async def _call(
        self,
        method: Callable[..., Awaitable[_Reply]],
        request: object,
        within_s: float,
        *,
        wait_for_ready: bool = False,
    ) -> _Reply:
        """The reply; a server that is too busy is asked again after the pause it names, while time is left."""
        ends = self._clock.monotonic() + within_s
        left = within_s
        while True:
            try:
                return await method(request, timeout=left, metadata=self._metadata, wait_for_ready=wait_for_ready)
            except grpc.aio.AioRpcError as error:
                pause_s = _pause_s(error)
                left = ends - self._clock.monotonic() - (pause_s or 0.0)
                if pause_s is None or left <= 0:
                    raise _error(self.target, error, within_s) from error
            except grpc.aio.BaseError as error:
                raise ParserUnavailable(f"the call to the parser failed: {error}", endpoint=self.target) from error
            await self._clock.sleep(pause_s)

    def _read(self, read: Callable[[_Reply], _Value], reply: _Reply) -> _Value:
        try:
            return read(reply)
        except ValueError as error:
            raise ParserRefused(
                f"AVAP parser at {self.target} answered what this client cannot read: {error}",
                remedy="run the client and the parser from the same release",
            ) from error


@contextlib.asynccontextmanager
async def opened(target: str, access: Access, clock: Clock) -> AsyncIterator[ParserChannel]:
    """A connection to `target`, made at the first call and closed at the end.

    Raises ConfigError when `target` is not the address of a gRPC server, or `access` cannot be had.
    """
    async with channel_to(target, access) as channel:
        yield ParserChannel(channel, target, access, clock)


def _pause_s(error: grpc.aio.AioRpcError) -> float | None:
    """The pause in seconds that a server asks for when it is too busy; None for every other failure."""
    if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
        return None
    metadata = cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ())
    hint = str(dict(metadata).get(RETRY_AFTER, ""))
    return int(hint) / 1000 if hint.isdecimal() else None


def _error(target: str, error: grpc.aio.AioRpcError, within_s: float) -> AssayError:
    code, busy = error.code(), _pause_s(error) is not None
    late = code is grpc.StatusCode.DEADLINE_EXCEEDED
    details = f"no answer within {within_s:g} s" if late else error.details() or "no details"
    if busy or code in _NO_EVIDENCE:
        return ParserUnavailable(
            f"AVAP parser at {target} is {'too busy' if busy else 'unavailable'} ({code.name}): {details}",
            endpoint=target,
            remedy="start one there with `assay parser serve`, or leave runtime.parser_url out to have one started",
        )
    return ParserRefused(
        f"AVAP parser at {target} refused the request ({code.name}): {details}",
        remedy=f"see what it accepts: assay parser info {target}",
    )
