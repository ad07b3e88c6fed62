"""Tokens of answers and of what they are held against, and how much two of them share word for word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from core.measure.likeness import code_tokens
from core.model.judged import Block, BlockKind
from core.model.leakage import AuditedRow

TOKENIZER: Final = (
    "A word is a run of letters, digits and underscores, case kept (`\\w+`), signs are no words. A token of code is a "
    "word, a text in quotes as a whole, or a single sign; comments are none."
)
Run = tuple[str, ...]

_WORD: Final = re.compile(r"\w+")
PROGRAMS: Final = frozenset({BlockKind.CODE, BlockKind.FOREIGN, BlockKind.UNLABELLED})
"""Blocks that count as code here: an answer in honest Python is code too."""


@lru_cache(maxsize=32768)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, in order. Cached: passages and examples come back with many answers."""
    return tuple(_WORD.findall(text))


@lru_cache(maxsize=32768)
def tokens(code: str) -> tuple[str, ...]:
    """The tokens of a program, in order."""
    return tuple(code_tokens(code))


@lru_cache(maxsize=65536)
def runs(tokens: tuple[str, ...], length: int) -> frozenset[Run]:
    """The runs of `length` tokens; none in a shorter text."""
    return frozenset(tokens[at : at + length] for at in range(len(tokens) - length + 1))


def longest_run(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Tokens of the longest run that stands in both, found by halving: a run of n holds one of every shorter length."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if runs(one, middle).isdisjoint(runs(other, middle)):
            high = middle - 1
        else:
            low = middle
    return low


def programs(row: AuditedRow) -> tuple[str, ...]:
    """The programs of an answer, AVAP or not."""
    return tuple(block.code for block in row.blocks if block.kind in PROGRAMS)


def prose(row: AuditedRow) -> str:
    """The answer without its code blocks."""
    lines: list[str] = row.answer.splitlines()
    kept: Sequence[str] = [line for at, line in enumerate(lines, start=1) if at not in _coded(row.blocks)]
    return "\n".join(kept)


def _coded(blocks: Iterable[Block]) -> frozenset[int]:
    """The lines, from 1, that belong to `blocks`, fences included."""
    return frozenset(line for block in blocks for line in _lines(block))


def _lines(block: Block) -> range:
    length = len(block.code.splitlines())
    fences = 0 if block.kind is BlockKind.INDENTED else 1 + block.closed
    return range(block.line, block.line + length + fences)
