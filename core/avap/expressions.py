"""Expressions: operator precedence over an explicit stack of brackets, so that no input can exhaust Python's own stack.

The reader alternates between two states, wanting an operand and wanting an operator; each state has a table from the
kind of a token to the step it takes. A bracket opens a frame with its own operands and operators; operators of one
precedence wait until a looser one arrives and become one flat node, which keeps reading linear and trees shallow.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.avap import tree
from core.avap.frames import CallSite, Frame
from core.avap.operands import LEAVES, OPERAND
from core.avap.operators import OPERATOR
from core.avap.reader import Reader
from core.avap.tokens import END, Token, end_token

__all__ = ["END", "end_token", "read_arguments", "read_expression"]


def read_expression(tokens: Sequence[Token], start: int, calls: list[CallSite]) -> tuple[tree.Expression, int]:
    """The longest expression from `start`, and the index after it. Names it calls are added to `calls`.

    Raises Mistake; `calls` then holds what had been seen.
    """
    first = tokens[start]
    if first.kind in LEAVES and tokens[start + 1].kind == END:
        return LEAVES[first.kind](first), start + 1
    reader = Reader(tokens, start, Frame(first, "top"), calls)
    reader.read(OPERAND, OPERATOR)
    return reader.result, reader.index


def read_arguments(
    tokens: Sequence[Token], start: int, calls: list[CallSite]
) -> tuple[tuple[tree.Expression, ...], int]:
    """The arguments of the call whose `(` is at `start`, and the index after its `)`. Raises Mistake."""
    reader = Reader(tokens, start + 1, Frame(tokens[start], "call"), calls)
    reader.read(OPERAND, OPERATOR)
    return tuple(reader.arguments), reader.index
