"""What the laboratory asks of an experiment, and what it gives in return.

The laboratory owns identity, the run folder, durability, resumption, progress and exit codes. An experiment owns its
configuration type, its data, its rows and its report. Order of calls: `data_files`, `plan`, `open`, then on the
session `record` (once, before anything is spent), `rows` (once per unfinished cell, concurrently), `read` (once per
cell, when it has ended), `conclude` (once).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

from pydantic import Field, StringConstraints

from core.model.frozen import Frozen
from core.model.record import Provenance, RunRecord
from core.model.specs import IsNumber, RuntimeSpec
from core.ports import Clock, Workshop

PathSafe = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,119}$")]
"""A name that is a file name on every system and needs no quoting in a shell."""


LONGEST_SUITE = 100
"""Characters of a suite's name, which leaves room in a PathSafe for the number of a run."""
SuiteName = Annotated[str, StringConstraints(pattern=rf"^[A-Za-z0-9][A-Za-z0-9._+-]{{0,{LONGEST_SUITE - 1}}}$")]


class ExperimentConfig(Frozen):
    """Base of every experiment's configuration.

    An experiment with suites adds `suites: tuple[SuiteType, ...]`, SuiteType having a `name: SuiteName`. Top-level keys
    of the YAML that SuiteType knows and the configuration does not are common to all suites: composition pushes them
    down, under each suite's own overrides. Without `suites:` and `sweep:` there is one suite, called `main`.
    """

    experiment: str
    """Which registered experiment runs this."""
    name: PathSafe
    seed: Annotated[int, IsNumber] = 0
    """The one root seed; see core.model.frozen.seed_for."""
    runtime: RuntimeSpec = RuntimeSpec()


class Row(Protocol):
    """One finished sample: a frozen pydantic model with an id that is unique within its cell."""

    @property
    def id(self) -> str:
        """The sample's id."""

    def model_dump_json(self) -> str:
        """The row as one line of JSON."""


RowT = TypeVar("RowT", bound=Row)


class Cell(Frozen):
    """The unit of scheduling: one suite, one repetition. Never a single call."""

    id: PathSafe
    """`<suite>.run-01`; also the folder below `cells/`."""
    suite: str
    run: int
    expected: Annotated[int, Field(ge=0)]
    """Rows of a complete cell."""


class CallEstimate(Frozen):
    """What one role will ask of one model, over the whole run."""

    role: str
    model: str
    calls: int
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0
    """None when the price of the model is not known."""


class Plan(Frozen):
    """What would run. Making it sends nothing."""

    cells: tuple[Cell, ...]
    calls: tuple[CallEstimate, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def expected(self) -> int:
        """Rows of a complete run."""
        return sum(cell.expected for cell in self.cells)


class RunIdentity(Frozen):
    """The part of the record that the laboratory knows; the session adds what the run stands on."""

    experiment: str
    name: str
    fingerprint: str
    created_at: str
    seed: int
    provenance: Provenance
    data: Mapping[str, str]
    """Data file, relative to the configs root -> sha256 of its content."""


class Coverage(StrEnum):
    """Whether a report speaks of all rows."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    """Some rows are missing; the report must say so prominently."""


@dataclass(frozen=True)
class Workspace:
    """What a session may use."""

    folder: Path
    """The run folder. Sessions read it; only the laboratory and the workshop write to it."""
    configs: Path
    """Root that data paths are relative to."""
    shop: Workshop
    """Opens parsers, models, indices."""


@dataclass(frozen=True)
class Conclusion:
    """The end of a run as its experiment sees it."""

    files: Mapping[str, bytes]
    """Report files by name, as `report.json`; plain names, no folders."""
    usable: int
    """Rows that hold evidence of any kind. Zero makes the run incomplete whatever else is said."""
    gates_failed: tuple[str, ...] = ()
    """One line per missed gate, with the value and the bar."""
    summary: tuple[str, ...] = ()
    """Lines for the terminal."""
    binding_faults: tuple[str, ...] = ()
    """Every reason why the result may not be cited, those included that only the rows can show."""


class Session(Protocol[RowT]):
    """An experiment with its dependencies open. Raises core.errors; the runner turns them into exit codes.

    `rows` runs where the pool runs it: a session is a value that can be pickled when its ports can, and keeps no state
    that `rows` changes.
    """

    async def record(self, identity: RunIdentity) -> RunRecord:
        """All that the run stands on, complete, before the first paid call.

        Called again at each resumption, with the original `created_at`; what differs from the stored record
        (provenance and `built_at` of indices apart) refuses the resumption.
        """

    def rows(self, cell: Cell, finished: frozenset[str]) -> AsyncIterator[RowT]:
        """The rows of `cell` whose id is not in `finished`, in any order, as they become ready.

        A row that is yielded will be durable before the next is asked for. A sample that cannot be had is left out
        (the run is then incomplete); DependencyDown and BudgetExhausted stop the whole run.
        """

    def read(self, cell: Cell, stored: Sequence[str]) -> Sequence[RowT]:
        """The rows of `cell` that are stored as these JSON texts, in their order. Blocks.

        Raises StoreError for one that this run did not write.
        """

    async def conclude(self, record: RunRecord, rows: Mapping[str, Sequence[RowT]], coverage: Coverage) -> Conclusion:
        """The report over what was stored: cell id -> rows as read(), ordered by row id, cells in plan order."""


ConfigT = TypeVar("ConfigT", bound=ExperimentConfig)


class Experiment(Protocol[ConfigT]):
    """One question, asked reproducibly. Instances hold no state and cost nothing to make."""

    @property
    def name(self) -> str:
        """As in `experiment:` of its configurations, and the folder below the results root."""

    @property
    def config_type(self) -> type[ConfigT]:
        """What a composed configuration is validated as."""

    def data_files(self, config: ConfigT, configs: Path) -> Sequence[Path]:
        """Every data file the run reads, below `configs`; their content is part of the identity."""

    def plan(self, config: ConfigT, configs: Path) -> Plan:
        """What would run. Raises ConfigError for what cannot."""

    def open(self, config: ConfigT, workspace: Workspace, clock: Clock) -> AbstractAsyncContextManager[Session[Any]]:
        """Open all dependencies. Progress is the runner's: it counts rows once they are durable."""
