"""Weights & Biases brought to what a run folder holds: the one idempotent function, during a run and after it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from core.adapters.track import OFFLINE, Sent, Stage, Subject, Target, TargetState, View, project, send, state
from core.adapters.track.project import CellRows
from core.adapters.track.spool import spooled
from core.adapters.track.target import confine
from core.disk import make_folder, store_error
from core.errors import AssayError, ConfigError
from core.lab.lock import only_driver
from core.lab.outcome import Outcome, Status
from core.lab.store import RunFolder
from core.model.evaluation import EvaluationReport
from core.model.judged import JudgedRow
from core.model.specs import TrackMode, TrackSpec
from experiments.places import cache_root
from experiments.view import faults_of

CELL = re.compile(r"(.+)\.run-(\d+)")
PAPERS = ("record.json", "config.yaml")
Sender = Callable[[View, Target, Stage], str]


def home(folder: RunFolder) -> Path:
    """Where everything that W&B needs of this run is kept: below the run, or in the cache for a run that is remote."""
    return folder.path / "wandb" if isinstance(folder.path, Path) else cache_root() / "track" / folder.name


def sync(folder: RunFolder, target: Target, *, sending: Sender = send) -> TargetState:
    """Bring `target` to what `folder` holds; what is there already is not sent again.

    A run that another process drives is shown as it stands, without tables and artifacts. Raises ConfigError for a run
    without a record, DependencyDown when W&B does not take it, StoreError; what was sent until then is noted.
    """
    place = home(folder)
    make_folder(place)
    with only_driver(place / "lock"):
        stage = stage_of(folder)
        mark = outcome_mark(folder)
        views = views_of(folder, stage)
        todo = unsent(views, kept(place, target.name), target)
        with _noted(place, target, todo):
            _send_all(place, target, stage, todo, sending)
        return _settled(place, target, mark if stage is Stage.WHOLE else "")


def stage_of(folder: RunFolder) -> Stage:
    """How much of the run can be shown: all of it, unless some process still drives it."""
    return Stage.LIVE if folder.status is Status.RUNNING else Stage.WHOLE


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


def views_of(folder: RunFolder, stage: Stage = Stage.WHOLE) -> tuple[View, ...]:
    """What W&B should show of the run in `folder`. Raises ConfigError before there is a record."""
    found = subject(folder)
    return tuple(view.live if stage is Stage.LIVE else view for view in project(found))


def unsent(views: tuple[View, ...], known: TargetState, target: Target) -> tuple[View, ...]:
    """Those of `views` that differ from what was sent. Offline files are one whole: all of them, or none."""
    changed = tuple(view for view in views if _digest(known, view.id) != view.digest)
    return views if changed and target.name == OFFLINE else changed


def _digest(known: TargetState, run: str) -> str:
    return known.sent[run].digest if run in known.sent else ""


def kept(place: Path, target: str) -> TargetState:
    """What was sent to `target` and is still there: offline files may have been lost, torn or removed."""
    known = state.read(place).at(target)
    if target != OFFLINE:
        return known
    whole = {run.id for run in spooled(place / OFFLINE) if run.is_whole}
    return known if known.sent.keys() <= whole else known.model_copy(update={"sent": {}, "settled": ""})


def is_settled(folder: RunFolder, target: Target) -> bool:
    """Whether the run has ended and was sent whole since."""
    mark = outcome_mark(folder)
    return bool(mark) and kept(home(folder), target.name).settled == mark


def outcome_mark(folder: RunFolder) -> str:
    """sha256 of the outcome on disk; empty without one."""
    try:
        return hashlib.sha256((folder.path / "outcome.json").read_bytes()).hexdigest()
    except OSError:
        return ""


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
    for place in sorted(folder.path.glob("cells/*"), key=lambda path: path.name):
        match = CELL.fullmatch(place.name)
        if match:
            rows = folder.rows(place.name)
            ordered = tuple(_row(rows[row]) for row in sorted(rows))
            yield CellRows(match[1], int(match[2]), ordered, is_done=folder.is_done(place.name))


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
    try:
        return (folder.path / name).read_bytes()
    except OSError as error:
        raise store_error(error, folder.path / name) from error


def _send_all(place: Path, target: Target, stage: Stage, todo: tuple[View, ...], sending: Sender) -> None:
    workplace = place / target.mode.value
    if todo:
        # Offline files are made anew; those of an online run are wandb's own notes, of use to nobody afterwards.
        shutil.rmtree(workplace, ignore_errors=True)
        confine(workplace, target)
    for view in todo:
        address = sending(view, target, stage)
        known = state.read(place)
        at = known.at(target.name)
        sent = {**at.sent, view.id: Sent(digest=view.digest, url=address)}
        left = tuple(each for each in at.pending if each != view.id)
        state.write(place, known.with_target(target.name, at.model_copy(update={"sent": sent, "pending": left})))
    if todo and target.mode is TrackMode.ONLINE:
        shutil.rmtree(workplace, ignore_errors=True)


@contextlib.contextmanager
def _noted(place: Path, target: Target, todo: tuple[View, ...]) -> Iterator[None]:
    """The state file says what is under way, before it is: a kill leaves the truth behind."""
    known = state.read(place)
    at = known.at(target.name)
    sent = {} if todo and target.name == OFFLINE else at.sent
    begun = {"pending": tuple(view.id for view in todo), "failure": "", "sent": sent}
    state.write(place, known.with_target(target.name, at.model_copy(update=begun)))
    try:
        yield
    except AssayError as error:
        note_failure(place, target, str(error))
        raise


def note_failure(place: Path, target: Target, reason: str) -> None:
    """Have the state file say why W&B is behind. Raises StoreError."""
    known = state.read(place)
    at = known.at(target.name)
    state.write(place, known.with_target(target.name, at.model_copy(update={"failure": reason, "settled": ""})))


def _settled(place: Path, target: Target, mark: str) -> TargetState:
    known = state.read(place)
    at = known.at(target.name).model_copy(update={"settled": mark, "pending": (), "failure": ""})
    state.write(place, known.with_target(target.name, at))
    return at
