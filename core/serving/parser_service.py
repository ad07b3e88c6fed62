"""What the parser service answers: requests judged by core.avap, refusals by gRPC status code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Protocol

import grpc

from core.adapters.languages import load_vocabulary, vocabulary_ids
from core.adapters.parser_wire import BATCH, to_info, to_response
from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.adapters.proto.avap.parser.v1.parser_pb2_grpc import ParserServicer
from core.avap import MAX_BLOCKS, MAX_BYTES, PARSER_VERSION, TRACE_TEMPLATES_SHA256, Vocabulary, check
from core.model.specs import LanguageSpec
from core.model.syntax import Dialect, ParserInfo


class Context(Protocol):
    """The part of a call's context that is used: ending the call with a status."""

    def abort(self, code: grpc.StatusCode, details: str) -> NoReturn:
        """Answer with `code` and raise."""


@dataclass(frozen=True)
class Languages:
    """The vocabularies on offer, by id, and what a request that names none gets."""

    vocabularies: Mapping[str, Vocabulary]
    default: LanguageSpec

    @classmethod
    def read(cls, root: Path, default: LanguageSpec) -> Languages:
        """All the vocabularies in the folder `root`. Raises ConfigError when one is broken or the default is absent."""
        load_vocabulary(default.vocabulary, root)
        return cls({each: load_vocabulary(each, root) for each in vocabulary_ids(root)}, default)

    @property
    def info(self) -> ParserInfo:
        """What a parser of these languages is."""
        return ParserInfo(
            version=PARSER_VERSION,
            vocabularies=tuple(vocabulary.info() for vocabulary in self.vocabularies.values()),
            dialects=tuple(Dialect),
            trace_templates_sha256=TRACE_TEMPLATES_SHA256,
            max_bytes=MAX_BYTES,
            max_depth=MAX_BLOCKS,
        )


class ParserService(ParserServicer):
    """The three methods of avap.parser.v1.Parser; holds no state between calls."""

    def __init__(self, languages: Languages) -> None:
        self._languages = languages
        self._info = to_info(languages.info, languages.default)

    def Parse(self, request: wire.ParseRequest, context: Context) -> wire.ParseResponse:  # noqa: N802  named by the proto
        """Judge one program."""
        vocabulary, dialect = self._language(request, context)
        return to_response(check(request.code, vocabulary, dialect), vocabulary.sha256)

    def ParseBatch(self, request: wire.ParseBatchRequest, context: Context) -> wire.ParseBatchResponse:  # noqa: N802
        """Judge several programs, in order."""
        if len(request.requests) > BATCH:
            context.abort(
                grpc.StatusCode.INVALID_ARGUMENT, f"{len(request.requests)} programs in one batch; at most {BATCH}"
            )
        for each in request.requests:
            self._language(each, context)
        return wire.ParseBatchResponse(results=[self.Parse(each, context) for each in request.requests])

    def Info(self, request: wire.InfoRequest, context: Context) -> wire.InfoResponse:  # noqa: ARG002, N802
        """What this parser is."""
        return self._info

    def _language(self, request: wire.ParseRequest, context: Context) -> tuple[Vocabulary, Dialect]:
        id = request.vocabulary or self._languages.default.vocabulary  # noqa: A001  the word of the proto
        vocabulary = self._languages.vocabularies.get(id)
        if vocabulary is None:
            _refuse(context, "vocabulary", id, self._languages.vocabularies)
        try:
            return vocabulary, Dialect(request.dialect or self._languages.default.dialect)
        except ValueError:
            _refuse(context, "dialect", request.dialect, [dialect.value for dialect in Dialect])


def _refuse(context: Context, what: str, wanted: str, offered: Iterable[str]) -> NoReturn:
    context.abort(
        grpc.StatusCode.INVALID_ARGUMENT, f"unknown {what} {wanted!r}; this parser has {', '.join(sorted(offered))}"
    )
