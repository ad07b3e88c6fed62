"""The Index port over any engine's two rankings: one of them, or both fused."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from core.adapters.index.engines import Backend, Hit
from core.measure.ranking import reciprocal_rank_fusion
from core.model.retrieval import IndexManifest, Query, RetrievalMode, TextKind
from core.model.sample import Passage
from core.model.specs import RetrievalSpec
from core.ports import Embedder


class HybridIndex:
    """core.ports.Index. A blank query finds nothing."""

    def __init__(self, manifest: IndexManifest, backend: Backend, embedder: Embedder, spec: RetrievalSpec) -> None:
        """Of `spec`, only how to fuse: mode and k come with each query."""
        self._manifest = manifest
        self._backend = backend
        self._embedder = embedder
        self._spec = spec

    @property
    def manifest(self) -> IndexManifest:
        """Where this index came from."""
        return self._manifest

    async def search(self, query: Query) -> tuple[Passage, ...]:
        """The best passages; their score is the cosine, the BM25 score or the fused score, by mode.

        Raises IndexUnavailable and EmbedderUnavailable.
        """
        if not query.text.strip() or query.k < 1:
            return ()
        match query.mode:
            case RetrievalMode.KNN_ONLY:
                hits = await self._nearest(query.text, query.k)
            case RetrievalMode.BM25_ONLY:
                hits = await self._backend.matching(query.text, query.k)
            case RetrievalMode.HYBRID:
                hits = await self._fused(query)
        return tuple(hit.passage.model_copy(update={"score": hit.score}) for hit in hits[: query.k])

    async def _nearest(self, text: str, depth: int) -> Sequence[Hit]:
        vectors = await self._embedder.embed([text], kind=TextKind.QUERY)
        return await self._backend.nearest(vectors[0], depth)

    async def _fused(self, query: Query) -> Sequence[Hit]:
        depth = max(query.k, self._spec.candidates)
        rankings = await asyncio.gather(self._nearest(query.text, depth), self._backend.matching(query.text, depth))
        passages = {hit.passage.id: hit.passage for ranking in rankings for hit in ranking}
        ids = ([hit.passage.id for hit in ranking] for ranking in rankings)
        return [Hit(passages[id_], score) for id_, score in reciprocal_rank_fusion(ids, self._spec.rrf_k)]
