"""What a run may use, and the meter that holds it to that.

The time of a run is bounded because everything whose cost grows with its data is counted: one step for each instruction
and for every few hundred bytes that an operation reads, one byte for each byte that it makes. Nothing is given back.
"""

from __future__ import annotations

from typing import Final

from pydantic import Field

from core.avap.execution.failures import Limit, LimitReached
from core.avap.execution.values import CELL, MAX_BITS, TooLarge, Value, size_of
from core.model.frozen import Frozen

_CELLS_PER_STEP: Final = 8
_BYTES_PER_STEP: Final = 256


class Limits(Frozen):
    """The bounds of one run; reaching one ends the program, past every `try()`."""

    steps: int = Field(default=500_000, gt=0)
    """Instructions; about a microsecond each."""
    depth: int = Field(default=500, gt=0)
    """Function calls inside each other."""
    memory: int = Field(default=16 * 2**20, gt=0)
    """Bytes of all values made over the whole run."""
    output: int = Field(default=2**20, gt=0)
    """Bytes of all results published, and of all variables at the end."""
    nesting: int = Field(default=100, gt=0, le=150)
    """Levels of containers inside each other."""
    trace: int = Field(default=0, ge=0)
    """How many executed lines are kept in the order of their execution, repetitions included."""


class Meter:
    """What is left of the limits of one run."""

    __slots__ = ("_limits", "_memory", "_output", "steps")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.steps = limits.steps
        self._memory = limits.memory
        self._output = limits.output

    def work(self, units: int) -> None:
        """Count `units` steps. Raises LimitReached."""
        self.steps -= units
        if self.steps < 0:
            raise LimitReached(Limit.STEPS, f"the program takes more than {self._limits.steps} steps")

    def read(self, *values: Value) -> None:
        """Count the steps of an operation that may look at every part of `values`. Raises LimitReached."""
        for value in values:
            if isinstance(value, str):
                self.work(len(value) // _BYTES_PER_STEP)
            elif isinstance(value, (list, tuple, dict)):
                self.work(self._size(value) // (CELL * _CELLS_PER_STEP))

    def reserve(self, size: int) -> None:
        """Count `size` bytes that are about to be made. Raises LimitReached."""
        self._memory -= size
        if self._memory < 0:
            self._memory = 0
            raise LimitReached(Limit.MEMORY, f"the program makes more than {self._limits.memory} bytes of values")

    def made(self, value: Value) -> Value:
        """`value`, counted. Raises LimitReached, also for an integer of too many digits."""
        if isinstance(value, str):
            self.reserve(len(value) if value.isascii() else 4 * len(value))
        elif isinstance(value, (list, tuple, dict)):
            size = self._size(value)
            self.reserve(size)
            self.work(size // (CELL * _CELLS_PER_STEP))
        elif isinstance(value, int) and value.bit_length() > MAX_BITS:
            self.refuse_number()
        return value

    def refuse_number(self) -> None:
        """Raises LimitReached for an integer with more than MAX_BITS bits."""
        raise LimitReached(Limit.MEMORY, f"a number has more than {MAX_BITS} bits")

    def publish(self, value: Value) -> None:
        """Count `value` as output. Raises LimitReached."""
        try:
            self._output -= size_of(value, self._output, self._limits.nesting)
        except TooLarge:
            text = f"the results or variables are larger than {self._limits.output} bytes"
            raise LimitReached(Limit.OUTPUT, text) from None

    def _size(self, value: Value) -> int:
        try:
            return size_of(value, self._limits.memory, self._limits.nesting)
        except TooLarge:
            text = f"a value has more than {self._limits.nesting} levels or {self._limits.memory} bytes"
            raise LimitReached(Limit.MEMORY, text) from None

    def check_depth(self, frames: int) -> None:
        """Raises LimitReached when so many calls inside each other are too many."""
        if frames > self._limits.depth:
            raise LimitReached(Limit.DEPTH, f"more than {self._limits.depth} function calls inside each other")
