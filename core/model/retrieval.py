"""How passages are asked for, and what an index is."""

from __future__ import annotations

from enum import StrEnum

from core.model.frozen import Frozen


class TextKind(StrEnum):
    """Queries and documents may be embedded differently."""

    QUERY = "query"
    DOCUMENT = "document"


class RetrievalMode(StrEnum):
    """Results of different modes are never comparable unless the mode is the stated factor."""

    HYBRID = "hybrid"
    KNN_ONLY = "knn_only"
    BM25_ONLY = "bm25_only"


class Query(Frozen):
    """A search for the `k` best passages."""

    text: str
    mode: RetrievalMode = RetrievalMode.HYBRID
    k: int = 8


class IndexManifest(Frozen):
    """Where an index came from; written when it is built, pinned in the record, compared before it is searched."""

    name: str
    version: str
    engine: str
    """`embedded@1`, `elasticsearch@1`, ..."""
    pipeline: str
    """Ingestion pipelines in order, with versions: `avap_markdown@1+avap_samples@1`."""
    chunking: str
    """Canonical JSON of the chunking parameters."""
    embedder: str
    """Digest of the embedder's specification."""
    embedder_name: str
    dimensions: int
    corpus_sha256: str
    count: int
    built_at: str
    """UTC, ISO 8601. The only field that may differ between two builds of the same index."""

    def faults_against(self, wanted: IndexManifest) -> tuple[str, ...]:
        """What differs, as `field: found X, config wants Y`; empty when this index is the wanted one."""
        found, expected = (m.model_dump(exclude={"built_at", "count", "dimensions"}) for m in (self, wanted))
        return tuple(f"{k}: found {found[k]!r}, config wants {v!r}" for k, v in expected.items() if found[k] != v)
