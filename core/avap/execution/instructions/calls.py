"""Instructions that ask something of a value, or call a function."""

# ruff: noqa: D102  the class says what its one method does

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.avap.execution import access
from core.avap.execution.conversions import call_builtin
from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.formatting import text_of
from core.avap.execution.instructions.operands import popped
from core.avap.execution.machine import Machine
from core.avap.execution.values import Connector, Module, Routine, Value, kind_of
from core.avap.vocabulary import BUILTINS


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


_TABLES: Final = "query"
"""The one method that every connector has without a canned reply: SQL on the tables of the run."""


MODULE_ITSELF: Final = "call"
"""The method under which a reply is given for calling an imported name itself."""


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
