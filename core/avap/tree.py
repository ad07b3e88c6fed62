"""The syntax tree: frozen nodes that know their tokens, made so that an interpreter or a formatter needs nothing more.

Chains are flat: `1 + 2 - 3` is one Arithmetic, `a.b[0](c)` one Access, so a tree is only as deep as its brackets are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple

from core.avap.tokens import Token


class Span(NamedTuple):
    """Where a node stands: lines from 1, columns from 1 in code points, the end column exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Node:
    """Anything in the tree, from its first token to its last."""

    first: Token
    last: Token

    @property
    def line(self) -> int:
        """Line of the first token."""
        return self.first.line

    @property
    def span(self) -> Span:
        """The text this node covers."""
        return Span(self.first.line, self.first.column, self.last.line, self.last.end_column)


class Expression(Node):
    """Something with a value."""

    __slots__ = ()


class Statement(Node):
    """Something that is executed."""

    __slots__ = ()


# Operands


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A variable, or what is called: `total`."""

    id: str


@dataclass(frozen=True, slots=True)
class Global(Expression):
    """`$total`: the global variable, also inside a function. In a mode-2 text also `${a.b}`, with a dotted id."""

    id: str


@dataclass(frozen=True, slots=True)
class Constant(Expression):
    """None, True or False."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Number(Expression):
    """An unsigned integer or decimal, as it was written; a sign is an operator."""

    text: str

    @property
    def value(self) -> int | float:
        """Its value. An integer of more digits than Python converts comes as a float."""
        return float(self.text) if "." in self.text or len(self.text) > 4000 else int(self.text)


@dataclass(frozen=True, slots=True)
class String(Expression):
    """A quoted text, escapes resolved."""

    value: str


@dataclass(frozen=True, slots=True)
class Slot(Node):
    """`${order.total}` inside a template; the path is ('order', 'total')."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Template(Expression):
    """A back-tick text: literal pieces and slots in order."""

    parts: tuple[str | Slot, ...]


@dataclass(frozen=True, slots=True)
class BareText(Expression):
    """Text of the lenient dialect that stands for itself."""

    value: str


@dataclass(frozen=True, slots=True)
class Missing(Expression):
    """An empty argument of the lenient dialect."""


# Displays


@dataclass(frozen=True, slots=True)
class ListDisplay(Expression):
    """`[a, b]`."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class TupleDisplay(Expression):
    """`(a, b)`, `(a,)` or `()`."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class DictDisplay(Expression):
    """`{k: v}`, in the order written."""

    items: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True, slots=True)
class Group(Expression):
    """`(a)`: a formatter wants to know, an interpreter passes through."""

    inner: Expression


@dataclass(frozen=True, slots=True)
class Clause(Node):
    """`for names in source if condition ...` of a comprehension."""

    names: tuple[Token, ...]
    source: Expression
    conditions: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Comprehension(Expression):
    """`[element for ...]`; later clauses are the inner loops."""

    element: Expression
    clauses: tuple[Clause, ...]


# Operators


@dataclass(frozen=True, slots=True)
class Unary(Expression):
    """`not a`, `-a`, or several at once: `not not a`. The operator nearest to the operand stands last."""

    operators: tuple[str, ...]
    operand: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic(Expression):
    """A run of operators of one precedence: `a + b - c`. Evaluated from the left, `**` from the right."""

    operands: tuple[Expression, ...]
    operators: tuple[str, ...]
    """One fewer than the operands."""


@dataclass(frozen=True, slots=True)
class Comparison(Expression):
    """`a < b <= c`: true when every neighbouring pair is. Operators include `in`, `not in`, `is`, `is not`."""

    operands: tuple[Expression, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Boolean(Expression):
    """`a and b and c`, or the same with `or`; stops at the first operand that decides."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Conditional(Expression):
    """`A if C else B if D else E`: branches (A, C), (B, D), otherwise E."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression


# Access


@dataclass(frozen=True, slots=True)
class Attribute(Node):
    """`.name` after a value."""

    name: str


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`[key]` after a value."""

    key: Expression


@dataclass(frozen=True, slots=True)
class Slice(Node):
    """`[start:stop:step]` after a value; None where nothing is written."""

    start: Expression | None
    stop: Expression | None
    step: Expression | None


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`(a, b)` after a value."""

    arguments: tuple[Expression, ...]


Trailer = Attribute | Index | Slice | Call


@dataclass(frozen=True, slots=True)
class Access(Expression):
    """A value and what is asked of it, from left to right: `rows[0].name`, `len(x)`."""

    base: Expression
    trailers: tuple[Trailer, ...]


# Statements


@dataclass(frozen=True, slots=True)
class Assign(Statement):
    """`target = expression`."""

    target: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Command(Statement):
    """A command of the vocabulary by its canonical name. With `target`, the result stood on the left."""

    name: str
    arguments: tuple[Expression, ...]
    parameters: tuple[str, ...]
    """The name of the parameter that each argument fills."""
    target: str | None


@dataclass(frozen=True, slots=True)
class FunctionCall(Statement):
    """A declared or imported function called for its effects."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ConnectorCall(Statement):
    """`connector.method(args)`, alone or on the right of `target =`."""

    connector: Name | Global
    method: str
    arguments: tuple[Expression, ...]
    target: str | None


@dataclass(frozen=True, slots=True)
class Return(Statement):
    """`return(value)`; no value is None."""

    value: Expression | None


@dataclass(frozen=True, slots=True)
class Module(Statement):
    """`import` or `include` of a `name`, a `"file"` or a `<name>`."""

    keyword: str
    target: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """The condition of a mode-1 if."""

    left: Expression
    operator: str
    right: Expression


@dataclass(frozen=True, slots=True)
class Evaluate(Node):
    """The condition of a mode-2 if: the expression that its text holds."""

    text: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Else(Node):
    """`else()` and what follows it, up to `end()`."""

    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If(Statement):
    """`if(...)`, either mode, to its `end()`. The condition is None only in the tree of an invalid program."""

    condition: Compare | Evaluate | None
    body: tuple[Statement, ...]
    otherwise: Else | None


@dataclass(frozen=True, slots=True)
class Loop(Statement):
    """`startLoop(variable, start, stop)` to `endLoop()`: both bounds inclusive."""

    variable: str
    start: Expression | None
    stop: Expression | None
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Handler(Node):
    """`exception(variable)` and what follows it, up to `end()`."""

    variable: str | None
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Try(Statement):
    """`try()` to its `end()`."""

    body: tuple[Statement, ...]
    handler: Handler | None


@dataclass(frozen=True, slots=True)
class Function(Statement):
    """`function name(parameters){ ... }`."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as written, marks included; a block comment may hold line ends."""

    text: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Program:
    """A whole program. For an INVALID one the body holds what could be understood."""

    lines: tuple[str, ...]
    """The physical lines, without their ends."""
    body: tuple[Statement, ...]
    comments: tuple[Comment, ...]


def children(node: Node) -> Iterator[Node]:
    """The nodes directly inside `node`, in source order."""
    for field in fields(node):
        yield from _nodes(getattr(node, field.name))


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple) and not isinstance(value, Token):
        for item in value:
            yield from _nodes(item)


def walk(program: Program) -> Iterator[Node]:
    """Every node, parents before children, in source order; needs no stack however deep the tree."""
    waiting: list[Node] = list(reversed(program.body))
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(list(children(node))))
