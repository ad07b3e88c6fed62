"""Expressions to instructions: each node becomes the nodes and instructions that it consists of, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from core.avap import tree
from core.avap.execution.instructions import calls, comprehensions, operands, operations
from core.avap.execution.machine import Instruction, Label

Item = tree.Node | Instruction | Label
Expand = Callable[[Any], Iterator[Item]]


def _name(node: tree.Name) -> Iterator[Item]:
    yield operands.Load(node.id)


def _slot_of(node: tree.Global) -> tuple[str, ...] | None:
    """The path of `${a.b}` in a mode-2 text, which is a slot; None for `$name`."""
    return tuple(node.id.split(".")) if node.first.text.startswith("${") else None


def _global(node: tree.Global) -> Iterator[Item]:
    slot = _slot_of(node)
    yield operands.LoadGlobal(node.id) if slot is None else operands.LoadSlot(slot)


def _constant(node: tree.Constant) -> Iterator[Item]:
    yield operands.Push(node.value)


def _number(node: tree.Number) -> Iterator[Item]:
    yield operands.Push(node.value)


def _text(node: tree.String | tree.BareText) -> Iterator[Item]:
    yield operands.Push(node.value)


def _missing(_: tree.Missing) -> Iterator[Item]:
    yield operands.Push("")


def _template(node: tree.Template) -> Iterator[Item]:
    yield operands.Fill(tuple(part if isinstance(part, str) else part.path for part in node.parts))


def _list(node: tree.ListDisplay) -> Iterator[Item]:
    yield from node.items
    yield operands.Build(list, len(node.items))


def _tuple(node: tree.TupleDisplay) -> Iterator[Item]:
    yield from node.items
    yield operands.Build(tuple, len(node.items))


def _dict(node: tree.DictDisplay) -> Iterator[Item]:
    for pair in node.items:
        yield from pair
    yield operands.BuildDict(len(node.items))


def _group(node: tree.Group) -> Iterator[Item]:
    yield node.inner


def _comprehension(node: tree.Comprehension) -> Iterator[Item]:
    yield comprehensions.OpenScope()
    loops: list[tuple[Label, Label]] = []
    for clause in node.clauses:
        again, done = Label(), Label()
        loops.append((again, done))
        yield clause.source
        yield comprehensions.Iterate()
        yield again
        yield comprehensions.NextElement(tuple(name.text for name in clause.names), done)
        for condition in clause.conditions:
            yield condition
            yield operations.JumpUnless(again)
    yield node.element
    yield comprehensions.Collect(len(loops))
    for again, done in reversed(loops):
        yield operations.Jump(again)
        yield done
    yield comprehensions.CloseScope()


def _unary(node: tree.Unary) -> Iterator[Item]:
    yield node.operand
    for symbol in reversed(node.operators):
        yield operations.Unary(symbol)


def _arithmetic(node: tree.Arithmetic) -> Iterator[Item]:
    if node.operators[0] == "**":
        yield from node.operands
        yield from (operations.Binary(symbol) for symbol in node.operators)
        return
    yield node.operands[0]
    for symbol, operand in zip(node.operators, node.operands[1:], strict=True):
        yield operand
        yield operations.Binary(symbol)


def _comparison(node: tree.Comparison) -> Iterator[Item]:
    end = Label()
    yield node.operands[0]
    for symbol, operand in zip(node.operators[:-1], node.operands[1:-1], strict=True):
        yield operand
        yield operations.CompareOn(symbol, end)
    yield node.operands[-1]
    yield operations.Compare(node.operators[-1])
    yield end


def _boolean(node: tree.Boolean) -> Iterator[Item]:
    end = Label()
    for operand in node.operands[:-1]:
        yield operand
        yield operations.Decide(node.operator, end)
    yield node.operands[-1]
    yield end


def _conditional(node: tree.Conditional) -> Iterator[Item]:
    end = Label()
    for value, condition in node.branches:
        other = Label()
        yield condition
        yield operations.JumpUnless(other)
        yield value
        yield operations.Jump(end)
        yield other
    yield node.otherwise
    yield end


def _access(node: tree.Access) -> Iterator[Item]:
    first = node.trailers[0]
    trailers = deque(node.trailers)
    if isinstance(node.base, tree.Name) and isinstance(first, tree.Call):
        yield from first.arguments
        yield calls.CallName(node.base.id, len(first.arguments))
        trailers.popleft()
    else:
        yield node.base
    while trailers:
        trailer = trailers.popleft()
        call = trailers[0] if trailers else None
        if isinstance(trailer, tree.Attribute) and isinstance(call, tree.Call):
            yield from call.arguments
            yield calls.CallMethod(trailer.name, len(call.arguments))
            trailers.popleft()
        else:
            yield trailer


def _attribute(node: tree.Attribute) -> Iterator[Item]:
    yield calls.GetAttribute(node.name)


def _index(node: tree.Index) -> Iterator[Item]:
    yield node.key
    yield calls.GetItem()


def _slice(node: tree.Slice) -> Iterator[Item]:
    for bound in (node.start, node.stop, node.step):
        yield operands.Push(None) if bound is None else bound
    yield calls.GetSlice()


def _call(node: tree.Call) -> Iterator[Item]:
    yield from node.arguments
    yield calls.CallValue(len(node.arguments))


EXPRESSIONS: Final[dict[type[tree.Node], Expand]] = {
    tree.Name: _name,
    tree.Global: _global,
    tree.Constant: _constant,
    tree.Number: _number,
    tree.String: _text,
    tree.BareText: _text,
    tree.Missing: _missing,
    tree.Template: _template,
    tree.ListDisplay: _list,
    tree.TupleDisplay: _tuple,
    tree.DictDisplay: _dict,
    tree.Group: _group,
    tree.Comprehension: _comprehension,
    tree.Unary: _unary,
    tree.Arithmetic: _arithmetic,
    tree.Comparison: _comparison,
    tree.Boolean: _boolean,
    tree.Conditional: _conditional,
    tree.Access: _access,
    tree.Attribute: _attribute,
    tree.Index: _index,
    tree.Slice: _slice,
    tree.Call: _call,
}
