"""Statements to instructions: each node becomes the nodes and instructions that it consists of, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from core.avap import tree
from core.avap.execution.commands import OPERATIONS, Operation
from core.avap.execution.expressions import Item
from core.avap.execution.instructions import calls, control, operands, operations
from core.avap.execution.machine import Label
from core.avap.shapes import name_in
from core.model.syntax import Dialect

Expand = Callable[[Any, Dialect], Iterator[Item]]


class NotExecutable(ValueError):
    """The tree is not that of a VALID program, or its vocabulary has a command that nothing here carries out."""


def _assign(node: tree.Assign, _: Dialect) -> Iterator[Item]:
    yield control.Reach(node.line)
    yield node.value
    yield control.Store(node.target)


def _command(node: tree.Command, dialect: Dialect) -> Iterator[Item]:
    yield control.Reach(node.line)
    if node.name in _OWN_SHAPE:
        yield from _OWN_SHAPE[node.name](node)
        return
    operation = OPERATIONS.get(node.name)
    if operation is None:
        raise NotExecutable(f"line {node.line}: the command '{node.name}' cannot be executed")
    target, given = node.target, list(zip(node.parameters, node.arguments, strict=True))
    for parameter, argument in given:
        if parameter == "target":
            target = name_in(argument)
        else:
            yield from _argument(operation, parameter, argument, dialect)
    yield control.Perform(operation, tuple(parameter for parameter, _ in given if parameter != "target"), target)
    yield _received(target)


def _argument(operation: Operation, parameter: str, argument: tree.Expression, dialect: Dialect) -> Iterator[Item]:
    if parameter in operation.names:
        yield operands.Push(_written_name(argument))
    elif parameter in operation.variables:
        yield operands.Load(_written_name(argument))
    elif dialect is Dialect.LENIENT and isinstance(argument, tree.Name):
        yield operands.LoadOrText(argument.id)
    else:
        yield argument


def _written_name(argument: tree.Expression) -> str:
    """The name that an argument gives; a request parameter may be any quoted text."""
    return (
        argument.id if isinstance(argument, tree.Name) else argument.value if isinstance(argument, tree.String) else ""
    )


def _received(target: str | None) -> Item:
    return control.Drop() if target is None else control.Store(target)


def _go(node: tree.Command) -> Iterator[Item]:
    function, *arguments = node.arguments
    yield from arguments
    yield control.Start(_written_name(function), len(arguments))
    yield _received(node.target)


def _add_result(node: tree.Command) -> Iterator[Item]:
    yield control.Publish(_written_name(node.arguments[0]))


def _function_call(node: tree.FunctionCall, _: Dialect) -> Iterator[Item]:
    yield control.Reach(node.line)
    yield from node.arguments
    yield calls.CallName(node.name, len(node.arguments))
    yield control.Drop()


def _connector_call(node: tree.ConnectorCall, _: Dialect) -> Iterator[Item]:
    yield control.Reach(node.line)
    yield node.connector
    yield from node.arguments
    yield calls.CallMethod(node.method, len(node.arguments))
    yield _received(node.target)


def _return(node: tree.Return, _: Dialect) -> Iterator[Item]:
    yield control.Reach(node.line)
    yield operands.Push(None) if node.value is None else node.value
    yield control.Leave()


def _module(node: tree.Module, _: Dialect) -> Iterator[Item]:
    yield control.Reach(node.line)
    if not node.quoted:
        yield control.BringIn(node.target)


def _compare(node: tree.Compare, _: Dialect) -> Iterator[Item]:
    yield node.left
    yield node.right
    yield operations.CompareLoosely(node.operator)


def _evaluate(node: tree.Evaluate, _: Dialect) -> Iterator[Item]:
    yield node.expression


def _if(node: tree.If, _: Dialect) -> Iterator[Item]:
    other, end = Label(), Label()
    yield control.Reach(node.line)
    yield _required(node.condition, node)
    yield operations.JumpUnless(other)
    yield from node.body
    yield operations.Jump(end)
    yield other
    if node.otherwise is not None:
        yield from node.otherwise.body
    yield end


def _loop(node: tree.Loop, _: Dialect) -> Iterator[Item]:
    again, done = Label(), Label()
    yield control.Reach(node.line)
    yield _required(node.start, node)
    yield _required(node.stop, node)
    yield control.Count()
    yield again
    yield control.NextPass(node.variable, done)
    yield from node.body
    yield operations.Jump(again)
    yield done


def _try(node: tree.Try, _: Dialect) -> Iterator[Item]:
    handler, end = Label(), Label()
    turn = _required(node.handler, node)
    assert isinstance(turn, tree.Handler)
    yield control.Reach(node.line)
    yield control.OpenTry(handler)
    yield from node.body
    yield control.CloseTry()
    yield operations.Jump(end)
    yield handler
    yield control.Reach(turn.line)
    if turn.variable is not None:
        yield control.PushError()
        yield control.Store(turn.variable)
    yield from turn.body
    yield end


def _function(_: tree.Function, __: Dialect) -> Iterator[Item]:
    return iter(())


def body_of(node: tree.Function) -> Sequence[Item]:
    """The items of a function's code: its header, its statements, and the return of one that has none."""
    return (control.Reach(node.line), *node.body, operands.Push(None), control.Leave())


def _required(part: tree.Node | None, node: tree.Statement) -> tree.Node:
    if part is None:
        raise NotExecutable(f"line {node.line}: only a VALID program can be executed")
    return part


_OWN_SHAPE: Final[dict[str, Callable[[tree.Command], Iterator[Item]]]] = {"go": _go, "addResult": _add_result}
"""Commands that are more than a function of their arguments."""

STATEMENTS: Final[dict[type[tree.Node], Expand]] = {
    tree.Assign: _assign,
    tree.Command: _command,
    tree.FunctionCall: _function_call,
    tree.ConnectorCall: _connector_call,
    tree.Return: _return,
    tree.Module: _module,
    tree.Compare: _compare,
    tree.Evaluate: _evaluate,
    tree.If: _if,
    tree.Loop: _loop,
    tree.Try: _try,
    tree.Function: _function,
}
