"""From what a run folder holds to what W&B should show: one view per suite, and one for the run as a whole."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.adapters.track import lineage, tables
from core.adapters.track.scalars import cell_values, report_values, suite_values
from core.adapters.track.view import HistoryRow, Table, View
from core.model.evaluation import EvaluationReport, SuiteSummary
from core.model.frozen import digest
from core.model.judged import JudgedRow
from core.model.record import RunRecord

WHOLE = "experiment"
SUITE = "suite"
TAG_LENGTH = 64
"""What W&B takes."""


@dataclass(frozen=True)
class CellRows:
    """The durable rows of one cell."""

    suite: str
    run: int
    rows: Sequence[JudgedRow | Mapping[str, Any]]
    """Judged rows as such; those of other experiments as their JSON objects."""
    is_done: bool


@dataclass(frozen=True)
class Subject:
    """What a run folder holds, read."""

    record: RunRecord
    config: Mapping[str, Any]
    """As stored, without `runtime`."""
    cells: Sequence[CellRows] = ()
    status: str = "running"
    exit_code: int = 0
    binding_faults: tuple[str, ...] = ()
    """Every one that is known now."""
    report: EvaluationReport | None = None
    """None before the end, and for experiments that report otherwise."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The report files, by name."""
    papers: Mapping[str, bytes] = field(default_factory=dict)
    """Record and configuration as they are on disk."""


def tracked_ids(record: RunRecord, suites: Sequence[str] = ()) -> Mapping[str, str]:
    """Job (`experiment` or the suite's name) -> W&B run id.

    The same record always gives the same ids, and a run that was started over (`--fresh`) gives others: W&B must not
    mix two runs that share a configuration. They begin with the fingerprint that the run folder shows.
    """
    return {job: _id(record, job) for job in (WHOLE, *(suites or [suite.suite for suite in record.suites]))}


def project(subject: Subject) -> tuple[View, ...]:
    """The views of `subject`: the suites in the order of the record, then the run as a whole."""
    return (*(_suite(subject, name) for name in _suite_names(subject)), _whole(subject))


def _suite_names(subject: Subject) -> list[str]:
    """The suites of the record; where one has cells of several arms (`suite.arm`), the arms in its stead."""
    celled = dict.fromkeys(cell.suite for cell in subject.cells)
    recorded = [suite.suite for suite in subject.record.suites]
    armless = [name for name in recorded if not any(found.startswith(f"{name}.") for found in celled)]
    return list(dict.fromkeys([*armless, *celled]))


def _id(record: RunRecord, job: str) -> str:
    return f"{record.fingerprint[:12]}-{digest([record.fingerprint, record.created_at, job])[:10]}"


def _suite(subject: Subject, name: str) -> View:
    record = subject.record
    cells = sorted((cell for cell in subject.cells if cell.suite == name), key=lambda cell: cell.run)
    rows = [row for cell in cells for row in cell.rows]
    summary = next((suite for suite in subject.report.suites if suite.suite == name), None) if subject.report else None
    used = lineage.of_suite(record, subject.config, name)
    return View(
        id=_id(record, name),
        name=f"{record.name}/{name}",
        group=record.name,
        job_type=SUITE,
        tags=_tags(subject),
        config={**_config(subject), **lineage.suite_config(record, subject.config, name)},
        history=_history(cells),
        summary={**_standing(subject), "rows": len(rows), **(suite_values(summary) if summary else {})},
        exit_code=subject.exit_code,
        tables=_suite_tables(rows, summary),
        used=used,
    )


def _whole(subject: Subject) -> View:
    record, report = subject.record, subject.report
    whole = {"binding_faults": tables.words("fault", subject.binding_faults), **tables.sheets(subject.files)}
    if report is not None:
        whole.update(tables.of_report(report))
    return View(
        id=_id(record, WHOLE),
        name=record.name,
        group=record.name,
        job_type=WHOLE,
        tags=_tags(subject),
        config={**_config(subject), **{key: value for key, value in subject.config.items() if key != "runtime"}},
        history=(),
        summary={**_standing(subject), **_reported(subject)},
        exit_code=subject.exit_code,
        tables={name: table for name, table in whole.items() if table.rows},
        pages=_ending(subject.files, ".html", ".svg"),
        images=_ending(subject.files, ".png"),
        used=lineage.of_run(record, subject.config),
        made=lineage.made(record, subject.files, subject.papers),
    )


def _ending(files: Mapping[str, bytes], *suffixes: str) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if name.endswith(suffixes)}


def _history(cells: Sequence[CellRows]) -> tuple[HistoryRow, ...]:
    """One row per finished cell, up to the first that is not finished.

    W&B takes steps in ascending order and never twice, so a row is told only when no later one can come before it.
    """
    found: list[HistoryRow] = []
    for number, cell in enumerate(cells, start=1):
        if not cell.is_done or cell.run != number:
            break
        found.append(HistoryRow(cell.run, cell_values(cell.run, cell.rows)))
    return tuple(found)


def _suite_tables(rows: Sequence[JudgedRow | Mapping[str, Any]], summary: SuiteSummary | None) -> dict[str, Table]:
    judged = [row for row in rows if isinstance(row, JudgedRow)]
    others = [row for row in rows if not isinstance(row, JudgedRow)]
    found = {"rows": tables.judged_rows(judged) if judged else tables.any_rows(others)}
    if summary is not None:
        found.update(tables.of_suite(summary))
    return {name: table for name, table in found.items() if table.rows}


def _tags(subject: Subject) -> tuple[str, ...]:
    record = subject.record
    words = (record.experiment, record.fingerprint[:12], "non-binding" if subject.binding_faults else "binding")
    return tuple(word[:TAG_LENGTH] for word in words)


def _config(subject: Subject) -> dict[str, Any]:
    """What every view of a run carries: identity and provenance. Packages and argv are in the record's artifact."""
    record, provenance = subject.record, subject.record.provenance
    return {
        "experiment": record.experiment,
        "name": record.name,
        "fingerprint": record.fingerprint,
        "seed": record.seed,
        "runs": record.runs,
        "created_at": record.created_at,
        "provenance": provenance.model_dump(mode="json", exclude={"packages", "argv"}),
        "resumed_under": [later.commit for later in record.resumed_under],
        "prompts": dict(record.prompts),
        "metrics": list(record.metrics),
    }


def _standing(subject: Subject) -> dict[str, Any]:
    return {
        "status": subject.status,
        "binding": not subject.binding_faults,
        "binding_faults": list(subject.binding_faults),
    }


def _reported(subject: Subject) -> dict[str, Any]:
    if subject.report is not None:
        return report_values(subject.report)
    try:
        found = json.loads(subject.files.get("report.json", b"{}"))
    except ValueError:
        return {}
    return tables.numbers_in(found)
