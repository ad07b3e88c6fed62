"""The instructions of expressions: each takes its operands off the stack of the innermost frame and leaves a value."""

# ruff: noqa: D102  the class says what its one method does

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.avap import tree
from core.avap.execution import access, comparing
from core.avap.execution.arithmetic import binary, unary
from core.avap.execution.conversions import call_builtin
from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.formatting import text_of
from core.avap.execution.machine import Label, Machine
from core.avap.execution.values import CELL, Connector, Module, Routine, Value, kind_of
from core.avap.vocabulary import BUILTINS


def popped(machine: Machine, count: int) -> list[Value]:
    """The `count` topmost operands, in the order they were made."""
    stack = machine.frame.stack
    values = stack[len(stack) - count :]
    del stack[len(stack) - count :]
    return values


@dataclass(frozen=True, slots=True)
class Push:
    """A constant."""

    value: Value

    def __call__(self, machine: Machine) -> None:
        if isinstance(self.value, int):
            machine.world.meter.made(self.value)
        machine.frame.stack.append(self.value)


@dataclass(frozen=True, slots=True)
class Load:
    """The value of a name."""

    name: str

    def __call__(self, machine: Machine) -> None:
        machine.frame.stack.append(machine.load(self.name))


@dataclass(frozen=True, slots=True)
class LoadOrText:
    """The value of a name, or the name itself where it has none: a bare text of the lenient dialect."""

    name: str

    def __call__(self, machine: Machine) -> None:
        known = machine.is_assigned(self.name) or self.name in machine.world.inputs.parameters
        machine.frame.stack.append(machine.load(self.name) if known else self.name)


@dataclass(frozen=True, slots=True)
class LoadGlobal:
    """The value of `$name`."""

    name: str

    def __call__(self, machine: Machine) -> None:
        machine.frame.stack.append(machine.load_global(self.name))


@dataclass(frozen=True, slots=True)
class LoadSlot:
    """The value of `${a.b}` in a mode-2 text."""

    path: tuple[str, ...]

    def __call__(self, machine: Machine) -> None:
        machine.frame.stack.append(machine.load_slot(self.path))


@dataclass(frozen=True, slots=True)
class Fill:
    """A template: texts and the paths of slots."""

    parts: tuple[str | tuple[str, ...], ...]

    def __call__(self, machine: Machine) -> None:
        meter = machine.world.meter
        pieces: list[str] = []
        for part in self.parts:
            pieces.append(part if isinstance(part, str) else text_of(machine.load_slot(part), meter))
            meter.reserve(len(pieces[-1]))
        machine.frame.stack.append(meter.made("".join(pieces)))


@dataclass(frozen=True, slots=True)
class Build:
    """A list or tuple of the topmost operands."""

    kind: type[list[Value]] | type[tuple[Value, ...]]
    count: int

    def __call__(self, machine: Machine) -> None:
        machine.frame.stack.append(machine.world.meter.made(self.kind(popped(machine, self.count))))


@dataclass(frozen=True, slots=True)
class BuildDict:
    """A dict of the topmost pairs of operands."""

    count: int

    def __call__(self, machine: Machine) -> None:
        values = popped(machine, 2 * self.count)
        keys = map(access.as_key, values[::2])
        machine.frame.stack.append(machine.world.meter.made(dict(zip(keys, values[1::2], strict=True))))


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic on two operands."""

    symbol: str

    def __call__(self, machine: Machine) -> None:
        left, right = popped(machine, 2)
        machine.frame.stack.append(binary(self.symbol, left, right, machine.world.meter))


@dataclass(frozen=True, slots=True)
class Unary:
    """`-`, `+` or `not` on one operand."""

    symbol: str

    def __call__(self, machine: Machine) -> None:
        stack = machine.frame.stack
        stack.append(unary(self.symbol, stack.pop()))


@dataclass(frozen=True, slots=True)
class Compare:
    """The last comparison of a chain."""

    symbol: str

    def __call__(self, machine: Machine) -> None:
        left, right = popped(machine, 2)
        machine.frame.stack.append(comparing.compare(self.symbol, left, right, machine.world.meter))


@dataclass(frozen=True, slots=True)
class CompareOn:
    """A comparison with more of its chain to come: leaves the right operand, or False and jumps past the chain."""

    symbol: str
    end: Label

    def __call__(self, machine: Machine) -> None:
        left, right = popped(machine, 2)
        holds = comparing.compare(self.symbol, left, right, machine.world.meter)
        machine.frame.stack.append(right if holds else False)
        if not holds:
            machine.frame.at = self.end.position


@dataclass(frozen=True, slots=True)
class CompareLoosely:
    """The condition of an `if` in mode 1."""

    symbol: str

    def __call__(self, machine: Machine) -> None:
        left, right = popped(machine, 2)
        machine.frame.stack.append(comparing.compare_loosely(self.symbol, left, right, machine.world.meter))


@dataclass(frozen=True, slots=True)
class Jump:
    """Go on elsewhere."""

    to: Label

    def __call__(self, machine: Machine) -> None:
        machine.frame.at = self.to.position


@dataclass(frozen=True, slots=True)
class JumpUnless:
    """Go on elsewhere when the operand is false; it is taken off."""

    to: Label

    def __call__(self, machine: Machine) -> None:
        if not machine.frame.stack.pop():
            machine.frame.at = self.to.position


@dataclass(frozen=True, slots=True)
class Decide:
    """`and`, `or`: jump past the rest when the operand decides, else take it off."""

    operator: str
    end: Label

    def __call__(self, machine: Machine) -> None:
        stack = machine.frame.stack
        if bool(stack[-1]) is (self.operator == "or"):
            machine.frame.at = self.end.position
        else:
            stack.pop()


@dataclass(frozen=True, slots=True)
class GetItem:
    """`value[key]`."""

    def __call__(self, machine: Machine) -> None:
        value, key = popped(machine, 2)
        machine.frame.stack.append(access.item_of(value, key))


@dataclass(frozen=True, slots=True)
class GetSlice:
    """`value[start:stop:step]`."""

    def __call__(self, machine: Machine) -> None:
        value, *bounds = popped(machine, 4)
        machine.frame.stack.append(access.slice_of(value, bounds, machine.world.meter))


@dataclass(frozen=True, slots=True)
class GetAttribute:
    """`value.name`."""

    name: str

    def __call__(self, machine: Machine) -> None:
        stack = machine.frame.stack
        stack.append(access.attribute_of(stack.pop(), self.name))


@dataclass(frozen=True, slots=True)
class CallMethod:
    """`value.name(arguments)`: a connector or module answers as it was told to, other values by their table."""

    name: str
    count: int

    def __call__(self, machine: Machine) -> None:
        value, *arguments = popped(machine, self.count + 1)
        machine.frame.stack.append(self._answer(machine, value, arguments))

    def _answer(self, machine: Machine, value: Value, arguments: Sequence[Value]) -> Value:
        world = machine.world
        if isinstance(value, Module):
            return world.replies.call(value.name, self.name)
        if not isinstance(value, Connector):
            return access.call_method(value, self.name, arguments, world.meter)
        if self.name == _TABLES and len(arguments) == 1 and not world.replies.knows(value.token, _TABLES):
            return world.database.direct(text_of(arguments[0], world.meter))
        return world.replies.call(value.token, self.name)


_TABLES: Final = "query"
"""The one method that every connector has without a canned reply: SQL on the tables of the run."""
MODULE_ITSELF: Final = "call"
"""The method under which a reply is given for calling an imported name itself."""


@dataclass(frozen=True, slots=True)
class CallName:
    """`name(arguments)`: a declared function, a built-in one or an imported name."""

    name: str
    count: int

    def __call__(self, machine: Machine) -> None:
        arguments = popped(machine, self.count)
        if self.name in machine.functions:
            machine.enter(self.name, arguments)
        elif self.name in BUILTINS:
            machine.frame.stack.append(call_builtin(self.name, arguments, machine.world.meter))
        else:
            machine.frame.stack.append(machine.world.replies.call(self.name, MODULE_ITSELF))


@dataclass(frozen=True, slots=True)
class CallValue:
    """A call of what an expression gave."""

    count: int

    def __call__(self, machine: Machine) -> None:
        value, *arguments = popped(machine, self.count + 1)
        if not isinstance(value, Routine):
            raise Failure(f"{kind_of(value)} cannot be called", ErrorKind.TYPE)
        machine.enter(value.name, arguments)


@dataclass(frozen=True, slots=True)
class Collect:
    """Add the operand to the list of the comprehension that is `depth` iterators below it."""

    depth: int

    def __call__(self, machine: Machine) -> None:
        stack = machine.frame.stack
        value = stack.pop()
        machine.world.meter.reserve(CELL)
        stack[-1 - self.depth].append(value)


@dataclass(frozen=True, slots=True)
class OpenScope:
    """Begin a comprehension: its list, and its names."""

    def __call__(self, machine: Machine) -> None:
        machine.frame.stack.append([])
        machine.frame.scopes.append({})


@dataclass(frozen=True, slots=True)
class CloseScope:
    """End a comprehension: its list is complete."""

    def __call__(self, machine: Machine) -> None:
        frame = machine.frame
        frame.scopes.pop()
        frame.stack.append(machine.world.meter.made(frame.stack.pop()))


@dataclass(frozen=True, slots=True)
class Iterate:
    """The elements of the operand, one by one: of a list or tuple, the keys of a dict, the signs of a text."""

    def __call__(self, machine: Machine) -> None:
        stack = machine.frame.stack
        value = stack.pop()
        if not isinstance(value, (list, tuple, dict, str)):
            raise Failure(f"'for' needs a list, not {kind_of(value)}", ErrorKind.TYPE)
        stack.append(iter(value))


@dataclass(frozen=True, slots=True)
class NextElement:
    """Bind the next element of a comprehension, or jump when there is none."""

    names: tuple[str, ...]
    done: Label

    def __call__(self, machine: Machine) -> None:
        frame = machine.frame
        for value in frame.stack[-1]:
            frame.scopes[-1].update(self._bound(value))
            return
        frame.stack.pop()
        frame.at = self.done.position

    def _bound(self, value: Value) -> dict[str, Value]:
        if len(self.names) == 1:
            return {self.names[0]: value}
        if not isinstance(value, (list, tuple)) or len(value) != len(self.names):
            raise Failure(f"{kind_of(value)} does not give {len(self.names)} names their values")
        return dict(zip(self.names, value, strict=True))


def slot_of(node: tree.Global) -> tuple[str, ...] | None:
    """The path of `${a.b}` in a mode-2 text, which is a slot; None for `$name`."""
    return tuple(node.id.split(".")) if node.first.text.startswith("${") else None
