"""The parent's half of tracking: starts the child that talks to W&B, and never waits for it longer than agreed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from core.adapters.track import Target, resolve, state
from core.disk import make_folder
from core.errors import AssayError, ConfigError, DependencyDown, StoreError
from core.lab.store import RunFolder
from core.model.specs import TrackSpec
from experiments.tracker import END, Job, Task
from experiments.tracking import home, is_settled

MODULE = "experiments.tracker"
LOG = "track.log"
PATIENCE_S = 2.0
"""After which a person is told what is being waited for."""

Say = Callable[[str], None]


@contextlib.contextmanager
def following(folder: RunFolder, spec: TrackSpec, say: Say) -> Iterator[None]:
    """Track the run in `folder` while the block drives it, and once at its end. Never raises, never fails the block.

    Whatever goes wrong on W&B's side is one line to `say` and a note in the state file. A block that is stopped
    (Ctrl-C, SIGTERM) is not held up: what is left is for the next driver, or for `assay track sync`.
    """
    child = _begun(folder, spec, say)
    try:
        yield
    except AssayError:
        _end(child, spec.deadline_s, say)
        raise
    except BaseException:
        if child is not None:
            child.kill()
        raise
    else:
        _end(child, spec.deadline_s, say)


@dataclass(frozen=True)
class Child:
    """A running tracker."""

    process: subprocess.Popen[bytes]
    folder: RunFolder
    target: Target

    @classmethod
    def start(cls, folder: RunFolder, target: Target, task: Task, interval_s: float = 1.0) -> Child:
        """Start it. Its words go to a log below the run. Raises StoreError, OSError."""
        place = home(folder)
        make_folder(place)
        job = Job(folder=str(folder.path), mode=target.mode, project=target.project, entity=target.entity,
                  base_url=target.base_url, task=task, interval_s=interval_s)  # fmt: skip
        with (place / LOG).open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", MODULE, job.model_dump_json()],
                stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        return cls(process, folder, target)

    def finish(self, deadline_s: float, say: Say) -> None:
        """Have it send what is left. Raises DependencyDown when it does not come to its end in `deadline_s`."""
        with contextlib.suppress(BrokenPipeError):
            _stdin(self.process).write(END)
            _stdin(self.process).flush()
        try:
            self._wait(deadline_s, say)
        except subprocess.TimeoutExpired:
            self.kill()
            self._fail(f"not everything was sent within {deadline_s:g} s")
        except KeyboardInterrupt:
            self.kill()
            self._fail("sending was interrupted")
        if self.process.returncode < 0:
            self._fail(f"the process that talks to W&B was killed (signal {-self.process.returncode})")
        if self.process.returncode:
            noted = state.read(home(self.folder)).at(self.target.name).failure
            self._fail(noted or self._last_words() or f"the child ended with {self.process.returncode}")
        self._close()

    def kill(self) -> None:
        """End it and wandb's own processes at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._close()

    def _wait(self, deadline_s: float, say: Say) -> None:
        patience = min(PATIENCE_S, deadline_s)
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            if deadline_s <= patience:
                raise
            say(f"W&B: sending what is left, for at most {deadline_s:g} s ({self.target.name})")
            self.process.wait(deadline_s - patience)

    def _fail(self, reason: str) -> None:
        self._close()
        with contextlib.suppress(StoreError):
            state.Notes(home(self.folder), self.target.name).failed(reason)
        raise DependencyDown(
            reason,
            endpoint=self.target.base_url,
            remedy=f"assay track sync {self.folder.path.name}  (what was said: {home(self.folder) / LOG})",
        )

    def _last_words(self) -> str:
        try:
            lines = (home(self.folder) / LOG).read_text("utf-8", "replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1] if lines else ""

    def _close(self) -> None:
        with contextlib.suppress(OSError):
            _stdin(self.process).close()


def _begun(folder: RunFolder, spec: TrackSpec, say: Say) -> Child | None:
    try:
        target = resolve(spec, os.environ)
        if target is None or is_settled(folder, target):
            return None
        return Child.start(folder, target, Task.FOLLOW, spec.interval_s)
    except (ConfigError, StoreError, OSError) as error:
        say(f"W&B: not tracked, the run is not affected: {error}")
        return None


def _end(child: Child | None, deadline_s: float, say: Say) -> None:
    if child is None:
        return
    try:
        child.finish(deadline_s, say)
    except DependencyDown as error:
        say(f"W&B: {error}; the run is not affected. Send it with: {error.remedy}")


def _stdin(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdin is not None
    return process.stdin
