"""The parser service as a Parser port: one language, and one parser for the whole run."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from core.adapters import child
from core.adapters.languages import load_vocabulary, vocabulary_root
from core.adapters.parser_channel import ParserChannel, opened
from core.errors import DependencyDown, ParserRefused, ParserUnavailable
from core.model.specs import LanguageSpec
from core.model.syntax import ParseResult, ParserInfo
from core.ports import Parser

START_DEADLINE_S = 10.0
"""How long a parser of our own may take from saying its port to being healthy."""


@contextlib.asynccontextmanager
async def connect(target: str, *, language: LanguageSpec, deadline_s: float) -> AsyncIterator[Parser]:
    """The parser that runs at `target` (`host:port`), each call limited to `deadline_s` seconds.

    Opening sends nothing: an absent parser shows at the first call, as ParserUnavailable.
    Raises ConfigError when `target` is not the address of a gRPC server.
    """
    async with opened(target, deadline_s=deadline_s) as channel:
        yield _Pinned(channel, language)


@contextlib.asynccontextmanager
async def embedded(
    *, language: LanguageSpec, deadline_s: float, log: Path | None = None, vocabularies: Path | None = None
) -> AsyncIterator[Parser]:
    """A parser in a child process of ours, healthy when this yields and gone when this process is, however it ends.

    `log` takes what the child writes on stderr; `vocabularies` is the folder of vocabulary files.
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
        channel = await stack.enter_async_context(opened(f"127.0.0.1:{port}", deadline_s=deadline_s))
        await channel.healthy(START_DEADLINE_S)
        yield _Pinned(channel, language)


async def ask(target: str, *, deadline_s: float) -> ParserInfo:
    """What the parser at `target` is, whatever language it has. Raises as a Parser does."""
    async with opened(target, deadline_s=deadline_s) as channel:
        return await channel.info()


@dataclass(frozen=True)
class _Identity:
    """What must stay the same for verdicts to be comparable."""

    parser_version: str
    vocabulary_sha256: str

    def __str__(self) -> str:
        return f"version {self.parser_version} with vocabulary {self.vocabulary_sha256[:12]}"


class _Pinned:
    """A Parser that refuses to go on when the parser behind it becomes another one."""

    def __init__(self, channel: ParserChannel, language: LanguageSpec) -> None:
        self._channel = channel
        self._language = language
        self._identity: _Identity | None = None

    async def parse(self, code: str) -> ParseResult:
        """Judge one program."""
        result, vocabulary_sha256 = await self._channel.parse(code, self._language)
        self._pin(_Identity(result.parser_version, vocabulary_sha256))
        return result

    async def info(self) -> ParserInfo:
        """What this parser is. Raises ParserRefused when it lacks the vocabulary or the dialect of this run."""
        info = await self._channel.info()
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
                f"parser changed during the run: {self._channel.target} was {self._identity}, now it is {seen}",
                remedy="keep one parser for a whole run; start a new run to use the new one",
            )

    def _lacks(self, what: str, wanted: str, offered: list[str]) -> ParserRefused:
        return ParserRefused(
            f"AVAP parser at {self._channel.target} has no {what} {wanted!r}; it has {', '.join(offered) or 'none'}",
            remedy=f"start a parser that has it, or set language.{what} to one that it has",
        )
