"""What the parser says of a program."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from core.model.frozen import Frozen


class Validity(StrEnum):
    """The parser's verdict on one program."""

    VALID = "VALID"
    INVALID = "INVALID"


class Category(StrEnum):
    """Why a program is INVALID; a program's own category is that of its first fault by line."""

    UNKNOWN_TOKEN = "unknown_token"
    UNEXPECTED_CONSTRUCT = "unexpected_construct"
    FOREIGN_KEYWORD = "foreign_keyword"
    SYNTAX_ERROR = "syntax_error"


class Dialect(StrEnum):
    """How argument text is read: see docs/avap.md."""

    STRICT = "strict"
    LENIENT = "lenient"


class Diagnostic(Frozen):
    """One fault. `line` and `column` count from 1, columns in code points."""

    line: int
    column: int
    category: Category
    message: str
    text: str = ""
    """The offending piece of the program."""
    suggestion: str | None = None
    """What to write instead, when that is known."""


class ParseResult(Frozen):
    """The answer of a parser to one program."""

    verdict: Validity
    category: Category | None = None
    """None exactly when VALID."""
    diagnostics: tuple[Diagnostic, ...] = ()
    trace: tuple[str, ...] = ()
    """One line per diagnostic, worded for a model that must repair the program."""
    node_types: Mapping[str, int] = {}
    """Node type -> how often it occurs; empty for an INVALID program."""
    vocabulary: str = ""
    dialect: Dialect = Dialect.STRICT
    parser_version: str = ""


class VocabularyInfo(Frozen):
    """A command table as a service offers it."""

    id: str
    sha256: str
    commands: int
    node_types: int


class ParserInfo(Frozen):
    """What a parser is: pinned in the record and constant over a run."""

    version: str
    vocabularies: tuple[VocabularyInfo, ...]
    dialects: tuple[Dialect, ...]
    trace_templates_sha256: str
    max_bytes: int
    max_depth: int
    validating: bool = True
    """False for a backend that executes but does not reject malformed blocks."""
