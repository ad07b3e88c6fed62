"""The vendor's HTTP language server as a Parser: it runs a script and says whether that went well.

It executes and does not validate: what a run does not reach is never looked at, so that VALID means less than the
parser's own. A run that has no other gate is therefore not citable (`ParserInfo.validating`).
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator

import httpx

from core.adapters.parser.access import Access
from core.adapters.parser.vendor_reply import error_in, fault_in, oversized
from core.avap import MAX_BLOCKS, MAX_BYTES, TRACE_TEMPLATES_SHA256
from core.avap.diagnostics import trace_line
from core.errors import ConfigError, ParserRefused, ParserUnavailable
from core.model.specs import LanguageSpec, TlsSpec
from core.model.syntax import ParseResult, ParserInfo, Validity, VocabularyInfo
from core.policy.retry import Backoff, Failure, from_response
from core.ports import Clock

VERSION = "vendor-execute-api-v1"
PATH = "/api/v1/execute"
_BUSY, _TOO_SLOW = 503, 504
_BACKOFF = Backoff(first_s=0.1, ceiling_s=1.0)


class VendorParser:
    """A Parser over `POST /api/v1/execute`. Made by `vendor_parser`."""

    def __init__(self, http: httpx.AsyncClient, language: LanguageSpec, deadline_s: float, clock: Clock) -> None:
        self._http = http
        self._language = language
        self._deadline_s = deadline_s
        self._clock = clock

    async def parse(self, code: str) -> ParseResult:
        """Run one program without variables. Raises ParserUnavailable when the server is down, slow or stays busy."""
        fault = oversized(code)
        if fault is None:
            error = await self._error_of(code)
            fault = None if error is None else fault_in(code, error)
        return ParseResult(
            verdict=Validity.VALID if fault is None else Validity.INVALID,
            category=fault and fault.category,
            diagnostics=() if fault is None else (fault,),
            trace=() if fault is None else (trace_line(fault),),
            vocabulary=self._language.vocabulary,
            dialect=self._language.dialect,
            parser_version=VERSION,
        )

    async def info(self) -> ParserInfo:
        """What this server is, as far as it can be known: it tells neither its version nor its commands."""
        language = self._language
        unknown = VocabularyInfo(id=language.vocabulary, sha256="", commands=0, node_types=0)
        return ParserInfo(
            version=VERSION,
            vocabularies=(unknown,),
            dialects=(language.dialect,),
            trace_templates_sha256=TRACE_TEMPLATES_SHA256,
            max_bytes=MAX_BYTES,
            max_depth=MAX_BLOCKS,
            validating=False,
        )

    async def _error_of(self, code: str) -> str | None:
        """What the server said against `code`; None when it ran."""
        ends = self._clock.monotonic() + self._deadline_s
        attempt = 0
        while True:
            response = await self._post(code, ends - self._clock.monotonic())
            if response.status_code != _BUSY:
                return self._read(response)
            failure = from_response(_BUSY, response.headers, "overloaded", now=self._clock.now())
            pause_s = self._pause_s(failure, attempt, ends - self._clock.monotonic())
            await self._clock.sleep(pause_s)
            attempt += 1

    def _pause_s(self, failure: Failure, attempt: int, left_s: float) -> float:
        pause_s = _BACKOFF.pause(failure, attempt=attempt, seed=0, remaining_s=left_s)
        if pause_s is None:
            raise self._unavailable(f"overloaded for {self._deadline_s:g} s")
        return pause_s

    async def _post(self, code: str, within_s: float) -> httpx.Response:
        # JSON can spell half characters, httpx cannot send them.
        body = {"script": code.encode("utf-8", "replace").decode("utf-8"), "variables": {}}
        try:
            return await self._http.post(PATH, json=body, timeout=max(0.001, within_s))
        except httpx.TimeoutException as error:
            raise self._unavailable(f"no answer within {self._deadline_s:g} s") from error
        except httpx.HTTPError as error:
            raise self._unavailable(f"{type(error).__name__}: {error}") from error

    def _read(self, response: httpx.Response) -> str | None:
        status = response.status_code
        if status == _TOO_SLOW:
            raise self._unavailable("the script took longer than the server allows")
        if status >= 500:
            raise self._unavailable(f"status {status}")
        if status not in {200, 400}:
            raise ParserRefused(
                f"the language server at {self._http.base_url} refused the request (status {status})",
                remedy="check runtime.parser_url and what the server wants of its clients",
            )
        try:
            return error_in(response.content)
        except ValueError as error:
            raise ParserRefused(
                f"the language server at {self._http.base_url} answered what this client cannot read: {error}",
                remedy="check that runtime.parser_url names the vendor's language server",
            ) from error

    def _unavailable(self, why: str) -> ParserUnavailable:
        url = str(self._http.base_url)
        return ParserUnavailable(
            f"language server at {url} is unavailable: {why}", endpoint=url, remedy="start it, or use another parser"
        )


@contextlib.asynccontextmanager
async def vendor_parser(
    url: str, *, language: LanguageSpec, deadline_s: float, access: Access, clock: Clock
) -> AsyncIterator[VendorParser]:
    """The language server at `url`, its connections kept while the context is open. Raises ConfigError."""
    base = _address(url)
    # The environment's proxies are for the outside world; a language server is named on purpose.
    client = httpx.AsyncClient(
        base_url=base, headers=dict(access.metadata), verify=_verification(access.tls), trust_env=False
    )
    async with client as http:
        yield VendorParser(http, language, deadline_s, clock)


def _address(url: str) -> httpx.URL:
    try:
        base = httpx.URL(url)
    except httpx.InvalidURL:
        base = httpx.URL()
    if not base.host:
        raise ConfigError(f"{url!r} names no server", path="runtime.parser_url", remedy="write http://host:port")
    return base


def _verification(tls: TlsSpec | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=None if tls is None else tls.ca)
        if tls is not None and tls.cert is not None:
            context.load_cert_chain(tls.cert, tls.key)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"TLS files cannot be used: {error}", path="runtime.parser_tls") from error
    return context
