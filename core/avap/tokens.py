"""Text to tokens, one physical line at a time: one compiled pattern, no loop over characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

NAME: Final = "name"
GLOBAL: Final = "$name"
"""`$name`, and in a mode-2 text `${name}`: reads a variable by name."""
NUMBER: Final = "number"
STRING: Final = "string"
TEMPLATE: Final = "template"
CONSTANT: Final = "constant"
COMMENT: Final = "comment"
OPEN_COMMENT: Final = "unterminated comment"
OPEN_STRING: Final = "unterminated string"
OPEN_TEMPLATE: Final = "unterminated template"
BAD_NUMBER: Final = "malformed number"
BAD_CHARACTER: Final = "unexpected character"
HASH: Final = "hash"
FENCE: Final = "markdown fence"
PHP_TAG: Final = "php tag"
BLOCK_OPEN: Final = "block {"
"""A brace that begins a block; the brace of a dict display keeps its own text as its kind."""
BLOCK_CLOSE: Final = "block }"

CONSTANTS: Final = frozenset({"None", "True", "False"})
WORD_OPERATORS: Final = frozenset({"and", "or", "not", "in", "is", "if", "else", "for", "lambda"})
"""Names that expressions are built with; as token kinds they stand for themselves."""

_KIND_OF_WORD: Final = {**dict.fromkeys(CONSTANTS, CONSTANT), **{word: word for word in WORD_OPERATORS}}

END: Final = "end of statement"


class Token(NamedTuple):
    """A piece of one line. `kind` is one of the constants above, or the text itself for an operator or bracket."""

    kind: str
    text: str
    line: int
    """From 1."""
    column: int
    """From 1, in code points."""

    @property
    def end_column(self) -> int:
        """Column just after the token."""
        return self.column + len(self.text)


_PIECES: Final = (
    (NAME, r"[^\W\d]\w*+"),
    (
        "",
        r"===|!==|\*\*=|:=|=>|==|!=|<=|>=|<>|\+=|-=|\*=|/=|%=|&&|\|\||\*\*|[-+*%()\[\]{},;=>]|<(?!\?)|[:!](?!=)|\.(?![0-9])",
    ),
    (STRING, r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|' + r"'[^'\\]*+(?:\\.[^'\\]*+)*+'"),
    (NUMBER, r"[0-9]++(?:\.[0-9]++)?(?![\w.])"),
    (GLOBAL, r"\$[^\W\d]\w*+"),
    (FENCE, r"```.*+"),
    (TEMPLATE, r"`[^`\\]*+(?:\\.[^`\\]*+)*+`"),
    (OPEN_STRING, r"[\"'].*+"),
    (OPEN_TEMPLATE, r"`.*+"),
    (BAD_NUMBER, r"[0-9][\w.]*+|\.[0-9][\w.]*+"),
)
_PROGRAM_ONLY: Final = (
    (COMMENT, r"//.*+|/\*.*?\*/"),
    (OPEN_COMMENT, r"/\*.*+"),
    (HASH, r"\#.*+"),
    (PHP_TAG, r"<\?(?:php|=)?|\?>"),
    (BAD_CHARACTER, r"\$\{[^}]*+\}?"),
    ("", r"/"),
)
_EXPRESSION_ONLY: Final = ((GLOBAL, r"\$\{[^\W\d]\w*(?:\.[^\W\d]\w*)*\}"), ("", r"//|/"))
_ANYTHING: Final = ((BAD_CHARACTER, r"."),)

_Pieces = tuple[tuple[str, str], ...]


def _scanner(pieces: _Pieces) -> tuple[Callable[..., Iterator[re.Match[str]]], tuple[str, ...]]:
    pattern = r"\s*+(?:" + "|".join(f"({text})" for _, text in pieces) + ")"
    return re.compile(pattern, re.DOTALL).finditer, ("", *(kind for kind, _ in pieces))


_PROGRAM: Final = _scanner((*_PIECES, *_PROGRAM_ONLY, *_ANYTHING))
_EXPRESSION: Final = _scanner((_PIECES[0], *_EXPRESSION_ONLY, *_PIECES[1:], *_ANYTHING))


def end_token(tokens: Sequence[Token]) -> Token:
    """The sentinel that must end every list of tokens from which expressions are read."""
    _, text, line, column = tokens[-1]
    return Token(END, "", line, column + len(text))


def tokens_of_line(text: str, line: int, start: int = 0) -> list[Token]:
    """The tokens of physical line number `line`, comments included, from code point `start` on.

    Never fails: what is no token becomes one of the faulty kinds, which no rule of the grammar accepts.
    """
    return _scan(_PROGRAM, text, line, start, 1)


def tokens_of_expression(text: str, line: int, column: int) -> list[Token]:
    """The tokens of a mode-2 text that begins at `column`: no comments, so that `//` divides."""
    return _scan(_EXPRESSION, text, line, 0, column)


def _scan(
    scanner: tuple[Callable[..., Iterator[re.Match[str]]], tuple[str, ...]],
    text: str,
    line: int,
    start: int,
    column: int,
) -> list[Token]:
    finditer, kinds = scanner
    found: list[Token] = []
    add = found.append
    new = tuple.__new__
    for match in finditer(text.rstrip(), start):
        index = match.lastindex
        piece = match[index]  # type: ignore[index]  # every alternative has its group
        kind = kinds[index] or piece  # type: ignore[index]
        if kind is NAME and piece in _KIND_OF_WORD:
            kind = _KIND_OF_WORD[piece]
        add(new(Token, (kind, piece, line, match.start(index) + column)))  # type: ignore[arg-type]
    if text.isascii():
        return found
    return [_only_letters(token) for token in found]


def _only_letters(token: Token) -> Token:
    """Refuse as names the few signs that count as letters for the pattern but not in an identifier (`²`)."""
    if token.kind is NAME and not token.text.isidentifier():
        return token._replace(kind=BAD_CHARACTER)
    return token
