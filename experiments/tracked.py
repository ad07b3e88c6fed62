"""A run folder read for W&B: record, rows, report and files as core.adapters.track wants them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from pydantic import ValidationError

from core.adapters.track import Subject, Target, resolve
from core.adapters.track.project import CellRows
from core.disk import dated, read
from core.errors import ConfigError, StoreError
from core.lab.outcome import Outcome, Status
from core.lab.store import RunFolder
from core.model.evaluation import EvaluationReport
from core.model.judged import JudgedRow
from core.model.specs import TrackMode, TrackSpec
from experiments.view import faults_of

CELL = re.compile(r"(.+)\.run-(\d+)")
PAPERS = ("record.json", "config.yaml")


def track_spec(folder: RunFolder) -> TrackSpec:
    """What the stored configuration says of tracking. Raises ConfigError when that cannot be read."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    runtime = (yaml.safe_load(_content(folder, "config.yaml")) or {}).get("runtime") or {}
    try:
        written = OmegaConf.to_container(OmegaConf.create({"track": runtime.get("track") or {}}), resolve=True)
        return TrackSpec.model_validate(written["track"] if isinstance(written, dict) else {})
    except (OmegaConfBaseException, ValidationError) as error:
        raise ConfigError(
            f"{folder.config}: runtime.track does not read back: {error}",
            file=str(folder.config),
            path="runtime.track",
            remedy="mend it there: it is no part of the identity",
        ) from error


def target_of(folder: RunFolder, mode: TrackMode | None = None, place: str = "") -> Target:
    """Where to send a run to: `mode` and `[ENTITY/]PROJECT` as asked for, else as its configuration says.

    A run that was not to be tracked is, when asked for. Raises ConfigError when there is nowhere to send to.
    """
    spec = track_spec(folder)
    fallback = TrackMode.AUTO if spec.mode is TrackMode.OFF else spec.mode
    entity, _, project = place.rpartition("/")
    wanted = {"mode": mode or fallback, "project": project or spec.project, "entity": entity or spec.entity}
    target = resolve(spec.model_copy(update=wanted), os.environ)
    if target is None:
        raise ConfigError("there is nowhere to send to: wandb is not installed, or WANDB_MODE is disabled",
                          remedy="pip install 'assay-lab[track]', or give --offline or --online")  # fmt: skip
    return target


def subject(folder: RunFolder) -> Subject:
    """What `folder` holds, read. Raises ConfigError before there is a record, StoreError for what is damaged."""
    record, outcome = folder.record, folder.outcome
    if record is None:
        raise ConfigError(f"{folder.name} has no record yet: nothing was run", file=str(folder.path),
                          remedy="`assay resume` goes on with it")  # fmt: skip
    files = {name: _content(folder, name) for name in (outcome.files if outcome else ())}
    return Subject(
        record=record,
        config=_config(folder),
        cells=tuple(_cells(folder)),
        status=folder.status.value,
        exit_code=_exit_code(outcome),
        binding_faults=faults_of(folder) or (),
        report=_report(files),
        files=files,
        papers={name: _content(folder, name) for name in PAPERS},
    )


def _exit_code(outcome: Outcome | None) -> int:
    """A run that got to its end is no failure of W&B's kind, whatever its gates say."""
    return 0 if outcome is None or outcome.status is Status.COMPLETE else int(outcome.exit_code)


def _cells(folder: RunFolder) -> Iterator[CellRows]:
    # On an object store a cell shows once it is whole: until then its rows are in segments.
    names = {file.parent.name for file in dated(folder.path / "cells", 2, {"samples.jsonl", "done.json"})}
    for name in sorted(names):
        match = CELL.fullmatch(name)
        if match:
            rows = folder.rows(name)
            ordered = tuple(_row(rows[row]) for row in sorted(rows))
            yield CellRows(match[1], int(match[2]), ordered, is_done=folder.is_done(name))


def _row(text: str) -> JudgedRow | Mapping[str, Any]:
    try:
        return JudgedRow.model_validate_json(text)
    except ValidationError:
        found: Mapping[str, Any] = json.loads(text)
        return found


def _report(files: Mapping[str, bytes]) -> EvaluationReport | None:
    try:
        return EvaluationReport.model_validate_json(files.get("report.json", b""))
    except ValidationError:
        return None


def _config(folder: RunFolder) -> Mapping[str, Any]:
    found = yaml.safe_load(_content(folder, "config.yaml"))
    return {key: value for key, value in found.items() if key != "runtime"} if isinstance(found, dict) else {}


def _content(folder: RunFolder, name: str) -> bytes:
    content = read(folder.path / name)
    if content is None:
        raise StoreError(f"{folder.path / name} is not there", file=str(folder.path / name),
                         remedy=f"`assay resume {folder.path.name}` writes it again")  # fmt: skip
    return content
