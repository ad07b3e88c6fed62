"""Instructions of list comprehensions: a list, a scope for its names, and an iterator for each `for`."""

# ruff: noqa: D102  the class says what its one method does

from __future__ import annotations

from dataclasses import dataclass

from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.machine import Label, Machine
from core.avap.execution.values import CELL, Value, kind_of


@dataclass(frozen=True, slots=True)
class OpenScope:
    """Begin a comprehension: its list, and its names."""

    def __call__(self, machine: Machine) -> None:
        machine.frame.stack.append([])
        machine.frame.scopes.append({})


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
class CloseScope:
    """End a comprehension: its list is complete."""

    def __call__(self, machine: Machine) -> None:
        frame = machine.frame
        frame.scopes.pop()
        frame.stack.append(machine.world.meter.made(frame.stack.pop()))
