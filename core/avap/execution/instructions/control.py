"""The instructions of statements: assignments, loops, errors, functions and commands."""

# ruff: noqa: D102  the class says what its one method does

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.avap.execution.commands.registry import Operation
from core.avap.execution.conversions import number
from core.avap.execution.instructions.calls import MODULE_ITSELF
from core.avap.execution.instructions.operands import popped
from core.avap.execution.machine import Guard, Label, Machine
from core.avap.execution.values import Value
from core.avap.execution.world import LAST_ERROR, Task


@dataclass(frozen=True, slots=True)
class Reach:
    """A statement begins."""

    line: int

    def __call__(self, machine: Machine) -> None:
        machine.reach(self.line)


@dataclass(frozen=True, slots=True)
class Store:
    """Assign the operand."""

    name: str

    def __call__(self, machine: Machine) -> None:
        machine.store(self.name, machine.frame.stack.pop())


@dataclass(frozen=True, slots=True)
class Drop:
    """Nobody wants the operand."""

    def __call__(self, machine: Machine) -> None:
        machine.frame.stack.pop()


@dataclass(frozen=True, slots=True)
class Count:
    """Begin a loop from one operand to the other, both included; they are read this once."""

    def __call__(self, machine: Machine) -> None:
        start, stop = popped(machine, 2)
        machine.frame.stack.append(_passes(number(start, "the start of a loop"), number(stop, "the end of a loop")))


def _passes(start: float, stop: float) -> Iterator[float]:
    current = int(start) if isinstance(start, float) and start.is_integer() else start
    while current <= stop:
        yield current
        current += 1


@dataclass(frozen=True, slots=True)
class NextPass:
    """Give the loop variable its next value, or leave the loop."""

    variable: str
    done: Label

    def __call__(self, machine: Machine) -> None:
        stack = machine.frame.stack
        for value in stack[-1]:
            machine.store(self.variable, value)
            return
        stack.pop()
        machine.frame.at = self.done.position


@dataclass(frozen=True, slots=True)
class OpenTry:
    """Failures go to the handler from here on."""

    handler: Label

    def __call__(self, machine: Machine) -> None:
        frame = machine.frame
        frame.guards.append(Guard(self.handler, len(frame.stack), len(frame.scopes)))


@dataclass(frozen=True, slots=True)
class CloseTry:
    """The protected part has come to its end."""

    def __call__(self, machine: Machine) -> None:
        machine.frame.guards.pop()


@dataclass(frozen=True, slots=True)
class PushError:
    """The text of the failure that was caught."""

    def __call__(self, machine: Machine) -> None:
        machine.frame.stack.append(machine.world.globals[LAST_ERROR])


@dataclass(frozen=True, slots=True)
class Leave:
    """End the function with the operand."""

    def __call__(self, machine: Machine) -> None:
        machine.leave(machine.frame.stack.pop())


@dataclass(frozen=True, slots=True)
class Start:
    """`go`: run the function to its end; its id is left."""

    name: str
    count: int

    def __call__(self, machine: Machine) -> None:
        arguments = popped(machine, self.count)
        world = machine.world
        task = f"task-{len(world.tasks) + sum(frame.task is not None for frame in machine.frames) + 1}"
        if self.name in machine.functions:
            machine.enter(self.name, arguments, task)
        else:
            world.tasks[task] = Task(world.replies.call(self.name, MODULE_ITSELF), None, 0)
            machine.frame.stack.append(task)


@dataclass(frozen=True, slots=True)
class BringIn:
    """`import name`: the name is a module from here on."""

    name: str

    def __call__(self, machine: Machine) -> None:
        machine.world.modules.add(self.name)


@dataclass(frozen=True, slots=True)
class Publish:
    """`addResult`: the variable becomes a result; one that was never assigned is None."""

    name: str

    def __call__(self, machine: Machine) -> None:
        world = machine.world
        is_given = machine.is_assigned(self.name) or self.name in world.inputs.parameters
        value = machine.load(self.name) if is_given else None
        world.meter.publish(value)
        world.results[self.name] = value


@dataclass(frozen=True, slots=True)
class Perform:
    """A command on its arguments, whose names are those of the vocabulary's parameters."""

    operation: Operation
    parameters: tuple[str, ...]
    target: str | None

    def __call__(self, machine: Machine) -> None:
        values = popped(machine, len(self.parameters))
        machine.world.meter.read(*values)
        given: dict[str, Value] = dict(zip(self.parameters, values, strict=True))
        if self.operation.extends and self.target is not None and machine.is_assigned(self.target):
            given["target"] = machine.load(self.target)
        result = self.operation.run(machine.world, **given)
        is_given = any(result is value for value in given.values())
        machine.frame.stack.append(result if is_given else machine.world.meter.made(result))
