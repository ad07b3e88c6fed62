"""Weights & Biases brought to what a run folder holds: the one idempotent function, during a run and after it."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

from core.adapters.track import OFFLINE, Stage, Target, TargetState, View, project, publish, send, state
from core.adapters.track import spool as spooling
from core.adapters.track.target import confine
from core.disk import is_object, make_folder, read
from core.errors import AssayError
from core.lab.lock import only_driver
from core.lab.outcome import Status
from core.lab.store import RunFolder
from core.model.specs import TrackMode
from experiments.places import cache_root
from experiments.tracked import subject

Sender = Callable[[View, Target, Stage], str]


def home(folder: RunFolder) -> Path:
    """Where everything that W&B needs of this run is kept: below the run, or in the cache for a run that is remote."""
    return cache_root() / "track" / folder.name if is_object(folder.path) else folder.path / "wandb"


def sync(folder: RunFolder, target: Target, *, sending: Sender = send) -> TargetState:
    """Bring `target` to what `folder` holds; what is there already is not sent again.

    A run that another process drives is shown as it stands, without tables and artifacts. Raises ConfigError for a run
    without a record, DependencyDown when W&B does not take it, StoreError; what was sent until then is noted.
    """
    place = home(folder)
    make_folder(place)
    with only_driver(place / "lock") as held:
        stage = stage_of(folder)
        mark = outcome_mark(folder)
        views = views_of(folder, stage)
        todo = unsent(views, kept(place, target.name), target)
        notes = state.Notes(place, target.name)
        notes.begin([view.id for view in todo])

        def guarded(view: View, to: Target, now: Stage) -> str:
            held.check()  # a run may be set aside while its files are written without a driver
            return sending(view, to, now)

        try:
            _send_all(notes, target, stage, todo, guarded)
        except AssayError as error:
            notes.failed(str(error))
            raise
        return notes.settle(mark if stage is Stage.WHOLE else "")


def stage_of(folder: RunFolder) -> Stage:
    """How much of the run can be shown: all of it, unless some process still drives it."""
    return Stage.LIVE if folder.status is Status.RUNNING else Stage.WHOLE


def publish_report(folder: RunFolder, target: Target) -> state.Published:
    """Save the W&B Report of a run that was sent to `target`, over the one of before.

    Raises DependencyDown, and what `views_of` raises.
    """
    notes = state.Notes(home(folder), target.name)
    known = state.read(notes.folder).at(target.name)
    urls = {run: sent.url for run, sent in known.sent.items()}
    report = publish(views_of(folder), urls, target, known.report)
    notes.published(report)
    return report


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
    whole = {run.id for run in spooling.spooled(place / OFFLINE) if run.is_whole}
    return known if known.sent.keys() <= whole else known.model_copy(update={"sent": {}, "settled": ""})


def is_settled(folder: RunFolder, target: Target) -> bool:
    """Whether the run has ended and was sent whole since, by the state file: quick, and without loading wandb."""
    mark, known = outcome_mark(folder), state.read(home(folder)).at(target.name)
    is_there = target.name != OFFLINE or known.sent.keys() <= spooling.present(home(folder) / OFFLINE)
    return bool(mark) and known.settled == mark and is_there


def outcome_mark(folder: RunFolder) -> str:
    """sha256 of the outcome on disk; empty without one."""
    content = read(folder.path / "outcome.json")
    return hashlib.sha256(content).hexdigest() if content is not None else ""


def _send_all(notes: state.Notes, target: Target, stage: Stage, todo: tuple[View, ...], sending: Sender) -> None:
    workplace, spool = notes.folder / target.mode.value, notes.folder / OFFLINE
    if not todo:
        return
    # What a server has, `wandb sync` must leave alone: it would add the same points once more.
    elsewhere = spooling.uploaded(spool) | state.read(notes.folder).online()
    spooling.mark_uploaded(spool, elsewhere)
    # Offline files are made anew; those of an online run are wandb's own notes, of use to nobody afterwards.
    shutil.rmtree(workplace, ignore_errors=True)
    confine(workplace, target)
    for view in todo:
        notes.sent(view.id, view.digest, sending(view, target, stage))
        spooling.mark_uploaded(spool, elsewhere)
    if target.mode is TrackMode.ONLINE:
        shutil.rmtree(workplace, ignore_errors=True)
