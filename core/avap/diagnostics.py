"""Faults as the parser collects them, and the one place where they are worded for a model that must repair."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from core.avap.tokens import Token
from core.model.frozen import digest
from core.model.syntax import Category, Diagnostic

MAX_DIAGNOSTICS: Final = 50
_MAX_TEXT: Final = 200

TRACE_TEMPLATES: Final = MappingProxyType(
    {
        Category.UNKNOWN_TOKEN: "Line {line}: {message}[ — did you mean '{suggestion}'?]",
        Category.UNEXPECTED_CONSTRUCT: "Line {line}: {message}[ — write '{suggestion}']",
        Category.FOREIGN_KEYWORD: "Line {line}: {message}[ — the AVAP word is '{suggestion}']",
        Category.SYNTAX_ERROR: "Line {line}: {message}[ — write '{suggestion}']",
    }
)
"""One wording per category. What stands in square brackets appears only when there is a suggestion."""

TRACE_TEMPLATES_SHA256: Final = digest(TRACE_TEMPLATES)
"""Goes into every run record: the trace is part of a repair prompt, so its wording is identity."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, before the one-per-line rule has chosen."""

    line: int
    column: int
    category: Category
    message: str
    text: str
    suggestion: str | None = None


class Mistake(Exception):  # never leaves core.avap
    """Ends the reading of one line; carries the fault that ended it."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def at(token: Token, category: Category, message: str, suggestion: str | None = None, text: str | None = None) -> Fault:
    """A fault at `token`, whose text is the offending one unless `text` says otherwise."""
    return Fault(token.line, token.column, category, message, token.text if text is None else text, suggestion)


def malformed(token: Token, message: str, suggestion: str | None = None) -> Mistake:
    """A syntax_error at `token`, to be raised."""
    return Mistake(at(token, Category.SYNTAX_ERROR, message, suggestion))


def misplaced(token: Token, message: str, suggestion: str | None = None) -> Mistake:
    """An unexpected_construct at `token`, to be raised."""
    return Mistake(at(token, Category.UNEXPECTED_CONSTRUCT, message, suggestion))


def select(faults: Iterable[Fault]) -> list[Fault]:
    """One fault a line, in line order, at most MAX_DIAGNOSTICS: a foreign construct wins, else the leftmost.

    Faults at the same place keep the order in which they were found.
    """
    best: dict[int, Fault] = {}
    for fault in faults:
        held = best.get(fault.line)
        if held is None or _rank(fault) < _rank(held):
            best[fault.line] = fault
    return [best[line] for line in sorted(best)[:MAX_DIAGNOSTICS]]


def _rank(fault: Fault) -> tuple[bool, int]:
    return fault.category is not Category.FOREIGN_KEYWORD, fault.column


def diagnostic(fault: Fault) -> Diagnostic:
    """The boundary form of `fault`: texts that any encoder takes and that fit on a line."""
    return Diagnostic(
        line=fault.line,
        column=fault.column,
        category=fault.category,
        message=_printable(fault.message, 2 * _MAX_TEXT),
        text=_printable(fault.text, _MAX_TEXT),
        suggestion=None if fault.suggestion is None else _printable(fault.suggestion, _MAX_TEXT),
    )


def trace_line(found: Diagnostic) -> str:
    """`found` in the words that are fed back to a model."""
    template = TRACE_TEMPLATES[found.category]
    head, _, rest = template.partition("[")
    if found.suggestion is not None:
        head += rest.rstrip("]")
    return head.format(line=found.line, message=found.message, suggestion=found.suggestion)


def quoted(text: str) -> str:
    """`text` in single quotes for a message, cut where it is too long to read."""
    return f"'{text if len(text) <= 60 else text[:57] + '...'}'"


def _printable(text: str, limit: int) -> str:
    if not text.isprintable():
        text = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text[:limit])
    return text if len(text) <= limit else text[: limit - 1] + "…"
