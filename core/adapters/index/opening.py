"""Opening an index, which is refused unless it is the one the config describes and whole."""

from __future__ import annotations

import asyncio
from pathlib import Path

from core.adapters.index.engines import engine_named
from core.adapters.index.hybrid import HybridIndex
from core.adapters.index.manifest import read_manifest
from core.adapters.index.seal import verify_seal
from core.errors import IndexMismatch
from core.model.retrieval import IndexManifest
from core.model.specs import RetrievalSpec
from core.ports import Embedder


async def open_index(
    folder: Path, wanted: IndexManifest, embedder: Embedder, ranking: RetrievalSpec | None = None
) -> HybridIndex:
    """The index in `folder`, ready to be searched; `ranking` says how its rankings are fused.

    Raises IndexMismatch, listing every field that differs from `wanted`, and IndexUnavailable for an absent or
    damaged index.
    """
    found = read_manifest(folder)
    faults = found.faults_against(wanted)
    if faults:
        raise IndexMismatch(
            f"the index {folder} is not the one the config describes: {'; '.join(faults)}",
            file=str(folder),
            path="index",
            remedy="build the index of this config (`assay index build`), or correct the config",
        )
    await asyncio.to_thread(verify_seal, folder)
    backend = await engine_named(found.engine.partition("@")[0]).open(folder, found)
    return HybridIndex(found, backend, embedder, ranking or RetrievalSpec())
