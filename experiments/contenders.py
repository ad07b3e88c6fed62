"""From evaluations, on disk or just concluded, to the sides of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from core.errors import ConfigError, StoreError
from core.lab.store import FINGERPRINT_SHOWN, RunFolder
from core.measure.compare import compare, pairs_of
from core.measure.compare_eligibility import incomparable_settings
from core.measure.compare_side import Contender, leaves, settings_of
from core.model.comparison import Side
from core.model.evaluation import EvaluationReport
from core.model.frozen import digest, seed_for
from core.model.judged import JudgedRow
from core.model.record import RunRecord

if TYPE_CHECKING:
    from experiments.msvl import MsvlConfig, SuiteSpec

SEED_PATH = "compare"
"""Where the seed of permutations hangs below the root seed."""


@dataclass(frozen=True)
class Evaluation:
    """An evaluation with its rows read."""

    run: str
    """`<experiment>/<name>-<fp12>`."""
    config: MsvlConfig
    record: RunRecord
    rows: Sequence[JudgedRow]
    binding_faults: tuple[str, ...]

    @property
    def suites(self) -> tuple[str, ...]:
        """Names of the suites, in the order written."""
        return tuple(suite.name for suite in self.config.suites)

    def contender(self, suite: str, label: str) -> Contender:
        """One suite as a side of a comparison."""
        spec = next(each for each in self.config.suites if each.name == suite)
        stood_on = next(each for each in self.record.suites if each.suite == suite)
        own = tuple(row for row in self.rows if row.suite == suite)
        return Contender(
            side=Side(
                label=label,
                run=self.run,
                fingerprint=self.record.fingerprint,
                suite=suite,
                rows=len(own),
                binding_faults=self.binding_faults,
            ),
            record=self.record,
            rows=own,
            asked=frozenset(row.id for row in self.rows),
            dataset=self._dataset(),
            settings=settings_of(spec.model_dump(mode="json"), self.record, stood_on),
            ruler=_ruler(spec),
        )

    def _dataset(self) -> str:
        golden = PurePosixPath(self.config.golden).as_posix()
        # A set that the record does not pin is like no other, not even one of the same name.
        return self.record.data.get(golden, f"not pinned by {self.run}")


def evaluation(folder: RunFolder, configs: Path, binding_faults: tuple[str, ...]) -> Evaluation:
    """The finished evaluation in `folder`. Raises ConfigError for a run of another kind, StoreError for bad rows."""
    from core.lab.config import compose
    from experiments.msvl import Msvl, MsvlConfig, cell_id
    from experiments.standing import read_row

    draft, record = compose(folder.config, configs=configs), folder.record
    if record is None or draft.experiment != Msvl.name:
        raise ConfigError(f"{folder.name} is no evaluation of suites", remedy="name a run of msvl: assay list")
    cells = (cell_id(suite.suite, run) for suite in record.suites for run in range(1, record.runs + 1))
    rows = [read_row(JudgedRow, stored, cell) for cell in cells for stored in folder.rows(cell).values()]
    config = draft.validated(MsvlConfig)
    missing = {suite.name for suite in config.suites} ^ {suite.suite for suite in record.suites}
    if missing:
        raise StoreError(f"{folder.name}: config.yaml and record.json differ in suites: {', '.join(sorted(missing))}")
    return Evaluation(folder.name, config, record, rows, binding_faults)


def compared_suites(
    report: EvaluationReport, config: MsvlConfig, record: RunRecord, rows: Sequence[JudgedRow]
) -> EvaluationReport:
    """`report` with the comparison that `compare:` asks for, where there are suites to compare."""
    if config.compare is None or len(config.suites) < 2:
        return report
    run = f"{record.experiment}/{record.name}-{record.fingerprint[:FINGERPRINT_SHOWN]}"
    whole = Evaluation(run, config, record, rows, report.binding_faults)
    pairs = pairs_of([whole.contender(suite, suite) for suite in whole.suites], config.compare.baseline)
    comparison = compare(pairs, config.compare, seed=seed_for(config.seed, SEED_PATH))
    return report.model_copy(update={"comparison": comparison})


def require_comparable(config: MsvlConfig) -> None:
    """Raise ConfigError for a `compare:` section that its suites cannot meet, before anything is spent."""
    spec, names = config.compare, [suite.name for suite in config.suites]
    if spec is None:
        return
    if spec.baseline is not None and spec.baseline not in names:
        raise ConfigError(
            f"compare.baseline: no suite is called {spec.baseline!r}",
            path="compare.baseline",
            remedy=f"use one of: {', '.join(names)}; or leave it out to compare all pairs",
        )
    obstacle = incomparable_settings({suite.name: _settings(suite) for suite in config.suites}, spec)
    if obstacle:
        raise ConfigError(
            f"compare: {obstacle}", path="compare", remedy="make the suites agree in it, or compare fewer of them"
        )


def _settings(suite: SuiteSpec) -> Mapping[str, str]:
    return leaves(suite.model_dump(mode="json", include={"retrieval", "judge", "language"}))


def _ruler(suite: SuiteSpec) -> str:
    embedder = suite.relevancy_embedder or suite.index.embedder
    return f"{embedder.model} {digest(embedder)[:8]}"
