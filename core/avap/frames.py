"""The open brackets of an expression: operands and operators that wait, and how they become nodes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from core.avap import tree
from core.avap.diagnostics import malformed
from core.avap.tokens import Token


class Level(IntEnum):
    """Precedence, loosest first, as in Python."""

    TERNARY = 1
    OR = 2
    AND = 3
    NOT = 4
    COMPARE = 5
    ADD = 6
    MULTIPLY = 7
    SIGN = 8
    POWER = 9


@dataclass(slots=True)
class CallSite:
    """A name that an expression calls, to be resolved once all functions are known."""

    token: Token
    arguments: int | None = None
    """None while the call has not been read to its end."""


OpenClause = tuple[Token, tuple[Token, ...], list[tree.Expression]]
"""A `for` of a comprehension while it is read: its token, its names, its source and conditions."""
Waiting = tuple[int, str, Token]
"""An operator that waits for its operands: its level, its text, its token."""
_NO_CLAUSES: Final[list[OpenClause]] = []
_NO_OPERATORS: Final[list[Waiting]] = []
_NO_TRAILERS: Final[list[tree.Trailer]] = []
"""Shared by all frames that have none, and never appended to: a bracket costs little until something stands in it."""
_PREFIXES: Final = frozenset({Level.NOT, Level.SIGN})


class Frame:
    """An open bracket: `role` is `(`, `[`, `{`, `call`, `index`, `for` (a comprehension) or `top`."""

    __slots__ = ("call", "clauses", "items", "opener", "operators", "parts", "role", "trailers", "values")

    def __init__(self, opener: Token, role: str) -> None:
        self.opener = opener
        self.role = role
        self.values: list[tree.Expression] = []
        self.operators = _NO_OPERATORS
        self.trailers = _NO_TRAILERS
        """What has been asked of the last value."""
        self.items: list[tree.Expression] = []
        """What has been separated off; of a dict keys and values in turn."""
        self.parts: tuple[tree.Expression | None, ...] = ()
        """Of an index: what stood before each colon."""
        self.clauses: list[OpenClause] = _NO_CLAUSES
        self.call: CallSite | None = None

    def hold(self, level: int, text: str, token: Token) -> None:
        """Let an operator wait for its right operand."""
        if self.operators:
            self.operators.append((level, text, token))
        else:
            self.operators = [(level, text, token)]

    def ask(self, trailer: tree.Trailer) -> None:
        """Add to what is asked of the last value."""
        if self.trailers:
            self.trailers.append(trailer)
        else:
            self.trailers = [trailer]


def settle(frame: Frame) -> None:
    """Turn the last value and its trailers into one Access."""
    base = frame.values[-1]
    last = frame.trailers[-1].last
    frame.values[-1] = tree.Access(base.first, last, base, tuple(frame.trailers))
    frame.trailers = _NO_TRAILERS


def reduce(frame: Frame, floor: int) -> None:
    """Turn waiting operators tighter than `floor` into nodes."""
    operators, values = frame.operators, frame.values
    while operators and operators[-1][0] > floor:
        level = operators[-1][0]
        start = len(operators) - 1
        while start and operators[start - 1][0] == level:
            start -= 1
        run = operators[start:]
        del operators[start:]
        if level in _PREFIXES:
            operand = values.pop()
            values.append(tree.Unary(run[0][2], operand.last, tuple(text for _, text, _ in run), operand))
            continue
        operands = values[-_operand_count(level, run) :]
        del values[-len(operands) :]
        values.append(_joined(level, run, operands))


def _operand_count(level: int, run: list[Waiting]) -> int:
    return 2 * len(run) + 1 if level == Level.TERNARY else len(run) + 1


def _joined(level: int, run: list[Waiting], operands: list[tree.Expression]) -> tree.Expression:
    first, last = operands[0].first, operands[-1].last
    names = tuple(text for _, text, _ in run)
    if level == Level.COMPARE:
        return tree.Comparison(first, last, tuple(operands), names)
    if level in {Level.AND, Level.OR}:
        return tree.Boolean(first, last, names[0], tuple(operands))
    if level == Level.TERNARY:
        if run[-1][1] == "if":
            raise malformed(run[-1][2], "'if' inside an expression needs its 'else'")
        branches = tuple(zip(operands[:-1:2], operands[1::2], strict=True))
        return tree.Conditional(first, last, branches, operands[-1])
    return tree.Arithmetic(first, last, tuple(operands), names)
