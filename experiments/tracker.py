"""The child process that talks to W&B, so that nothing W&B does can hold a run up: `python -m experiments.tracker JOB`.

It is told `end` on stdin when the run is over, sends what is left and leaves. It dies with its parent: when stdin
closes, it takes wandb's own processes along, which share its process group. Told `alone` before, it goes on without a
parent, for as long as the job says and no longer.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from enum import StrEnum

from core.adapters.track import Target, load
from core.adapters.track.target import confine
from core.disk import location
from core.errors import AssayError, ConfigError, DependencyDown, StoreError
from core.lab.lock import is_driven
from core.lab.store import RunFolder
from core.model.frozen import Frozen
from core.model.specs import TrackMode
from experiments.tracking import home, publish_report, sync

END = b"end\n"
ALONE = b"alone\n"
LOOK_S = 0.1
"""Between two looks at a lock."""
NICENESS = 10
"""Of a child that follows: what a run computes comes first."""


class Task(StrEnum):
    """What the child is for."""

    FOLLOW = "follow"
    """Keep W&B up to date until told that the run has ended, then send what is left."""
    SEND = "send"
    """Send what there is."""
    PUBLISH = "publish"
    """The same, and save the W&B Report."""


class Job(Frozen):
    """What the child is to do; one argument, as JSON. The key comes from the environment."""

    folder: str
    mode: TrackMode
    project: str
    entity: str | None
    base_url: str
    task: Task
    interval_s: float
    """Between two looks at a run that goes on."""
    deadline_s: float
    """For what is left when the parent does not wait."""

    @property
    def target(self) -> Target:
        """Where to send to."""
        return Target(self.mode, self.project, self.entity, self.base_url)


def main() -> None:
    """Follow the run until told to end, then send what is left. Exit codes as those of `assay`."""
    job, ended = Job.model_validate_json(sys.argv[1]), threading.Event()
    threading.Thread(target=_listen, args=(ended, job.deadline_s), name="lifeline", daemon=True).start()
    folder = RunFolder(location(job.folder))
    try:
        if job.task is Task.FOLLOW:
            os.nice(NICENESS)
            _follow(folder, job, ended)
        _after_others(folder)
        if folder.record is not None:  # a run that was refused before it began has nothing to show
            sync(folder, job.target)
        if job.task is Task.PUBLISH:
            publish_report(folder, job.target)
    except AssayError as error:
        print(error, file=sys.stderr, flush=True)
        sys.exit(error.exit_code)


def _follow(folder: RunFolder, job: Job, ended: threading.Event) -> None:
    """Keep W&B up to date while the run goes on. Offline nobody looks on: then only wandb is made ready."""
    if job.mode is TrackMode.OFFLINE:
        confine(home(folder) / job.mode.value, job.target)
        load()
    while not ended.wait(job.interval_s):
        if job.mode is TrackMode.ONLINE:
            try:
                sync(folder, job.target)
            except (DependencyDown, ConfigError, StoreError) as error:  # not now, or no record yet: look again later
                print(error, file=sys.stderr, flush=True)


def _after_others(folder: RunFolder) -> None:
    """Wait for who is at this run's W&B files now, as the child of an earlier command may be; our parent says how long.

    What they send may be older than what there is.
    """
    while is_driven(home(folder) / "lock"):
        threading.Event().wait(LOOK_S)


def _listen(ended: threading.Event, deadline_s: float) -> None:
    # Not through sys.stdin: an interpreter that ends while a thread waits in its buffer aborts.
    heard = b""
    while said := os.read(0, 64):
        heard += said
        if END in heard:
            ended.set()
    if heard.endswith(ALONE):
        threading.Event().wait(deadline_s)
        print(f"not everything was written within {deadline_s:g} s", file=sys.stderr, flush=True)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
