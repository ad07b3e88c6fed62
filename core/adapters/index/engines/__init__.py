"""Search engines, found by name: `engine: x` in a config is the module `x` of this package and its `ENGINE`."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from core.errors import ConfigError, IndexUnavailable
from core.model.retrieval import IndexManifest
from core.model.sample import Passage

if TYPE_CHECKING:
    from core.ports import Matrix


@dataclass(frozen=True)
class Hit:
    """A passage that one ranking found; scores compare within that ranking only."""

    passage: Passage
    score: float


class Backend(Protocol):
    """An open index's two rankings: at most `depth` hits, best first, equal scores by id. Raises IndexUnavailable."""

    async def nearest(self, vector: Matrix, depth: int) -> Sequence[Hit]:
        """By cosine with `vector`, of shape (dimensions,)."""

    async def matching(self, text: str, depth: int) -> Sequence[Hit]:
        """By BM25; passages that share no term with `text`, which may hold any characters, are left out."""


class Engine(Protocol):
    """A way to store and search passages with their vectors."""

    @property
    def version(self) -> int:
        """Raised when the same content would be ranked differently."""

    async def write(self, folder: Path, manifest: IndexManifest, passages: Sequence[Passage], vectors: Matrix) -> None:
        """Store passages, sorted by id, with one row of `vectors` each. `folder` exists and is empty."""

    async def open(self, folder: Path, manifest: IndexManifest) -> Backend:
        """Open what `write` stored. Raises IndexUnavailable."""


def engine_names() -> tuple[str, ...]:
    """The engines there are, sorted."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def engine_named(name: str) -> Engine:
    """The engine of that name. Raises ConfigError naming those there are, IndexUnavailable if it is not installed."""
    if name not in engine_names():
        raise ConfigError(
            f"unknown index engine {name!r}", path="index.engine", remedy=f"use one of: {', '.join(engine_names())}"
        )
    try:
        engine: Engine = import_module(f"{__name__}.{name}").ENGINE
    except ImportError as error:
        raise IndexUnavailable(
            f"the index engine {name!r} lacks a package: {error}", remedy="pip install 'assay-lab[retrieval]'"
        ) from error
    return engine
