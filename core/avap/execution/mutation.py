"""Mutants of a program: one small change each, as a careless author would make it.

Operators become their neighbours, constants move by one, arguments swap places, statements are dropped. A mutant is the
same tree with one node exchanged, so making one costs nothing and its line is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any, Final

from core.avap import tree
from core.avap.execution.commands import OPERATIONS
from core.avap.execution.compiling import Exchange

MAX_MUTANTS: Final = 200
_ARITHMETIC: Final = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "%": "*", "**": "*"}
_COMPARISON: Final = {
    "==": ("!=",),
    "=": ("!=",),
    "!=": ("==",),
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "in": ("not in",),
    "not in": ("in",),
    "is": ("is not",),
    "is not": ("is",),
}
_MOST_OF_A_NODE: Final = 50
_NEVER_DROPPED: Final = (tree.Function, tree.Module)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of a program."""

    line: int
    change: str
    """`operator`, `constant`, `statement` or `arguments`, and what became of it."""
    exchange: Exchange


def mutants(program: tree.Program, most: int = MAX_MUTANTS) -> tuple[Mutant, ...]:
    """The mutants of `program` in source order; of more than `most`, that many, evenly spread."""
    found = [mutant for node in tree.walk(program) for mutant in _of(node)]
    if len(found) <= most:
        return tuple(found)
    return tuple(found[index * len(found) // most] for index in range(most))


def _of(node: tree.Node) -> Iterator[Mutant]:
    for change, other in islice(_changes(node), _MOST_OF_A_NODE):
        yield Mutant(node.line, change, Exchange(node, other))
    if isinstance(node, tree.Statement) and not isinstance(node, _NEVER_DROPPED):
        yield Mutant(node.line, "statement: dropped", Exchange(node, None))


def _changes(node: tree.Node) -> Iterator[tuple[str, tree.Node]]:
    change = _CHANGES.get(type(node))
    return iter(()) if change is None else change(node)


def _arithmetic(node: tree.Arithmetic) -> Iterator[tuple[str, tree.Node]]:
    for index, symbol in enumerate(node.operators):
        other = _ARITHMETIC[symbol]
        yield f"operator: {symbol} became {other}", replace(node, operators=_with(node.operators, index, other))


def _comparison(node: tree.Comparison) -> Iterator[tuple[str, tree.Node]]:
    for index, symbol in enumerate(node.operators):
        for other in _COMPARISON[symbol]:
            yield f"operator: {symbol} became {other}", replace(node, operators=_with(node.operators, index, other))


def _compare(node: tree.Compare) -> Iterator[tuple[str, tree.Node]]:
    others = ("==",) if node.operator == "in" else _COMPARISON[node.operator]
    for other in others:
        yield f"operator: {node.operator} became {other}", replace(node, operator=other)


def _boolean(node: tree.Boolean) -> Iterator[tuple[str, tree.Node]]:
    other = "or" if node.operator == "and" else "and"
    yield f"operator: {node.operator} became {other}", replace(node, operator=other)


def _unary(node: tree.Unary) -> Iterator[tuple[str, tree.Node]]:
    yield f"operator: {node.operators[0]} dropped", replace(node, operators=node.operators[1:])


def _number(node: tree.Number) -> Iterator[tuple[str, tree.Node]]:
    if isinstance(node.value, int):
        yield f"constant: {node.text} became {node.value + 1}", replace(node, text=str(node.value + 1))
    else:
        yield f"constant: {node.text} became 1{node.text}", replace(node, text=f"1{node.text}")


def _string(node: tree.String) -> Iterator[tuple[str, tree.Node]]:
    yield "constant: text changed", replace(node, value=f"{node.value}x")


def _template(node: tree.Template) -> Iterator[tuple[str, tree.Node]]:
    yield "constant: template changed", replace(node, parts=(*node.parts, "x"))


def _constant(node: tree.Constant) -> Iterator[tuple[str, tree.Node]]:
    if node.value is not None:
        yield f"constant: {node.value} became {not node.value}", replace(node, value=not node.value)


def _command(node: tree.Command) -> Iterator[tuple[str, tree.Node]]:
    operation = OPERATIONS.get(node.name)
    fixed = operation.variables | operation.names | {"target"} if operation else {"target", "function", "variable"}
    places = [index for index, parameter in enumerate(node.parameters) if parameter not in fixed]
    yield from _swaps(node, places)


def _called(node: tree.FunctionCall | tree.ConnectorCall) -> Iterator[tuple[str, tree.Node]]:
    yield from _swaps(node, range(len(node.arguments)))


def _access(node: tree.Access) -> Iterator[tuple[str, tree.Node]]:
    for index, trailer in enumerate(node.trailers):
        if isinstance(trailer, tree.Call):
            for change, other in _swaps(trailer, range(len(trailer.arguments))):
                yield change, replace(node, trailers=_with(node.trailers, index, other))


def _swaps(
    node: tree.Command | tree.FunctionCall | tree.ConnectorCall | tree.Call, places: Sequence[int]
) -> Iterator[tuple[str, tree.Node]]:
    """Each two neighbours among the arguments at `places`, exchanged."""
    for one, two in pairwise(places):
        arguments = _with(_with(node.arguments, one, node.arguments[two]), two, node.arguments[one])
        yield f"arguments: {one + 1} and {two + 1} swapped", replace(node, arguments=arguments)


def _with(items: tuple[Any, ...], index: int, other: object) -> tuple[Any, ...]:
    return (*items[:index], other, *items[index + 1 :])


_CHANGES: Final[dict[type[tree.Node], Callable[[Any], Iterator[tuple[str, tree.Node]]]]] = {
    tree.Arithmetic: _arithmetic,
    tree.Comparison: _comparison,
    tree.Compare: _compare,
    tree.Boolean: _boolean,
    tree.Unary: _unary,
    tree.Number: _number,
    tree.String: _string,
    tree.Template: _template,
    tree.Constant: _constant,
    tree.Command: _command,
    tree.FunctionCall: _called,
    tree.ConnectorCall: _called,
    tree.Access: _access,
}
