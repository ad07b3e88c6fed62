"""Instructions that bring a value: constants, names, templates and displays."""

# ruff: noqa: D102  the class says what its one method does

from __future__ import annotations

from dataclasses import dataclass

from core.avap.execution import access
from core.avap.execution.arithmetic import finite
from core.avap.execution.formatting import text_of
from core.avap.execution.machine import Machine
from core.avap.execution.values import Value


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
        elif isinstance(self.value, float):
            finite(self.value)
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
