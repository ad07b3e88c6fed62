"""What has been sent where, and what is still to be sent: one file beside the run, replaced whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from core.adapters.track.target import OFFLINE
from core.disk import make_folder, replace
from core.model.frozen import Frozen

FILE = "state.json"


class Sent(Frozen):
    """One W&B run as it was last sent."""

    digest: str
    """Of the view."""
    url: str = ""


class Published(Frozen):
    """A W&B Report as it was saved; saving again goes over the same one."""

    id: str
    url: str


class TargetState(Frozen):
    """One place that W&B runs are sent to."""

    sent: Mapping[str, Sent] = {}
    """W&B run id -> what was sent."""
    pending: tuple[str, ...] = ()
    """Ids that the last attempt set out to send and did not."""
    failure: str = ""
    """Why not; empty after an attempt that got through."""
    settled: str = ""
    """sha256 of the outcome.json that was sent whole: as long as it stands there is nothing to send."""
    report: Published | None = None


class TrackState(Frozen):
    """`wandb/state.json`. It only saves work: losing it means that everything is sent again, onto the same ids."""

    schema_version: int = 1
    targets: Mapping[str, TargetState] = {}
    """By core.adapters.track.target.Target.name."""

    def at(self, target: str) -> TargetState:
        """The state of one target; empty for one never sent to."""
        return self.targets.get(target, TargetState())

    def online(self) -> frozenset[str]:
        """Ids of the W&B runs that were sent, or begun to be sent, to a server."""
        servers = [at for name, at in self.targets.items() if name != OFFLINE]
        return frozenset(run for at in servers for run in (*at.sent, *at.pending))

    def with_target(self, target: str, state: TargetState) -> TrackState:
        """The state with one target replaced."""
        return self.model_copy(update={"targets": {**self.targets, target: state}})


def read(folder: Path) -> TrackState:
    """The state kept in `folder`; empty when there is none or it does not read back."""
    try:
        return TrackState.model_validate_json((folder / FILE).read_bytes())
    except (OSError, ValidationError):
        return TrackState()


def write(folder: Path, state: TrackState) -> None:
    """Keep `state` in `folder`, made when absent. Raises StoreError."""
    make_folder(folder)
    replace(folder / FILE, f"{state.model_dump_json(indent=2)}\n".encode())


@dataclass(frozen=True)
class Notes:
    """What is noted while one target is sent to. Every note is on disk before the next step; each raises StoreError."""

    folder: Path
    target: str

    def begin(self, ids: Sequence[str]) -> None:
        """Say what is about to be sent, so that a kill leaves the truth behind. Offline files are made anew."""
        before = self._now()
        self._put(pending=tuple(ids), failure="", sent={} if ids and self.target == OFFLINE else before.sent)

    def sent(self, run: str, digest: str, url: str) -> None:
        """One W&B run is there."""
        before = self._now()
        left = tuple(each for each in before.pending if each != run)
        self._put(sent={**before.sent, run: Sent(digest=digest, url=url)}, pending=left)

    def failed(self, reason: str) -> None:
        """The attempt ended early."""
        self._put(failure=reason, settled="")

    def settle(self, mark: str) -> TargetState:
        """All is there; `mark` is that of the outcome it was sent with, empty for a run under way."""
        return self._put(settled=mark, pending=(), failure="")

    def published(self, report: Published) -> None:
        """The W&B Report is there."""
        self._put(report=report)

    def _now(self) -> TargetState:
        return read(self.folder).at(self.target)

    def _put(self, **changed: object) -> TargetState:
        after = self._now().model_copy(update=changed)
        write(self.folder, read(self.folder).with_target(self.target, after))
        return after
