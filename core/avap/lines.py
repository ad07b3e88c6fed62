"""Physical lines to logical ones: comments set aside, open brackets followed over line ends, braces told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from core.avap import tokens as t
from core.avap.bare import BareCall, read_bare_call
from core.avap.diagnostics import Fault, at
from core.avap.tokens import Token, tokens_of_line
from core.avap.tree import Comment
from core.avap.vocabulary import KEYWORDS, Vocabulary
from core.model.syntax import Category, Dialect

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_OPENERS: Final = {"(": ")", "[": "]", "{": "}"}
_UNCLOSED_TEXT: Final = frozenset({t.OPEN_STRING, t.OPEN_TEMPLATE})
_BEFORE_DICT: Final = frozenset(
    {"(", "[", "{", ",", ":", "=", ":=", "+=", "+", "-", "*", "/", "%", "**", "==", "!=", "<", ">", "<=", ">="}
    | {"and", "or", "not", "in", "is"}
)
"""After these a brace can only begin a dict, save that `i++ {` at the end of a line is a foreign block."""
_AWAITS_VALUE: Final = _BEFORE_DICT | {"if", "else", "for", "."}
"""A line that ends with one of these, inside brackets, is not over."""
_NOTABLE: Final = frozenset({*"()[]{}", "=>", ":=", "lambda", t.PHP_TAG, *_UNCLOSED_TEXT})
_WORDS_BEFORE_NAME: Final = frozenset({"function", "return", "import", "include"})


@dataclass(slots=True)
class LogicalLine:
    """The tokens of one statement, and what the reader noticed about them."""

    tokens: list[Token]
    notable: bool = False
    """Whether it has braces of blocks or signs of other languages."""
    bare: BareCall | None = None
    """What the line is when a comment mark in it (`https://`) is taken for text; otherwise its bracket stays open."""


@dataclass(slots=True)
class _Brackets:
    """The brackets open so far in a logical line."""

    stack: list[Token] = field(default_factory=list)
    dicts: int = 0
    """How many of them are braces."""

    def follow(self, tokens: list[Token]) -> bool:
        """Take in `tokens`, renaming the braces of blocks in place; says whether anything notable is there."""
        notable = False
        for place, token in enumerate(tokens):
            kind = token.kind
            if kind not in _NOTABLE:
                continue
            if kind in {"(", "["}:
                self.stack.append(token)
            elif kind in {")", "]"} or (kind == "}" and self.dicts):
                self._close(kind)
            elif kind == "{" and _begins_dict(tokens, place, inside=bool(self.stack)):
                self.stack.append(token)
                self.dicts += 1
            else:
                notable = True
                if kind in {"{", "}"}:
                    tokens[place] = Token(
                        t.BLOCK_OPEN if kind == "{" else t.BLOCK_CLOSE, kind, token.line, token.column
                    )
        return notable

    def _close(self, kind: str) -> None:
        """A closer of the wrong kind closes what it can: the fault is told when the expression is read."""
        stack = self.stack
        if stack and _OPENERS[stack[-1].kind] == kind:
            self.dicts -= stack.pop().kind == "{"
            return
        for place in range(len(stack) - 1, max(-1, len(stack) - 4), -1):
            if _OPENERS[stack[place].kind] == kind:
                self.dicts -= sum(opener.kind == "{" for opener in stack[place:])
                del stack[place:]
                return


def _begins_dict(tokens: list[Token], place: int, *, inside: bool) -> bool:
    """Whether the brace at `place` can only be a dict display. At the start of a line, any inside a bracket is."""
    if not place:
        return inside
    before, earlier = tokens[place - 1], tokens[place - 2] if place > 1 else None
    if before.kind in {"if", "else"}:
        return earlier is not None and earlier.kind != t.BLOCK_CLOSE
    if before.kind in {"+", "-"} and earlier is not None and earlier.kind == before.kind:
        return inside or place + 1 < len(tokens)
    return before.kind in _BEFORE_DICT or before.text == "return"


class Lines:
    """The logical lines of a source, in order; once. `comments` and `faults` fill up on the way."""

    def __init__(self, source: str, vocabulary: Vocabulary, dialect: Dialect) -> None:
        self.texts: tuple[str, ...] = tuple(_LINE_END.split(source))
        self.comments: list[Comment] = []
        self.faults: list[Fault] = []
        self._vocabulary = vocabulary
        self._lenient = dialect is Dialect.LENIENT
        self._next = 0
        self._column = 0
        self._peeked: list[Token] | None = None

    def __iter__(self) -> Iterator[LogicalLine]:
        while (tokens := self._take()) is not None:
            line = LogicalLine(tokens)
            if _NOTABLE.isdisjoint([token.kind for token in tokens]):
                yield line
                continue
            brackets = _Brackets()
            line.notable = brackets.follow(tokens)
            while brackets.stack and self._continues(line, brackets):
                more = self._take()
                assert more is not None
                line.notable |= brackets.follow(more)
                line.tokens.extend(more)
            yield line

    def _continues(self, line: LogicalLine, brackets: _Brackets) -> bool:
        """Whether the open brackets of `line` go on into the next physical line."""
        last = line.tokens[-1]
        if last.kind is t.BLOCK_OPEN or last.kind in _UNCLOSED_TEXT or self._is_cut_by_comment(line, last):
            return False
        following = self._peek()
        return following is not None and not self._begins_statement(last, following, in_dict=brackets.dicts > 0)

    def _is_cut_by_comment(self, line: LogicalLine, last: Token) -> bool:
        """Whether the comment after `last` is bare text in truth (`https://`), which holds the closing bracket."""
        text = self.texts[last.line - 1]
        rest = text[last.end_column - 1 :]
        if line.tokens[0].line == last.line and rest.lstrip().startswith("/") and (self._lenient or last.kind == ":"):
            line.bare = read_bare_call(text, last.line)
        return line.bare is not None

    def _begins_statement(self, last: Token, tokens: list[Token], *, in_dict: bool) -> bool:
        """Whether `tokens`, met inside a bracket after `last`, can only be a statement of their own."""
        first, second = tokens[0], tokens[min(1, len(tokens) - 1)]
        if first.kind == "}":
            return not in_dict
        if first.kind in {"if", "else"}:
            return second.kind == "(" and _is_one_call(tokens)
        if first.kind is not t.NAME:
            return False
        if second.kind == "=" or (first.text in _WORDS_BEFORE_NAME and second.kind in {t.NAME, t.STRING, "<"}):
            return True
        awaited = last.kind in _AWAITS_VALUE
        if second.kind == "(" and (first.text in KEYWORDS or first.text in self._vocabulary.spellings):
            return not (awaited and (self._closer_follows() or not _is_one_call(tokens)))
        return not awaited

    def _closer_follows(self) -> bool:
        """Whether the text after the peeked line goes on with the brackets around it."""
        following = (text.lstrip() for text in self.texts[self._next : self._next + 20])
        return next(filter(None, following), "").startswith((")", "]", ","))

    def _take(self) -> list[Token] | None:
        tokens, self._peeked = (self._peeked or self._physical()), None
        return tokens

    def _peek(self) -> list[Token] | None:
        if self._peeked is None:
            self._peeked = self._physical()
        return self._peeked

    def _physical(self) -> list[Token] | None:
        """The tokens of the next physical line that has any; None at the end."""
        while self._next < len(self.texts):
            text, start = self.texts[self._next], self._column
            self._next += 1
            self._column = 0
            tokens = tokens_of_line(text, self._next, start)
            if "/" in text:
                tokens = self._without_comments(tokens)
            if tokens:
                return tokens
        return None

    def _without_comments(self, tokens: list[Token]) -> list[Token]:
        kept: list[Token] = []
        for token in tokens:
            if token.kind is t.COMMENT:
                self.comments.append(Comment(token.text, token.line, token.column))
            elif token.kind is t.OPEN_COMMENT:
                if self._lenient and read_bare_call(self.texts[token.line - 1], token.line) is not None:
                    break
                self._skip_comment(token)
            else:
                kept.append(token)
        return kept

    def _skip_comment(self, opener: Token) -> None:
        """Go to the end of a comment that spans lines; at the end of the source it is a fault of its opener."""
        pieces = [opener.text]
        while self._next < len(self.texts):
            text = self.texts[self._next]
            end = text.find("*/")
            if end >= 0:
                pieces.append(text[: end + 2])
                self._column = end + 2
                break
            pieces.append(text)
            self._next += 1
        else:
            self.faults.append(at(opener, Category.SYNTAX_ERROR, "the comment is never closed", "*/", "/*"))
        self.comments.append(Comment("\n".join(pieces), opener.line, opener.column))


def _is_one_call(tokens: list[Token]) -> bool:
    """Whether `tokens` are one `word(...)` with balanced brackets, perhaps with a `;`."""
    depth = 0
    for place, token in enumerate(tokens):
        if token.kind in {"(", "["}:
            depth += 1
        elif token.kind in {")", "]"}:
            depth -= 1
            if depth == 0:
                return all(rest.kind == ";" for rest in tokens[place + 1 :])
    return False
