"""Where each comment of a program belongs: to an item in a bracket, or to a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from core.avap.tokens import Token
from core.avap.tree import Comment

Position = tuple[int, int]
"""Line and column."""
_CLOSERS: Final = frozenset({")", "]", "}"})
_OPENERS: Final = frozenset({"(", "[", "{"})


class Place(Enum):
    """How a comment inside a bracket is written."""

    BEFORE_ITEM = "before the item that follows, on its line"
    AFTER_ITEM = "after the item it follows, before the comma"
    TRAILING = "at the end of the line of the item it follows"
    OWN_LINE = "on a line of its own"


@dataclass(frozen=True, slots=True)
class Inner:
    """A comment inside a bracket."""

    comment: Comment
    place: Place

    @property
    def position(self) -> Position:
        """Where it begins."""
        return self.comment.line, self.comment.column


class Comments:
    """All comments of a program. Those inside brackets are handed out once; the rest is left for the lines."""

    def __init__(self, comments: Iterable[Comment], lines: Iterable[Sequence[Token]]) -> None:
        self._inner: dict[Position, list[Inner]] = {}
        self._outer: list[Comment] = []
        waiting = sorted(comments, key=position_of)
        done = 0
        for tokens in lines if waiting else ():
            done = self._sort_out(waiting, done, tokens)
        self._outer.extend(waiting[done:])

    def take(self, opener: Token) -> list[Inner]:
        """The comments directly inside the bracket `opener`, in order. Empty when asked again."""
        return self._inner.pop((opener.line, opener.column), [])

    def rest(self) -> list[Comment]:
        """The comments that stand in no bracket, and those that nobody took, in order."""
        untaken = [inner.comment for group in self._inner.values() for inner in group]
        return sorted([*self._outer, *untaken], key=position_of)

    def _sort_out(self, waiting: Sequence[Comment], done: int, tokens: Sequence[Token]) -> int:
        """Place the comments before the last of `tokens`, from number `done` on; returns how many are placed."""
        opened: list[Token] = []
        before: Token | None = None
        for token in tokens:
            while done < len(waiting) and position_of(waiting[done]) < (token.line, token.column):
                comment = waiting[done]
                done += 1
                if opened and before is not None:
                    inner = Inner(comment, _place(comment, before, token))
                    self._inner.setdefault((opened[-1].line, opened[-1].column), []).append(inner)
                else:
                    self._outer.append(comment)
            if token.kind in _OPENERS:
                opened.append(token)
            elif token.kind in _CLOSERS and opened:
                opened.pop()
            before = token
        return done


def position_of(comment: Comment) -> Position:
    """Where a comment begins."""
    return comment.line, comment.column


def ends_line(text: str) -> bool:
    """Whether nothing may follow the comment `text` on its line."""
    return text.startswith("//") or "\n" in text


def _place(comment: Comment, before: Token, after: Token) -> Place:
    if ends_line(comment.text):
        return Place.TRAILING if before.line == comment.line and before.kind not in _OPENERS else Place.OWN_LINE
    if before.line < comment.line < after.line:
        return Place.OWN_LINE
    if before.kind == "," and comment.line < after.line:
        return Place.TRAILING
    return Place.BEFORE_ITEM if before.kind == "," or before.kind in _OPENERS else Place.AFTER_ITEM


def one_line(texts: Iterable[str]) -> Iterator[str]:
    """The leading `texts` that fit behind one another on a line: up to the first that ends it."""
    for text in texts:
        yield text
        if ends_line(text):
            return
