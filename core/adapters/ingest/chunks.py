"""Cutting text into chunks by words, with paragraphs and fenced blocks kept whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from core.model.specs import ChunkingSpec

FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


class BlockKind(Enum):
    """What a block is."""

    PROSE = auto()
    FENCE = auto()
    """Never cut, however long: half a program is no program."""


@dataclass(frozen=True)
class Block:
    """A paragraph or a fenced block."""

    text: str
    kind: BlockKind

    @property
    def words(self) -> int:
        """Size, in words."""
        return len(self.text.split())


def blocks_of(text: str) -> Iterator[Block]:
    """The paragraphs and fenced blocks of Markdown `text`, in order; an unclosed fence runs to the end."""
    open_fence = ""
    lines: list[str] = []
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if open_fence:
            lines.append(line)
            if closes(line, open_fence):
                yield Block("\n".join(lines), BlockKind.FENCE)
                lines, open_fence = [], ""
        elif mark or not line.strip():
            yield from _paragraph(lines)
            lines, open_fence = ([line], mark[1]) if mark else ([], "")
        else:
            lines.append(line)
    yield from [Block("\n".join(lines), BlockKind.FENCE)] if open_fence else _paragraph(lines)


def closes(line: str, fence: str) -> bool:
    """Whether `line` closes the fence opened by the mark `fence`: the same sign, at least as often, nothing after."""
    mark = FENCE.match(line)
    return mark is not None and mark[1].startswith(fence) and not line.strip().strip(fence[0])


def chunks_of(text: str, chunking: ChunkingSpec) -> list[str]:
    """`text` in chunks of at most `max_words` words, a longer fence being a chunk of its own.

    A paragraph longer than that is cut between words. Each chunk repeats up to `overlap_words` words from the end
    of the one before. Raises ValueError for an overlap that leaves no room for anything new.
    """
    if chunking.overlap_words >= chunking.max_words:
        raise ValueError(
            f"an overlap of {chunking.overlap_words} words in chunks of {chunking.max_words} leaves no room"
        )
    room = chunking.max_words - chunking.overlap_words
    chunks: list[list[Block]] = []
    used = 0
    for block in _pieces(blocks_of(text), room):
        if not chunks or used + block.words > chunking.max_words:
            chunks.append(_tail(chunks[-1], chunking.overlap_words) if chunks else [])
            used = sum(part.words for part in chunks[-1])
        chunks[-1].append(block)
        used += block.words
    return ["\n\n".join(block.text for block in chunk) for chunk in chunks]


def _paragraph(lines: list[str]) -> list[Block]:
    return [Block("\n".join(lines), BlockKind.PROSE)] if lines else []


def _pieces(blocks: Iterable[Block], limit: int) -> Iterator[Block]:
    for block in blocks:
        if block.kind is BlockKind.FENCE or block.words <= limit:
            yield block
        else:
            words = block.text.split()
            for start in range(0, len(words), limit):
                yield Block(" ".join(words[start : start + limit]), BlockKind.PROSE)


def _tail(blocks: list[Block], limit: int) -> list[Block]:
    kept: list[Block] = []
    for block in reversed(blocks):
        if block.words > limit:
            rest = block.text.split()[-limit:] if block.kind is BlockKind.PROSE and limit else []
            return [Block(" ".join(rest), BlockKind.PROSE), *kept] if rest else kept
        kept.insert(0, block)
        limit -= block.words
    return kept
