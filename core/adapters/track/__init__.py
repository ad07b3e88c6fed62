"""Weights & Biases as a projection of the record: the only place that knows wandb, and it only ever writes there.

`project` turns what a run folder holds into views, plain values that say what W&B should show; `send` brings W&B to a
view. Equal records give equal views and equal ids, so that sending again changes nothing and doubles nothing.
"""

from core.adapters.track.project import Subject, project, tracked_ids
from core.adapters.track.publish import compose, publish
from core.adapters.track.send import Stage, load, send
from core.adapters.track.state import Sent, TargetState, TrackState
from core.adapters.track.target import OFFLINE, Target, resolve
from core.adapters.track.view import Artifact, HistoryRow, Table, View

__all__ = [
    "OFFLINE",
    "Artifact",
    "HistoryRow",
    "Sent",
    "Stage",
    "Subject",
    "Table",
    "Target",
    "TargetState",
    "TrackState",
    "View",
    "compose",
    "load",
    "project",
    "publish",
    "resolve",
    "send",
    "tracked_ids",
]
