"""`assay recheck`: what another vocabulary would have made of a finished run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

import typer

from core.adapters.rehearsal import read_truth
from core.avap import PARSER_VERSION, Vocabulary, check
from core.disk import folders
from core.errors import ConfigError, StoreError
from core.flows.recheck import Recheck, RowChange, Shift
from core.flows.recheck import recheck as compare
from core.lab.config import compose
from core.lab.outcome import Status
from core.lab.store import RunFolder, find_run
from core.measure.summary import Background
from core.model.frozen import Frozen
from core.model.judged import JudgedRow
from core.model.record import ParserRecord
from core.model.syntax import Dialect
from experiments.commands.avap_vocabularies import vocabulary_named
from experiments.commands.show import AsJson, Results
from experiments.msvl import Msvl, MsvlConfig
from experiments.places import configs_root, results_root
from experiments.view import emit_json


class Gate(Frozen):
    """A parser with its vocabulary."""

    version: str
    vocabulary: str
    vocabulary_sha256: str
    dialect: Dialect


class RecheckView(Frozen):
    """`assay recheck --json`."""

    run: str
    before: Mapping[str, Gate]
    """By suite, as recorded."""
    after: Mapping[str, Gate]
    result: Recheck


def recheck(
    wanted: Annotated[str, typer.Argument(metavar="RUN", help="Folder, name, fingerprint prefix, or `latest`.")],
    vocabulary: Annotated[
        str, typer.Option(metavar="ID", help="Name of a file in configs/languages/avap, or path of a YAML file.")
    ],
    dialect: Annotated[Dialect | None, typer.Option(help="Another dialect too; else each suite's own.")] = None,
    results: Results = None,
    as_json: AsJson = False,
) -> None:
    """Parse a finished run's answers again with another vocabulary, and with the parser of this installation.

    Prints which verdicts, categories, means and gates change. Asks no
    model and changes no file: scores are derived from what the judges
    said then. When a run must be re-evaluated: docs/parser-service.md.

    Example: assay recheck latest --vocabulary definitions-2026.03
    """
    folder = find_run(results_root(results), wanted)
    view = _rechecked(folder, vocabulary_named(vocabulary), dialect)
    if as_json:
        emit_json(view)
    else:
        typer.echo("\n".join(_lines(view)))


def _rechecked(folder: RunFolder, table: Vocabulary, dialect: Dialect | None) -> RecheckView:
    background = _background(folder)
    before = {suite.suite: _recorded(suite.parser) for suite in background.record.suites}
    after = {
        suite: Gate(
            version=PARSER_VERSION,
            vocabulary=table.id,
            vocabulary_sha256=table.sha256,
            dialect=dialect or gate.dialect,
        )
        for suite, gate in before.items()
    }
    try:
        found = compare(_rows(folder), background, lambda row, code: check(code, table, after[row.suite].dialect))
    except (ValueError, KeyError) as error:
        raise StoreError(f"{folder.name}: its rows are not those of its record: {error}") from error
    return RecheckView(run=folder.name, before=before, after=after, result=found)


def _background(folder: RunFolder) -> Background:
    record = folder.record
    draft = compose(folder.config, configs=configs_root())
    if record is None or draft.experiment != Msvl.name:
        raise ConfigError(
            f"{folder.name} is no evaluation behind the syntactic gate", remedy="name a run of msvl: assay list"
        )
    config = draft.validated(MsvlConfig)
    files = [replies / "truth.jsonl" for replies in folders(folder.path / "recordings")]
    truth = {message: fault for file in files for message, fault in read_truth(file).items()}
    return Background(record=record, questions=(), gates=config.gates, bands=config.bands, truth=truth or None)


def _rows(folder: RunFolder) -> list[JudgedRow]:
    if folder.status in {Status.RUNNING, Status.INTERRUPTED}:
        raise ConfigError(f"{folder.name} is not finished", remedy=f"assay resume {folder.path.name}")
    cells = sorted(path.name for path in (folder.path / "cells").iterdir())
    return [JudgedRow.model_validate_json(row) for cell in cells for row in folder.rows(cell).values()]


def _recorded(parser: ParserRecord) -> Gate:
    return Gate(
        version=parser.version,
        vocabulary=parser.vocabulary,
        vocabulary_sha256=parser.vocabulary_sha256,
        dialect=Dialect(parser.dialect),
    )


def _lines(view: RecheckView) -> Iterator[str]:
    found = view.result
    for suite, gate in view.before.items():
        yield f"{suite}: {_gate(gate)} -> {_gate(view.after[suite])}"
    yield (
        f"{found.rows} answers, {found.code_bearing} with code: {found.verdicts_changed} verdicts change, "
        f"{len(found.changes) - found.verdicts_changed} more change their category"
    )
    yield from (_change(change) for change in found.changes)
    yield from (_shift(shift) for shift in found.shifts if shift.before != shift.after)
    for shifted in found.gates:
        change = f"{_passed(shifted.passed_before)} -> {_passed(shifted.passed_after)}"
        yield f"  gate {shifted.metric} of {shifted.suite}: {change}"
    yield _conclusion(found)


def _gate(gate: Gate) -> str:
    return f"parser {gate.version}, {gate.vocabulary} {gate.vocabulary_sha256[:12]}, {gate.dialect.value}"


def _change(change: RowChange) -> str:
    before = " ".join(filter(None, (change.verdict_before, change.category_before)))
    after = " ".join(filter(None, (change.verdict_after, change.category_after)))
    return (
        f"  {change.row}: {before} -> {after}, global {_number(change.global_before)} -> {_number(change.global_after)}"
    )


def _shift(shift: Shift) -> str:
    return f"  {shift.suite} {shift.metric}: {_number(shift.before)} -> {_number(shift.after)}"


def _number(value: float | None) -> str:
    return "unscored" if value is None else f"{value:.4f}"


def _passed(passed: bool) -> str:
    return "passes" if passed else "fails"


def _conclusion(found: Recheck) -> str:
    if not found.verdicts_changed:
        return "The run may be cited beside runs of the new gate: no score changes."
    return "The run may not be cited beside runs of the new gate, save with the scores above."
