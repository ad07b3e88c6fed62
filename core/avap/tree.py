"""The syntax tree: frozen nodes that know their tokens, made so that an interpreter or a formatter needs nothing more.

Chains are flat: `1 + 2 - 3` is one Arithmetic, `a.b[0](c)` one Access, so a tree is only as deep as its brackets are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple, TypeVar, dataclass_transform

from core.avap.tokens import Token

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True)
def node(cls: type[_T]) -> type[_T]:
    """A dataclass that is frozen for the type checker alone: at run time the check would treble what a node costs."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


class Span(NamedTuple):
    """Where a node stands: lines from 1, columns from 1 in code points, the end column exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@node
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


@node
class Name(Expression):
    """A variable, or what is called: `total`."""

    id: str


@node
class Global(Expression):
    """`$total`: the global variable, also inside a function. In a mode-2 text also `${a.b}`, with a dotted id."""

    id: str


@node
class Constant(Expression):
    """None, True or False."""

    value: bool | None


@node
class Number(Expression):
    """An unsigned integer or decimal, as it was written; a sign is an operator."""

    text: str

    @property
    def value(self) -> int | float:
        """Its value. An integer of more digits than Python converts comes as a float."""
        return float(self.text) if "." in self.text or len(self.text) > 4000 else int(self.text)


@node
class String(Expression):
    """A quoted text, escapes resolved."""

    value: str


@node
class Slot(Node):
    """`${order.total}` inside a template; the path is ('order', 'total')."""

    path: tuple[str, ...]


@node
class Template(Expression):
    """A back-tick text: literal pieces and slots in order."""

    parts: tuple[str | Slot, ...]


@node
class BareText(Expression):
    """Text of the lenient dialect that stands for itself."""

    value: str


@node
class Missing(Expression):
    """An empty argument of the lenient dialect."""


# Displays


@node
class ListDisplay(Expression):
    """`[a, b]`."""

    items: tuple[Expression, ...]


@node
class TupleDisplay(Expression):
    """`(a, b)`, `(a,)` or `()`."""

    items: tuple[Expression, ...]


@node
class DictDisplay(Expression):
    """`{k: v}`, in the order written."""

    items: tuple[tuple[Expression, Expression], ...]


@node
class Group(Expression):
    """`(a)`: a formatter wants to know, an interpreter passes through."""

    inner: Expression


@node
class Clause(Node):
    """`for names in source if condition ...` of a comprehension."""

    names: tuple[Token, ...]
    source: Expression
    conditions: tuple[Expression, ...]


@node
class Comprehension(Expression):
    """`[element for ...]`; later clauses are the inner loops."""

    element: Expression
    clauses: tuple[Clause, ...]


# Operators


@node
class Unary(Expression):
    """`not a`, `-a`, or several at once: `not not a`. The operator nearest to the operand stands last."""

    operators: tuple[str, ...]
    operand: Expression


@node
class Arithmetic(Expression):
    """A run of operators of one precedence: `a + b - c`. Evaluated from the left, `**` from the right."""

    operands: tuple[Expression, ...]
    operators: tuple[str, ...]
    """One fewer than the operands."""


@node
class Comparison(Expression):
    """`a < b <= c`: true when every neighbouring pair is. Operators include `in`, `not in`, `is`, `is not`."""

    operands: tuple[Expression, ...]
    operators: tuple[str, ...]


@node
class Boolean(Expression):
    """`a and b and c`, or the same with `or`; stops at the first operand that decides."""

    operator: str
    operands: tuple[Expression, ...]


@node
class Conditional(Expression):
    """`A if C else B if D else E`: branches (A, C), (B, D), otherwise E."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression


# Access


@node
class Attribute(Node):
    """`.name` after a value."""

    name: str


@node
class Index(Node):
    """`[key]` after a value."""

    key: Expression


@node
class Slice(Node):
    """`[start:stop:step]` after a value; None where nothing is written."""

    start: Expression | None
    stop: Expression | None
    step: Expression | None


@node
class Call(Node):
    """`(a, b)` after a value."""

    arguments: tuple[Expression, ...]


Trailer = Attribute | Index | Slice | Call


@node
class Access(Expression):
    """A value and what is asked of it, from left to right: `rows[0].name`, `len(x)`."""

    base: Expression
    trailers: tuple[Trailer, ...]


# Statements


@node
class Assign(Statement):
    """`target = expression`."""

    target: str
    value: Expression


@node
class Command(Statement):
    """A command of the vocabulary by its canonical name. With `target`, the result stood on the left."""

    name: str
    arguments: tuple[Expression, ...]
    parameters: tuple[str, ...]
    """The name of the parameter that each argument fills."""
    target: str | None


@node
class FunctionCall(Statement):
    """A declared or imported function called for its effects."""

    name: str
    arguments: tuple[Expression, ...]


@node
class ConnectorCall(Statement):
    """`connector.method(args)`, alone or on the right of `target =`."""

    connector: Name | Global
    method: str
    arguments: tuple[Expression, ...]
    target: str | None


@node
class Return(Statement):
    """`return(value)`; no value is None."""

    value: Expression | None


@node
class Module(Statement):
    """`import` or `include` of a `name`, a `"file"` or a `<name>`."""

    keyword: str
    target: str
    quoted: bool


@node
class Compare(Node):
    """The condition of a mode-1 if."""

    left: Expression
    operator: str
    right: Expression


@node
class Evaluate(Node):
    """The condition of a mode-2 if: the expression that its text holds."""

    text: str
    expression: Expression


@node
class Else(Node):
    """`else()` and what follows it, up to `end()`."""

    body: tuple[Statement, ...]


@node
class If(Statement):
    """`if(...)`, either mode, to its `end()`. The condition is None only in the tree of an invalid program."""

    condition: Compare | Evaluate | None
    body: tuple[Statement, ...]
    otherwise: Else | None


@node
class Loop(Statement):
    """`startLoop(variable, start, stop)` to `endLoop()`: both bounds inclusive."""

    variable: str
    start: Expression | None
    stop: Expression | None
    body: tuple[Statement, ...]


@node
class Handler(Node):
    """`exception(variable)` and what follows it, up to `end()`."""

    variable: str | None
    body: tuple[Statement, ...]


@node
class Try(Statement):
    """`try()` to its `end()`."""

    body: tuple[Statement, ...]
    handler: Handler | None


@node
class Function(Statement):
    """`function name(parameters){ ... }`."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[Statement, ...]


@node
class Comment:
    """A comment as written, marks included; a block comment may hold line ends."""

    text: str
    line: int
    column: int


@node
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
