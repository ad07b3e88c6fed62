"""Instructions of operators: each takes its operands off the stack and leaves a value, or jumps."""

# ruff: noqa: D102  the class says what its one method does

from __future__ import annotations

from dataclasses import dataclass

from core.avap.execution import comparing
from core.avap.execution.arithmetic import binary, unary
from core.avap.execution.instructions.operands import popped
from core.avap.execution.machine import Label, Machine


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
