"""What the vendor's language server says of a script, in the terms of a diagnostic."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, ValidationError

from core.avap import MAX_BYTES
from core.model.syntax import Category, Diagnostic

_NOT_FOUND = re.compile(r"command not found:\s*['\"`]?(?P<name>\w+)", re.IGNORECASE)
_LINE = re.compile(r"\bline\s*:?\s*(?P<line>\d{1,6})", re.IGNORECASE)
_MAX_MESSAGE = 400
_NO_WORDS = "the server could not run it, and gave no reason"


class _Body(BaseModel):
    """The part of a reply that counts; result, variables and logs are the script's own affair."""

    model_config = ConfigDict(extra="ignore", strict=True)

    success: bool
    error: str | None = None


def error_in(body: bytes) -> str | None:
    """The server's complaint about a script; None when it ran. Raises ValueError when `body` is no such reply."""
    try:
        read = _Body.model_validate_json(body)
    except ValidationError as error:
        raise ValueError(f"{error.errors()[0]['msg']}") from error
    return None if read.success else (read.error or "").strip() or _NO_WORDS


def fault_in(code: str, error: str) -> Diagnostic:
    """`error` as a fault of `code`: `Command not found: X` is unknown_token at the first X, all else is where it says.

    The server has no categories: what it cannot run is an unexpected_construct, since it parsed that far.
    """
    unknown = _NOT_FOUND.search(error)
    if unknown is not None:
        return _unknown(code, unknown["name"], error)
    return Diagnostic(
        line=_line_in(code, error), column=1, category=Category.UNEXPECTED_CONSTRUCT, message=_one_line(error)
    )


def oversized(code: str) -> Diagnostic | None:
    """The fault of a program that is longer than any parser of ours takes; such a one is not sent."""
    size = len(code.encode("utf-8", "replace"))
    if size <= MAX_BYTES:
        return None
    message = f"the program has {size} bytes, the limit is {MAX_BYTES}"
    return Diagnostic(line=1, column=1, category=Category.SYNTAX_ERROR, message=message)


def _unknown(code: str, name: str, error: str) -> Diagnostic:
    called = re.search(rf"\b{name}\s*\(", code) or re.search(rf"\b{name}\b", code)
    at = called.start() if called else None
    return Diagnostic(
        line=_line_in(code, error) if at is None else code.count("\n", 0, at) + 1,
        column=1 if at is None else at - code.rfind("\n", 0, at),
        category=Category.UNKNOWN_TOKEN,
        message=f"unknown command '{name}'",
        text=name,
    )


def _line_in(code: str, error: str) -> int:
    named = _LINE.search(error)
    return min(max(int(named["line"]), 1), code.count("\n") + 1) if named else 1


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_MESSAGE else f"{line[: _MAX_MESSAGE - 1]}…"
