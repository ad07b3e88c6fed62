"""The table from the name of a command to the function that carries it out.

A function takes the world and, by the names of the vocabulary's parameters, the values of the arguments; what it
returns goes to the target. A parameter that was left out of the call takes the function's own default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from core.avap.execution.values import Value

Run = Callable[..., Value]
_Run = TypeVar("_Run", bound=Run)


@dataclass(frozen=True, slots=True)
class Operation:
    """One command."""

    run: Run
    variables: frozenset[str]
    """Parameters that name a variable, bare or quoted, whose value is meant."""
    names: frozenset[str]
    """Parameters whose name itself is meant."""
    extends: bool
    """Whether the value that the target already has is given as `target`."""


OPERATIONS: Final[dict[str, Operation]] = {}
"""Name of a command -> what it does."""


def command(
    name: str, *, variables: tuple[str, ...] = (), names: tuple[str, ...] = (), extends: tuple[str, ...] = ()
) -> Callable[[_Run], _Run]:
    """Register a function as the command `name`; `extends` is `("target",)` for one that adds to its target."""

    def register(run: _Run) -> _Run:
        OPERATIONS[name] = Operation(run, frozenset(variables), frozenset(names), bool(extends))
        return run

    return register
