"""What the parser service computes: bytes of a request in, bytes of a reply out. Knows nothing of gRPC or processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from core.adapters.languages import read_vocabulary, vocabulary_ids
from core.adapters.parser.execution_wire import to_execute_response, to_inputs, to_limits
from core.adapters.parser.wire import to_response
from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.avap import MAX_BLOCKS, MAX_BYTES, PARSER_VERSION, TRACE_TEMPLATES_SHA256, Vocabulary, check, parse
from core.errors import ConfigError
from core.model.frozen import Frozen
from core.model.specs import LanguageSpec
from core.model.syntax import Dialect, ParserInfo, Validity


class Method(IntEnum):
    """What can be asked; the number is that of a frame between server and worker."""

    PARSE = 1
    EXECUTE = 2


class Status(IntEnum):
    """How a request ended, by the numbers of gRPC."""

    OK = 0
    INVALID_ARGUMENT = 3
    RESOURCE_EXHAUSTED = 8
    INTERNAL = 13
    UNAVAILABLE = 14


class Reply(NamedTuple):
    """The end of one request: the bytes of a message when OK, else UTF-8 text for whoever asked."""

    status: Status
    body: bytes


class Setup(Frozen):
    """All that a judge is made from, in a form that another process can be sent."""

    default: LanguageSpec
    """What a request that names no language gets."""
    vocabularies: tuple[Mapping[str, Any], ...]
    """Contents of vocabulary files."""


@dataclass(frozen=True)
class Languages:
    """The vocabularies on offer, by id."""

    setup: Setup
    vocabularies: Mapping[str, Vocabulary]

    @classmethod
    def read(cls, root: Path, default: LanguageSpec) -> Languages:
        """All the vocabularies in the folder `root`. Raises ConfigError when one is broken or the default is absent."""
        read_vocabulary(default.vocabulary, root)
        files = {each: read_vocabulary(each, root) for each in vocabulary_ids(root)}
        setup = Setup(default=default, vocabularies=tuple(file.content for file in files.values()))
        return cls(setup, {each: file.vocabulary for each, file in files.items()})

    @classmethod
    def of(cls, setup: Setup) -> Languages:
        """The languages that `setup` describes."""
        vocabularies = map(Vocabulary.from_mapping, setup.vocabularies)
        return cls(setup, {vocabulary.id: vocabulary for vocabulary in vocabularies})

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


class Refused(Exception):
    """A request that cannot be taken; the text says why."""


class Judge:
    """Answers requests one at a time; holds no state between them."""

    def __init__(self, languages: Languages) -> None:
        self._languages = languages

    def answer(self, method: Method, request: bytes) -> Reply:
        """The reply to the serialized `request`. Raises what a fault of our own raises: the caller contains it."""
        try:
            body = self._parse(request) if method is Method.PARSE else self._execute(request)
        except (Refused, ConfigError) as error:
            return Reply(Status.INVALID_ARGUMENT, str(error).encode())
        except DecodeError:
            return Reply(Status.INVALID_ARGUMENT, b"the request is no message of this service")
        return Reply(Status.OK, body)

    def _parse(self, data: bytes) -> bytes:
        request = wire.ParseRequest.FromString(data)
        vocabulary, dialect = self._language(request)
        result = check(request.code, vocabulary, dialect)
        return to_response(result, vocabulary.sha256).SerializeToString()

    def _execute(self, data: bytes) -> bytes:
        # Parsing alone stays free of what running takes to import.
        from core.avap.execution import execute

        request = wire.ExecuteRequest.FromString(data)
        vocabulary, dialect = self._language(request)
        inputs, limits = to_inputs(request), to_limits(request)
        parsed = parse(request.code, vocabulary, dialect)
        valid = parsed.result.verdict is Validity.VALID
        outcome = execute(parsed.tree, inputs, limits, dialect=dialect) if valid else None
        return to_execute_response(parsed.result, vocabulary.sha256, outcome).SerializeToString()

    def _language(self, request: wire.ParseRequest | wire.ExecuteRequest) -> tuple[Vocabulary, Dialect]:
        default = self._languages.setup.default
        id = request.vocabulary or default.vocabulary  # noqa: A001  the word of the proto
        vocabulary = self._languages.vocabularies.get(id)
        if vocabulary is None:
            raise _unknown("vocabulary", id, self._languages.vocabularies)
        try:
            return vocabulary, Dialect(request.dialect or default.dialect)
        except ValueError:
            raise _unknown("dialect", request.dialect, [dialect.value for dialect in Dialect]) from None


def _unknown(what: str, wanted: str, offered: Iterable[str]) -> Refused:
    # Cut, so that a program sent in the wrong field is not sent back.
    return Refused(f"unknown {what} {wanted[:60]!r}; this parser has {', '.join(sorted(offered))}")
