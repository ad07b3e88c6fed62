"""The parent's half of tracking: starts the child that talks to W&B, and never waits for it longer than agreed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from core.adapters.track import Target, resolve, state
from core.disk import make_folder
from core.errors import AssayError, ConfigError, DependencyDown, StoreError
from core.lab.store import RunFolder
from core.model.specs import TrackMode, TrackSpec
from experiments.tracker import ALONE, END, Job, Task
from experiments.tracking import home, is_settled

MODULE = "experiments.tracker"
LOG = "track.log"
PATIENCE_S = 2.0
"""After which a person is told what is being waited for."""

Say = Callable[[str], None]


@contextlib.contextmanager
def following(folder: RunFolder, spec: TrackSpec, say: Say) -> Iterator[None]:
    """Track the run in `folder` while the block drives it, and once at its end. Never raises, never fails the block.

    Whatever goes wrong on W&B's side is one line to `say` and a note in the state file. Offline files that are not
    written soon after the end are finished without the caller. A block that is stopped (Ctrl-C, SIGTERM) is not held
    up: what is left is for the next driver, or for `assay track sync`.
    """
    child = _begun(folder, spec, say)
    try:
        yield
    except AssayError:
        _end(child, spec, say)
        raise
    except BaseException:
        if child is not None:
            child.kill()
        raise
    else:
        _end(child, spec, say)


@dataclass(frozen=True)
class Child:
    """A running tracker."""

    process: subprocess.Popen[bytes]
    folder: RunFolder
    target: Target

    @classmethod
    def start(
        cls, folder: RunFolder, target: Target, task: Task, *, interval_s: float = 1.0, deadline_s: float = 120.0
    ) -> Child:
        """Start it. Its words go to a log below the run. Raises StoreError, OSError.

        `interval_s` is between two looks at a run under way, `deadline_s` for what it finishes on its own.
        """
        place = home(folder)
        make_folder(place)
        job = Job(folder=str(folder.path), mode=target.mode, project=target.project, entity=target.entity,
                  base_url=target.base_url, task=task, interval_s=interval_s, deadline_s=deadline_s)  # fmt: skip
        with (place / LOG).open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", MODULE, job.model_dump_json()],
                stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        return cls(process, folder, target)

    def finish(self, deadline_s: float, say: Say) -> None:
        """Have it send what is left. Raises DependencyDown when it does not come to its end in `deadline_s`."""
        self._tell(END)
        try:
            self._wait(deadline_s, say)
        except subprocess.TimeoutExpired:
            self.kill()
            self._fail(f"not everything was sent within {deadline_s:g} s")
        except KeyboardInterrupt:
            self.kill()
            self._fail("sending was interrupted")
        self._ended()

    def finish_or_leave(self, wait_s: float, say: Say) -> None:
        """Have it write what is left, and after `wait_s` on its own. Raises DependencyDown when it failed by then."""
        self._tell(END)
        try:
            self.process.wait(wait_s)
        except subprocess.TimeoutExpired:
            self._leave()
            name = self.folder.path.name
            say(f"W&B: its offline files are still being written, without this command; `assay track status {name}` "
                f"says how far they are, `assay track sync {name}` completes them")  # fmt: skip
        except KeyboardInterrupt:
            self.kill()
            self._fail("writing was interrupted")
        else:
            self._ended()

    def _leave(self) -> None:
        self._tell(ALONE)
        self._close()
        threading.Thread(target=self.process.wait, name="reaper", daemon=True).start()

    def _tell(self, word: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            _stdin(self.process).write(word)
            _stdin(self.process).flush()

    def _ended(self) -> None:
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
        return Child.start(folder, target, Task.FOLLOW, interval_s=spec.interval_s, deadline_s=spec.deadline_s)
    except (ConfigError, StoreError, OSError) as error:
        say(f"W&B: not tracked, the run is not affected: {error}")
        return None


def _end(child: Child | None, spec: TrackSpec, say: Say) -> None:
    if child is None:
        return
    try:
        if child.target.mode is TrackMode.OFFLINE:
            child.finish_or_leave(spec.offline_wait_s, say)
        else:
            child.finish(spec.deadline_s, say)
    except DependencyDown as error:
        say(f"W&B: {error}; the run is not affected. Send it with: {error.remedy}")


def _stdin(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdin is not None
    return process.stdin
