"""Everything that the commands of one run can reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.avap.execution.database import Database
from core.avap.execution.draws import Draws
from core.avap.execution.failures import Failure
from core.avap.execution.inputs import Inputs
from core.avap.execution.limits import Limits, Meter
from core.avap.execution.replies import Replies
from core.avap.execution.values import Value

STATUS: Final = "_status"
LAST_ERROR: Final = "__last_error__"
RESERVED: Final = frozenset({STATUS, LAST_ERROR})
"""Variables of the response, not of a scope: a function reads and writes the same ones."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What `registerEndpoint` said, and on which line."""

    line: int
    path: str
    method: str
    middleware: tuple[str, ...]
    handler: str
    output: str


@dataclass(frozen=True, slots=True)
class Task:
    """A function that `go` has run: its value, or its failure, and how long it would have taken."""

    value: Value
    failure: Failure | None
    elapsed_ms: float


class World:
    """The state of one run beside its variables. Close it."""

    def __init__(self, inputs: Inputs, limits: Limits) -> None:
        self.inputs = inputs
        self.limits = limits
        self.meter = Meter(limits)
        self.draws = Draws(inputs.seed)
        self.replies = Replies(inputs)
        self.globals: dict[str, Value] = {}
        self.results: dict[str, Value] = {}
        self.tasks: dict[str, Task] = {}
        self.endpoints: list[Endpoint] = []
        self.modules: set[str] = set()
        self.line = 0
        """Where the statement at hand begins."""
        self._database: Database | None = None

    @property
    def database(self) -> Database:
        """The tables, made when they are first asked for."""
        if self._database is None:
            self._database = Database(self.inputs.now, self.draws, self.meter)
        return self._database

    def close(self) -> None:
        """Forget the tables."""
        if self._database is not None:
            self._database.close()
