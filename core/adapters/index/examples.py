"""The few-shot pool as an index: the examples whose descriptions are nearest to a question."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.errors import IndexUnavailable
from core.model.frozen import canonical_json, digest
from core.model.retrieval import IndexManifest, Query, TextKind
from core.model.sample import Example, Passage
from core.ports import Embedder

if TYPE_CHECKING:
    from core.ports import Matrix


async def open_examples(
    examples: Sequence[Example], *, embedder: Embedder, exclude: frozenset[str] = frozenset(), embedder_digest: str = ""
) -> ExampleIndex:
    """Embed the descriptions of `examples`, but for those whose id is in `exclude`, and hold them in memory.

    `embedder_digest` goes into the manifest. Raises IndexUnavailable when no example is left, EmbedderUnavailable.
    """
    pool = sorted((example for example in examples if example.id not in exclude), key=lambda example: example.id)
    if not pool:
        raise IndexUnavailable("the few-shot pool is empty", remedy="add examples, or set few_shot.k to 0")
    vectors = await embedder.embed([example.description for example in pool], kind=TextKind.DOCUMENT)
    manifest = IndexManifest(
        name="examples",
        version=digest(pool)[:12],
        engine="memory@1",
        pipeline="examples@1",
        chunking=canonical_json(None),
        embedder=embedder_digest,
        embedder_name="",
        dimensions=vectors.shape[1],
        corpus_sha256=digest(pool),
        count=len(pool),
        built_at="",
    )
    return ExampleIndex(manifest, pool, vectors, embedder)


class ExampleIndex:
    """core.ports.Index over examples, always by cosine: the mode of a query concerns the corpus."""

    def __init__(
        self, manifest: IndexManifest, examples: Sequence[Example], vectors: Matrix, embedder: Embedder
    ) -> None:
        from core.adapters.index.vectors import unit  # numpy, late

        self._manifest = manifest
        self._passages = [_passage(example) for example in examples]
        self._vectors = unit(vectors)
        self._embedder = embedder

    @property
    def manifest(self) -> IndexManifest:
        """What the pool holds; `built_at` is empty, since it is built at each start."""
        return self._manifest

    async def search(self, query: Query) -> tuple[Passage, ...]:
        """The examples nearest to the query. Raises EmbedderUnavailable."""
        from core.adapters.index.vectors import nearest  # numpy, late

        if not query.text.strip() or query.k < 1:
            return ()
        vector = (await self._embedder.embed([query.text], kind=TextKind.QUERY))[0]
        found = await asyncio.to_thread(nearest, self._vectors, vector, query.k)
        return tuple(self._passages[row].model_copy(update={"score": score}) for row, score in found)


def _passage(example: Example) -> Passage:
    return Passage(
        id=example.id,
        text=example.description,
        source=f"example {example.id}",
        code=example.code,
        metadata={"language": example.language, "constructs": ", ".join(example.constructs)},
    )
