"""A program to its canonical text: rows, the comments between them, and the blank lines that the author left."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from core.avap import tree
from core.avap.formatting.comments import Comments, one_line, position_of
from core.avap.formatting.layout import INDENT, lay_out
from core.avap.formatting.sameness import same_tree
from core.avap.formatting.statements import Role, Row, Tokens, rows
from core.avap.lines import Lines
from core.avap.parser import parse
from core.avap.vocabulary import Vocabulary
from core.model.syntax import Dialect, ParseResult, Validity

WIDTH: Final = 120
"""Columns that a statement may take before its brackets are broken over lines."""
_UNBOUNDED: Final = 10**9
_BYTE_ORDER_MARK: Final = "\ufeff"
_END_OF_BARE_LINE: Final = re.compile(r"\s*;?\s*(.*?)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Formatted:
    """The verdict on a program, and its canonical text."""

    result: ParseResult
    text: str | None
    """None exactly when the program is INVALID. Ends with one line end, and parses to the same tree."""


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines that belong together: a row with the comments behind it, or a comment between rows."""

    begin: int
    """First line in the source."""
    end: int
    """Last line in the source."""
    role: Role
    lines: tuple[str, ...]


def format_program(code: str, vocabulary: Vocabulary, dialect: Dialect) -> Formatted:
    """`code` in canonical form: one statement a line, blocks indented, spacing settled, comments kept.

    Formatting the text again gives the same text. A program whose text would not parse to the same tree again
    (it would outgrow the parser's size limit, say) is given back as it is.
    """
    parsed = parse(code, vocabulary, dialect)
    if parsed.result.verdict is Validity.INVALID:
        return Formatted(parsed.result, None)
    for width in (WIDTH, _UNBOUNDED):
        text = _text(parsed.tree, code, vocabulary, dialect, width)
        again = parse(text, vocabulary, dialect)
        if again.result.verdict is Validity.VALID and same_tree(parsed.tree, again.tree):
            return Formatted(parsed.result, text)
    return Formatted(parsed.result, code)


def _text(program: tree.Program, code: str, vocabulary: Vocabulary, dialect: Dialect, width: int) -> str:
    lines = [line.tokens for line in Lines(code.removeprefix(_BYTE_ORDER_MARK), vocabulary, dialect)]
    comments = Comments(program.comments, lines)
    printed = list(rows(program, Tokens(lines), comments))
    written: list[str] = []
    before: _Block | None = None
    for block in _blocks(printed, list(_outside_brackets(comments, printed, program.lines)), width):
        if before is not None and _keeps_blank_line(before, block):
            written.append("")
        written.extend(block.lines)
        before = block
    return "\n".join([*written, ""])


def _outside_brackets(comments: Comments, rows: Sequence[Row], lines: Sequence[str]) -> Iterator[tree.Comment]:
    """The comments that no bracket has taken. Of a bare line only what follows its bracket is one."""
    bare = {row.last.line: row.last.end_column for row in rows if row.bare}
    for comment in comments.rest():
        end = bare.get(comment.line, 0)
        if comment.column >= end:
            yield comment
        elif comment.column + len(comment.text) > end:
            match = _END_OF_BARE_LINE.fullmatch(lines[comment.line - 1], end - 1)
            if match is not None and match[1]:
                yield tree.Comment(match[1], comment.line, match.start(1) + 1)


def _blocks(rows: Sequence[Row], comments: Sequence[tree.Comment], width: int) -> Iterator[_Block]:
    """The rows, each with the comments that begin behind it and before the next one."""
    starts = [(row.first.line, row.first.column) for row in rows]
    behind: dict[int, list[tree.Comment]] = {}
    for comment in comments:
        behind.setdefault(bisect_right(starts, position_of(comment)) - 1, []).append(comment)
    yield from (_alone(comment, 0) for comment in behind.get(-1, ()))
    for number, row in enumerate(rows):
        found = behind.get(number, [])
        trailing = list(one_line([comment.text for comment in found if comment.line <= row.last.line]))
        *first, last = lay_out(row.pieces, row.depth, width)
        end = row.last.line + sum(text.count("\n") for text in trailing)
        yield _Block(row.first.line, end, row.role, (*first, " ".join([last, *trailing])))
        depth = _depth_after(rows, number)
        yield from (_alone(comment, depth) for comment in found[len(trailing) :])


def _depth_after(rows: Sequence[Row], number: int) -> int:
    """The depth of a comment between a row and the next: in front of the end of a block it belongs to the block."""
    if number + 1 == len(rows):
        return 0
    after = rows[number + 1]
    return after.depth + (after.role in {Role.TURN, Role.CLOSER})


def _alone(comment: tree.Comment, depth: int) -> _Block:
    end = comment.line + comment.text.count("\n")
    return _Block(comment.line, end, Role.PLAIN, (INDENT * depth + comment.text,))


def _keeps_blank_line(before: _Block, after: _Block) -> bool:
    """Whether the author left a blank line between the two, and it is not at the edge of a block."""
    at_edge = before.role in {Role.OPENER, Role.TURN} or after.role in {Role.TURN, Role.CLOSER}
    return after.begin - before.end > 1 and not at_edge
