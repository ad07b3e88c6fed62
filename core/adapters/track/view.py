"""What one W&B run should show, as plain values: comparable, hashable by content, with nothing of wandb in them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from core.model.frozen import digest

Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class HistoryRow:
    """One point of the curves. A row is final when it is there: it belongs to a cell whose rows are all durable."""

    step: int
    """Number of the run within the suite, from 1: the same cell is the same step, whenever it is sent."""
    values: Mapping[str, int | float]


@dataclass(frozen=True)
class Table:
    """A table of scalars."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Scalar, ...], ...]


@dataclass(frozen=True)
class Artifact:
    """Files under a name. W&B makes a new version only when their content changes."""

    name: str
    type: str
    files: Mapping[str, bytes]
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """One W&B run."""

    id: str
    name: str
    group: str
    job_type: str
    """`suite`, or `experiment` for the run as a whole."""
    tags: tuple[str, ...]
    config: Mapping[str, Any]
    history: tuple[HistoryRow, ...]
    summary: Mapping[str, Any]
    """Numbers, words and lists of words; no nulls."""
    exit_code: int
    """W&B shows anything but 0 as failed."""
    tables: Mapping[str, Table] = field(default_factory=dict)
    pages: Mapping[str, bytes] = field(default_factory=dict)
    """HTML to look at, by key."""
    images: Mapping[str, bytes] = field(default_factory=dict)
    """PNG, by key."""
    used: tuple[Artifact, ...] = ()
    """What the run stood on."""
    made: tuple[Artifact, ...] = ()
    """What came out of it."""

    @property
    def digest(self) -> str:
        """Of everything in it: equal digests need not be sent again."""
        return digest(_hashable(asdict(self)))

    @property
    def live(self) -> View:
        """What is shown of a run that goes on: it changes when a cell is done, not with every row."""
        summary = {key: value for key, value in self.summary.items() if key != "rows"}
        return replace(self, summary=summary, tables={}, pages={}, images={}, used=(), made=())


def _hashable(value: Any) -> Any:
    """`value` with bytes as their sha256: large files have an identity too."""
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()
    if isinstance(value, Mapping):
        return {key: _hashable(item) for key, item in value.items()}
    return [_hashable(item) for item in value] if isinstance(value, list | tuple) else value
