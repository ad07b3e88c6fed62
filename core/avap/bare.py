"""Bare text: calls whose arguments are not expressions but text as it stands, which the lenient dialect accepts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from core.avap import tokens as t
from core.avap import tree
from core.avap.diagnostics import Mistake
from core.avap.expressions import read_expression
from core.avap.frames import CallSite
from core.avap.tokens import END, Token, end_token, tokens_of_line

_CALL: Final = re.compile(r"\s*+(?:([^\W\d]\w*+)\s*+=\s*+(?!=))?([^\W\d]\w*+)\s*+\(")
_PIECE: Final = re.compile(r"""[^"'`()\[\]{},]++|"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|`(?:[^`\\]|\\.)*+`|.""")
_QUOTES: Final = "\"'`"
_MOST_ARGUMENTS: Final = 64
"""No command takes as many; a line of nothing but commas is not worth reading twice."""
_REST: Final = re.compile(r"\s*+;?\s*+(?://.*+|/\*.*\*/\s*+)?")


@dataclass(frozen=True, slots=True)
class BareCall:
    """`[target =] word(arguments)` read off one physical line."""

    target: Token | None
    word: Token
    arguments: tuple[tree.Expression, ...]
    calls: tuple[CallSite, ...]
    last: Token

    @property
    def first_bare(self) -> tree.Expression:
        """The first argument that only the lenient dialect takes."""
        return next(item for item in self.arguments if isinstance(item, (tree.BareText, tree.Missing)))


def read_bare_call(text: str, line: int) -> BareCall | None:
    """The call that the physical line `text` is when its arguments may be bare or empty.

    None when the line is no call, its bracket is not closed on it, more follows, or no argument is bare.
    """
    head = _CALL.match(text)
    if head is None:
        return None
    pieces = _arguments(text, head.end())
    if pieces is None:
        return None
    spans, end = pieces
    if not _REST.fullmatch(text, end + 1):
        return None
    calls: list[CallSite] = []
    read = (_argument(text, line, start, stop, calls) for start, stop in spans)
    arguments = tuple(argument for argument in read if argument is not None)
    if len(arguments) < len(spans) or not any(isinstance(item, (tree.BareText, tree.Missing)) for item in arguments):
        return None
    target = Token(t.NAME, head[1], line, head.start(1) + 1) if head[1] else None
    word = Token(t.NAME, head[2], line, head.start(2) + 1)
    return BareCall(target, word, arguments, tuple(calls), Token(")", ")", line, end + 1))


def _arguments(text: str, start: int) -> tuple[list[tuple[int, int]], int] | None:
    """Where each argument begins and ends, and the place of the closing bracket."""
    spans: list[tuple[int, int]] = []
    depth, begin = 0, start
    for match in _PIECE.finditer(text, start):
        piece = match[0]
        if piece in {"(", "[", "{"}:
            depth += 1
        elif piece == ")" and depth == 0:
            if spans or text[begin : match.start()].strip():
                spans.append((begin, match.start()))
            return spans, match.start()
        elif piece in {")", "]", "}"}:
            depth -= depth > 0
        elif piece == "," and depth == 0:
            if len(spans) >= _MOST_ARGUMENTS:
                return None
            spans.append((begin, match.start()))
            begin = match.end()
    return None


def _argument(text: str, line: int, start: int, stop: int, calls: list[CallSite]) -> tree.Expression | None:
    """An expression where the text is one to its end, else the text itself; None for a quoted text gone wrong."""
    raw = text[start:stop].strip()
    column = start + len(text[start:stop]) - len(text[start:stop].lstrip()) + 1
    place = Token("text", raw, line, column)
    if not raw:
        return tree.Missing(place, place)
    if raw.isidentifier() and raw not in t.WORD_OPERATORS and raw not in t.CONSTANTS:
        name = place._replace(kind=t.NAME)
        return tree.Name(name, name, raw)
    tokens = tokens_of_line(text[:stop], line, start)
    tokens.append(end_token(tokens))
    seen: list[CallSite] = []
    try:
        expression, index = read_expression(tokens, 0, seen)
    except Mistake:
        index = 0
    if tokens[index].kind != END:
        return None if raw[0] in _QUOTES else tree.BareText(place, place, raw)
    calls.extend(seen)
    return expression
