"""Engine `embedded`: exact nearest neighbours over memory-mapped vectors and BM25 by tantivy, all in one folder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from core.adapters.index.bm25 import Bm25, write_bm25
from core.adapters.index.engines import Hit
from core.adapters.index.vectors import Vectors, write_vectors
from core.errors import IndexUnavailable
from core.model.retrieval import IndexManifest
from core.model.sample import Passage

if TYPE_CHECKING:
    from core.ports import Matrix

PASSAGES = "passages.jsonl"
VECTORS = "vectors.npy"
BM25 = "bm25"


class EmbeddedEngine:
    """Needs no server; deterministic."""

    version = 1

    async def write(
        self,
        folder: Path,
        manifest: IndexManifest,  # noqa: ARG002  of the protocol
        passages: Sequence[Passage],
        vectors: Matrix,
    ) -> None:
        """Write the three parts."""
        await asyncio.to_thread(_write, folder, passages, vectors)

    async def open(self, folder: Path, manifest: IndexManifest) -> EmbeddedBackend:
        """Map the vectors, open the inverted index, read the passages."""
        return await asyncio.to_thread(_open, folder, manifest)


class EmbeddedBackend:
    """Searches in a thread, so that the event loop stays free."""

    def __init__(self, passages: Sequence[Passage], vectors: Vectors, bm25: Bm25) -> None:
        self._passages = passages
        self._vectors = vectors
        self._bm25 = bm25

    async def nearest(self, vector: Matrix, depth: int) -> Sequence[Hit]:
        """By cosine."""
        return self._hits(await asyncio.to_thread(self._vectors.nearest, vector, depth))

    async def matching(self, text: str, depth: int) -> Sequence[Hit]:
        """By BM25."""
        return self._hits(await asyncio.to_thread(self._bm25.matching, text, depth))

    def _hits(self, found: Sequence[tuple[int, float]]) -> list[Hit]:
        return [Hit(self._passages[row], score) for row, score in found]


ENGINE = EmbeddedEngine()


def _write(folder: Path, passages: Sequence[Passage], vectors: Matrix) -> None:
    lines = (passage.model_dump_json() + "\n" for passage in passages)
    (folder / PASSAGES).write_bytes("".join(lines).encode())
    write_vectors(folder / VECTORS, vectors)
    write_bm25(folder / BM25, passages)


def _open(folder: Path, manifest: IndexManifest) -> EmbeddedBackend:
    try:
        lines = (folder / PASSAGES).read_bytes().splitlines()
        passages = [Passage.model_validate_json(line) for line in lines]
        vectors, bm25 = Vectors(folder / VECTORS), Bm25(folder / BM25)
    except (OSError, ValueError, ValidationError) as error:
        raise IndexUnavailable(f"the index {folder} cannot be read: {error}", endpoint=str(folder)) from error
    found = (len(passages), *vectors.shape)
    if found != (manifest.count, manifest.count, manifest.dimensions):
        raise IndexUnavailable(f"the index {folder} does not hold what its manifest says", endpoint=str(folder))
    return EmbeddedBackend(passages, vectors, bm25)
