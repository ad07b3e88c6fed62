"""AVAP programs as bytes: what a file or a pipe holds, which need not be text at all."""

from __future__ import annotations

from core.avap import PARSER_VERSION, Vocabulary, check
from core.model.syntax import Category, Diagnostic, Dialect, ParseResult, Validity

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def check_bytes(raw: bytes, vocabulary: Vocabulary, dialect: Dialect) -> ParseResult:
    """Judge the program `raw`. Bytes that are not UTF-8 are a syntax_error at the first of them."""
    try:
        return check(raw.decode("utf-8"), vocabulary, dialect)
    except UnicodeDecodeError as error:
        fault = _not_text(raw, error)
    return ParseResult(
        verdict=Validity.INVALID,
        category=fault.category,
        diagnostics=(fault,),
        trace=(f"Line {fault.line}: {fault.message}",),
        vocabulary=vocabulary.id,
        dialect=dialect,
        parser_version=PARSER_VERSION,
    )


def _not_text(raw: bytes, error: UnicodeDecodeError) -> Diagnostic:
    before = raw[: error.start].decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    hint = "the file looks like UTF-16, save it as UTF-8" if raw.startswith(_UTF_16) else "save the file as UTF-8"
    return Diagnostic(
        line=before.count("\n") + 1,
        column=len(before) - before.rfind("\n"),
        category=Category.SYNTAX_ERROR,
        message=f"byte 0x{raw[error.start]:02X} is not UTF-8 text ({hint})",
        text=f"\\x{raw[error.start]:02x}",
    )
