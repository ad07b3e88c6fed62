"""`assay report --wandb`: the run with its page and tables in W&B, and a W&B Report over it where a server is there."""

from __future__ import annotations

from core.adapters.track import state
from core.errors import DependencyDown
from core.lab.store import RunFolder
from core.model.specs import TrackMode
from experiments.follower import Child, Say
from experiments.tracked import target_of
from experiments.tracker import Task
from experiments.tracking import home, views_of

DEADLINE_S = 600.0


def is_evaluation(folder: RunFolder) -> bool:
    """Whether the report of `folder` can be rendered again; those of other experiments are published as they stand."""
    from experiments.msvl import Msvl

    record = folder.record
    return record is None or record.experiment == Msvl.name


def publish(folder: RunFolder, say: Say) -> None:
    """Bring W&B up to date with `folder` and save the W&B Report; offline, only the files are written.

    Raises ConfigError, StoreError; DependencyDown when W&B does not take the run or the report.
    """
    target = target_of(folder)
    views_of(folder)  # a run that cannot be read is told here, with its remedy
    is_online = target.mode is TrackMode.ONLINE
    Child.start(folder, target, Task.PUBLISH if is_online else Task.SEND).finish(DEADLINE_S, say)
    if not is_online:
        say(f"W&B: page and tables are in {home(folder) / target.name}; a W&B Report needs a server: set WANDB_API_KEY "
            f"and say `assay report {folder.path.name} --wandb` again")  # fmt: skip
        return
    report = state.read(home(folder)).at(target.name).report
    if report is None:
        raise DependencyDown("W&B took the run, and says nothing of the report", endpoint=target.base_url)
    say(f"W&B Report: {report.url}")
