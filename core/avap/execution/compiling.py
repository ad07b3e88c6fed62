"""A tree to code: a list of work instead of recursion, so that no program is too deep.

A mutant of a program is the same tree with one node put in the place of another while it is compiled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from core.avap import tree
from core.avap.execution.expressions import EXPRESSIONS, Item
from core.avap.execution.machine import Code, CompiledFunction, CompiledProgram, Instruction, Label
from core.avap.execution.statements import STATEMENTS, body_of
from core.model.syntax import Dialect


@dataclass(frozen=True, slots=True)
class Exchange:
    """A node of a tree, and what stands in its place; None for nothing at all."""

    node: tree.Node
    other: tree.Node | None


def compile_program(
    program: tree.Program, dialect: Dialect = Dialect.STRICT, exchange: Exchange | None = None
) -> CompiledProgram:
    """`program` ready to run. Raises NotExecutable for a tree that is not that of a VALID program."""
    functions: Mapping[str, CompiledFunction] = {
        node.name: CompiledFunction(node.name, node.parameters, _laid_out(body_of(node), dialect, exchange))
        for node in tree.walk(program)
        if isinstance(node, tree.Function)
    }
    return CompiledProgram(_laid_out(program.body, dialect, exchange), functions)


def compile_expression(expression: tree.Expression) -> Code:
    """Code that leaves the value of `expression`."""
    return _laid_out((expression,), Dialect.STRICT, None)


def _laid_out(items: Iterable[Item], dialect: Dialect, exchange: Exchange | None) -> Code:
    waiting = list(items)[::-1]
    code: list[Instruction] = []
    while waiting:
        item = waiting.pop()
        if isinstance(item, Label):
            item.position = len(code)
        elif isinstance(item, tree.Node):
            if exchange is not None and item is exchange.node:
                if exchange.other is None:
                    continue
                item = exchange.other
            waiting.extend(list(_expanded(item, dialect))[::-1])
        else:
            code.append(item)
    return code


def _expanded(node: tree.Node, dialect: Dialect) -> Iterable[Item]:
    expand = EXPRESSIONS.get(type(node))
    return expand(node) if expand is not None else STATEMENTS[type(node)](node, dialect)


_COUNTED: Final = (tree.Statement, tree.Handler)


def statement_lines(program: tree.Program) -> frozenset[int]:
    """The lines that count for coverage: every statement's first, headers of functions and `exception` included."""
    return frozenset(node.line for node in tree.walk(program) if isinstance(node, _COUNTED))
