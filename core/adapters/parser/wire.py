"""Messages of avap.parser.v1 to and from the model, for the server and the client alike."""

from __future__ import annotations

import re

from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.model.specs import LanguageSpec
from core.model.syntax import Category, Diagnostic, Dialect, ParseResult, ParserInfo, Validity, VocabularyInfo

SERVICE = "avap.parser.v1.Parser"
MESSAGE_BYTES = 4 * 1024 * 1024
"""The longest request message that a server takes."""
BATCH = 256
"""The most programs in one ParseBatch."""
RETRY_AFTER = "grpc-retry-pushback-ms"
"""Trailing metadata of a call refused for load: milliseconds until a place should be free. gRPC's own name for it."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def to_text(code: str) -> str:
    """`code` as UTF-8 can carry it.

    Lone surrogates, which JSON can spell, become NUL, which is no text either: INVALID at the same place.
    """
    return code if code.isascii() else _SURROGATE.sub("\0", code)


def to_response(result: ParseResult, vocabulary_sha256: str) -> wire.ParseResponse:
    """The reply that says `result`."""
    return wire.ParseResponse(
        verdict=result.verdict.value,
        category=None if result.category is None else result.category.value,
        diagnostics=[_to_diagnostic(diagnostic) for diagnostic in result.diagnostics],
        trace=result.trace,
        node_types=result.node_types,
        vocabulary=result.vocabulary,
        dialect=result.dialect.value,
        parser_version=result.parser_version,
        vocabulary_sha256=vocabulary_sha256,
    )


def from_response(reply: wire.ParseResponse) -> ParseResult:
    """The result that `reply` says. Raises ValueError for a word this version does not know."""
    return ParseResult(
        verdict=Validity(reply.verdict),
        category=Category(reply.category) if reply.HasField("category") else None,
        diagnostics=tuple(_from_diagnostic(diagnostic) for diagnostic in reply.diagnostics),
        trace=tuple(reply.trace),
        node_types=dict(sorted(reply.node_types.items())),
        vocabulary=reply.vocabulary,
        dialect=Dialect(reply.dialect),
        parser_version=reply.parser_version,
    )


def to_info(info: ParserInfo, default: LanguageSpec) -> wire.InfoResponse:
    """The reply that says `info`, where `default` stands in for what a request leaves empty."""
    return wire.InfoResponse(
        parser_version=info.version,
        vocabularies=[wire.Vocabulary(**vocabulary.model_dump()) for vocabulary in info.vocabularies],
        dialects=[dialect.value for dialect in info.dialects],
        limits=wire.Limits(code_bytes=info.max_bytes, depth=info.max_depth, message_bytes=MESSAGE_BYTES, batch=BATCH),
        trace_templates_sha256=info.trace_templates_sha256,
        default_vocabulary=default.vocabulary,
        default_dialect=default.dialect.value,
    )


def from_info(reply: wire.InfoResponse) -> ParserInfo:
    """The parser that `reply` describes. Raises ValueError for a dialect this version does not know."""
    return ParserInfo(
        version=reply.parser_version,
        vocabularies=tuple(
            VocabularyInfo(id=entry.id, sha256=entry.sha256, commands=entry.commands, node_types=entry.node_types)
            for entry in reply.vocabularies
        ),
        dialects=tuple(Dialect(dialect) for dialect in reply.dialects),
        trace_templates_sha256=reply.trace_templates_sha256,
        max_bytes=reply.limits.code_bytes,
        max_depth=reply.limits.depth,
    )


def _to_diagnostic(diagnostic: Diagnostic) -> wire.Diagnostic:
    return wire.Diagnostic(
        line=diagnostic.line,
        column=diagnostic.column,
        category=diagnostic.category.value,
        message=diagnostic.message,
        text=diagnostic.text,
        suggestion=diagnostic.suggestion,
    )


def _from_diagnostic(diagnostic: wire.Diagnostic) -> Diagnostic:
    return Diagnostic(
        line=diagnostic.line,
        column=diagnostic.column,
        category=Category(diagnostic.category),
        message=diagnostic.message,
        text=diagnostic.text,
        suggestion=diagnostic.suggestion if diagnostic.HasField("suggestion") else None,
    )
