"""The runs below the results root as the pages show them. A name is looked up among those that exist, never joined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

import yaml
from pydantic import ValidationError

from core.disk import read
from core.errors import AssayError
from core.lab.outcome import Outcome, Status
from core.lab.store import RunFolder, runs
from core.model.evaluation import EvaluationReport
from core.model.record import RunRecord
from core.serving.ui.insight import Insight

REPORT, PAGE, LIVE = "report.json", "report.html", "status.json"


@dataclass(frozen=True)
class Run:
    """One run, as far as it reads back."""

    name: str
    """`<experiment>/<name>-<fp12>`."""
    family: str
    """`<experiment>/<name>`: the same question asked again is the same family."""
    status: Status | None
    """None when the run does not read back."""
    faults: tuple[str, ...] | None
    """Of the binding; None before the record is written."""
    record: RunRecord | None
    outcome: Outcome | None
    report: EvaluationReport | None
    """None before it is written, and for experiments whose report is of another kind."""
    rows: int | None = None
    """Durable now; None when nothing is known of them."""
    damage: str = ""
    """Why it does not read back."""

    @property
    def short(self) -> str:
        """The last part of its name: enough within its family."""
        return self.name.removeprefix(f"{self.family}-").removeprefix(f"{self.family.partition('/')[0]}/")


def known(insight: Insight) -> tuple[Run, ...]:
    """All runs, the one touched last first."""
    return tuple(_run(folder, insight) for folder in runs(insight.results))


def families(found: tuple[Run, ...]) -> tuple[tuple[str, tuple[Run, ...]], ...]:
    """Runs of the same experiment and name together; the family touched last first."""
    order = list(dict.fromkeys(run.family for run in found))
    ordered = sorted(found, key=lambda run: order.index(run.family))
    return tuple((family, tuple(group)) for family, group in groupby(ordered, key=lambda run: run.family))


def folder_of(insight: Insight, name: str) -> RunFolder | None:
    """The folder of the run that is called exactly `name`."""
    return next((folder for folder in runs(insight.results) if folder.name == name), None)


def run_of(insight: Insight, folder: RunFolder) -> Run:
    """The run in `folder`."""
    return _run(folder, insight)


def config_of(folder: RunFolder) -> Any:
    """The stored configuration as plain data; None where it does not read back."""
    try:
        return yaml.safe_load(read(folder.config) or b"")
    except (yaml.YAMLError, UnicodeDecodeError):
        return None


def live_of(folder: RunFolder) -> Mapping[str, Any]:
    """What a running driver says of itself; empty where it says nothing, or is just writing it."""
    try:
        told = yaml.safe_load(read(folder.path / LIVE) or b"")
    except (yaml.YAMLError, UnicodeDecodeError):
        return {}
    return told if isinstance(told, dict) else {}


def rows_of(folder: RunFolder, record: RunRecord | None) -> Mapping[str, int]:
    """Suite -> rows that are durable now."""
    suites = record.suites if record else ()
    runs_each = range(1, (record.runs if record else 0) + 1)
    return {suite.suite: sum(len(folder.rows(f"{suite.suite}.run-{run:02}")) for run in runs_each) for suite in suites}


def _run(folder: RunFolder, insight: Insight) -> Run:
    try:
        record, status, outcome = folder.record, folder.status, folder.outcome
        running = status is Status.RUNNING
        return Run(
            name=folder.name,
            family=_family(folder, record),
            status=status,
            faults=insight.faults(folder),
            record=record,
            outcome=None if running else outcome,
            report=_report(folder),
            rows=sum(rows_of(folder, record).values()) if running else outcome.rows if outcome else None,
        )
    except AssayError as error:
        return Run(folder.name, _family(folder, None), None, None, None, None, None, damage=str(error))


def _family(folder: RunFolder, record: RunRecord | None) -> str:
    experiment, _, rest = folder.name.partition("/")
    return f"{experiment}/{record.name if record else rest}"


def _report(folder: RunFolder) -> EvaluationReport | None:
    content = read(folder.path / REPORT)
    return None if content is None else _evaluation(content)


@lru_cache(maxsize=512)
def _evaluation(content: bytes) -> EvaluationReport | None:
    """The report that `content` is; None for that of another kind. Remembered: a list of runs is looked at often."""
    try:
        return EvaluationReport.model_validate_json(content)
    except ValidationError:
        return None
