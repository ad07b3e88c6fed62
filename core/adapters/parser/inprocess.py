"""The gate in this process, where no server may be reached: a replay. It judges as the service of its version does."""

from __future__ import annotations

import asyncio
from pathlib import Path

from core.adapters.languages import load_vocabulary
from core.adapters.parser.wire import to_text
from core.avap import MAX_BLOCKS, MAX_BYTES, PARSER_VERSION, TRACE_TEMPLATES_SHA256, check
from core.model.specs import LanguageSpec
from core.model.syntax import Dialect, ParseResult, ParserInfo


class InProcessParser:
    """core.ports.Parser over core.avap. Unlike the service it has no deadline: nothing can be unreachable."""

    def __init__(self, language: LanguageSpec, vocabularies: Path) -> None:
        """`vocabularies` is the folder of vocabulary files. Raises ConfigError when there is no such vocabulary."""
        self._vocabulary = load_vocabulary(language.vocabulary, vocabularies)
        self._dialect = language.dialect

    async def parse(self, code: str) -> ParseResult:
        """Judge one program."""
        result = await asyncio.to_thread(check, to_text(code), self._vocabulary, self._dialect)
        return result.model_copy(update={"node_types": dict(sorted(result.node_types.items()))})

    async def info(self) -> ParserInfo:
        """What this parser is; of the vocabularies, the one it was made with."""
        return ParserInfo(
            version=PARSER_VERSION,
            vocabularies=(self._vocabulary.info(),),
            dialects=tuple(Dialect),
            trace_templates_sha256=TRACE_TEMPLATES_SHA256,
            max_bytes=MAX_BYTES,
            max_depth=MAX_BLOCKS,
        )
