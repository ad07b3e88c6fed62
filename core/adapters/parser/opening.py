"""The parser service as a Parser port: one language, and one parser for the whole run."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.adapters import child
from core.adapters.clock import SystemClock
from core.adapters.languages import load_vocabulary, vocabulary_root
from core.adapters.parser.access import NO_ACCESS, Access
from core.adapters.parser.channel import Judged, opened
from core.adapters.parser.pool import PoolPolicy, pooled
from core.errors import DependencyDown, ParserRefused, ParserUnavailable
from core.model.specs import LanguageSpec
from core.model.syntax import ParseResult, ParserInfo
from core.ports import Parser

START_DEADLINE_S = 10.0
"""How long a parser of our own may take from saying its port to being healthy."""


class Source(Protocol):
    """Where judgements come from: one parser, or several of the same."""

    target: str

    async def parse(self, code: str, language: LanguageSpec, within_s: float) -> Judged:
        """The judgement of `code`, had within `within_s` seconds."""

    async def info(self, within_s: float) -> ParserInfo:
        """What the parser is."""


@contextlib.asynccontextmanager
async def connect(
    target: str,
    *,
    language: LanguageSpec,
    deadline_s: float,
    access: Access = NO_ACCESS,
    policy: PoolPolicy | None = None,
) -> AsyncIterator[Parser]:
    """The parser that runs at `target`, each call limited to `deadline_s` seconds.

    `target` is `host:port`; several after commas are a pool (so is one, where a `policy` is given); `grpcs://` is TLS;
    `http://` and `https://` are the vendor's language server. Opening sends nothing that could fail: an absent parser
    shows at the first call, as ParserUnavailable. Raises ConfigError when `target` is no such address.
    """
    targets = [each.strip() for each in target.split(",")]
    clock = SystemClock()
    async with contextlib.AsyncExitStack() as stack:
        if len(targets) == 1 and targets[0].startswith(("http://", "https://")):
            from core.adapters.parser.vendor import vendor_parser

            yield await stack.enter_async_context(
                vendor_parser(targets[0], language=language, deadline_s=deadline_s, access=access, clock=clock)
            )
            return
        source: Source
        if len(targets) == 1 and policy is None:
            source = await stack.enter_async_context(opened(targets[0], access, clock))
        else:
            source = await stack.enter_async_context(pooled(targets, access, policy or PoolPolicy(), clock))
        yield _Pinned(source, language, deadline_s)


@contextlib.asynccontextmanager
async def embedded(
    *, language: LanguageSpec, deadline_s: float, log: Path | None = None, vocabularies: Path | None = None
) -> AsyncIterator[Parser]:
    """A parser in a child process of ours, healthy when this yields and gone when this process is, however it ends.

    It judges by itself: with one client that waits no longer than its deadline, workers would double the time to start
    and protect nobody. `log` takes what the child writes on stderr; `vocabularies` is the folder of vocabulary files.
    Raises ConfigError when there is no such vocabulary; ParserUnavailable, quoting the child, when it does not start.
    """
    root = vocabularies or vocabulary_root()
    load_vocabulary(language.vocabulary, root)
    arguments = ["--port", "0", "--lifeline", "--workers", "0", "--vocabulary-root", str(root)]
    arguments += ["--vocabulary", language.vocabulary, "--dialect", language.dialect.value]
    async with contextlib.AsyncExitStack() as stack:
        try:
            port = await stack.enter_async_context(child.running("core.serving.parser", arguments, log=log))
        except DependencyDown as error:
            raise ParserUnavailable(str(error), endpoint=error.endpoint, remedy=error.remedy) from error
        channel = await stack.enter_async_context(opened(f"127.0.0.1:{port}", NO_ACCESS, SystemClock()))
        await channel.healthy(START_DEADLINE_S)
        yield _Pinned(channel, language, deadline_s)


async def ask(target: str, *, deadline_s: float, access: Access = NO_ACCESS) -> ParserInfo:
    """What the parser at `target` is, whatever language it has. Raises as a Parser does."""
    async with opened(target, access, SystemClock()) as channel:
        return await channel.info(deadline_s)


@dataclass(frozen=True)
class _Identity:
    """What must stay the same for verdicts to be comparable."""

    parser_version: str
    vocabulary_sha256: str

    def __str__(self) -> str:
        return f"version {self.parser_version} with vocabulary {self.vocabulary_sha256[:12]}"


class _Pinned:
    """A Parser that refuses to go on when the parser behind it becomes another one."""

    def __init__(self, source: Source, language: LanguageSpec, deadline_s: float) -> None:
        self._source = source
        self._language = language
        self._deadline_s = deadline_s
        self._identity: _Identity | None = None

    async def parse(self, code: str) -> ParseResult:
        """Judge one program."""
        result, vocabulary_sha256 = await self._source.parse(code, self._language, self._deadline_s)
        self._pin(_Identity(result.parser_version, vocabulary_sha256))
        return result

    async def info(self) -> ParserInfo:
        """What this parser is. Raises ParserRefused when it lacks the vocabulary or the dialect of this run."""
        info = await self._source.info(self._deadline_s)
        hashes = {vocabulary.id: vocabulary.sha256 for vocabulary in info.vocabularies}
        if self._language.vocabulary not in hashes:
            raise self._lacks("vocabulary", self._language.vocabulary, sorted(hashes))
        if self._language.dialect not in info.dialects:
            raise self._lacks("dialect", self._language.dialect.value, [dialect.value for dialect in info.dialects])
        self._pin(_Identity(info.version, hashes[self._language.vocabulary]))
        return info

    def _pin(self, seen: _Identity) -> None:
        self._identity = self._identity or seen
        if seen != self._identity:
            raise ParserRefused(
                f"parser changed during the run: {self._source.target} was {self._identity}, now it is {seen}",
                remedy="keep one parser for a whole run; start a new run to use the new one",
            )

    def _lacks(self, what: str, wanted: str, offered: list[str]) -> ParserRefused:
        return ParserRefused(
            f"AVAP parser at {self._source.target} has no {what} {wanted!r}; it has {', '.join(offered) or 'none'}",
            remedy=f"start a parser that has it, or set language.{what} to one that it has",
        )
