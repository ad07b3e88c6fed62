"""One thread that embeds, with every vector remembered in memory and on disk."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol

from core.adapters.embed.cache import VectorCache
from core.errors import EmbedderUnavailable
from core.model.frozen import digest
from core.model.retrieval import TextKind

if TYPE_CHECKING:
    from core.ports import Matrix

REMEMBERED = 8192
"""Vectors kept in memory, those least recently used dropped first."""


class Encoder(Protocol):
    """A model, called from one thread only. Raises EmbedderUnavailable."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""

    def encode(self, texts: Sequence[str], kind: TextKind) -> Iterator[tuple[Sequence[int], Matrix]]:
        """Batches, in any order: places in `texts`, and float32 of shape (len(places), dimensions).

        A query's vector depends on nothing but its text.
        """


class CachingEmbedder:
    """core.ports.Embedder over an Encoder: a text is encoded once, off the event loop, one call at a time."""

    def __init__(self, encoder: Encoder, *, identity: str, cache: VectorCache | None) -> None:
        """`identity` stands for all that the vectors depend on besides kind and text."""
        self._encoder = encoder
        self._identity = identity
        self._cache = cache
        self._memory: OrderedDict[str, bytes] = OrderedDict()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")

    @property
    def dimensions(self) -> int:
        """Length of a vector. Loads the model when no vector was made yet, and waits for it."""
        known = next(iter(self._memory.values()), None)
        return len(known) // 4 if known else self._thread.submit(lambda: self._encoder.dimensions).result()

    async def embed(self, texts: Sequence[str], *, kind: TextKind) -> Matrix:
        """Embed `texts`, in order. Raises EmbedderUnavailable.

        Vectors are kept batch by batch: a kill loses one batch, and a cancelled call ends after the one it is in.
        """
        stop = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._embed, list(texts), kind, stop)
        except asyncio.CancelledError:
            stop.set()
            raise

    def _embed(self, texts: list[str], kind: TextKind, stop: threading.Event) -> Matrix:
        import numpy  # a command that embeds nothing should not wait for it

        if not texts:
            return numpy.empty((0, self._encoder.dimensions), dtype=numpy.float32)
        keys = [digest([self._identity, kind.value, text]) for text in texts]
        vectors = self._known(dict.fromkeys(keys))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        if missing:
            vectors |= self._encoded(missing, kind, stop)
        self._remember(vectors)
        return numpy.stack([numpy.frombuffer(vectors[key], dtype="<f4") for key in keys]).astype(numpy.float32)

    def _known(self, keys: dict[str, None]) -> dict[str, bytes]:
        near = {key: self._memory[key] for key in keys if key in self._memory}
        far = [key for key in keys if key not in near]
        return near | self._cache.get(far) if self._cache and far else near

    def _encoded(self, missing: dict[str, str], kind: TextKind, stop: threading.Event) -> dict[str, bytes]:
        keys, texts = list(missing), [_unicode(text) for text in missing.values()]
        vectors: dict[str, bytes] = {}
        for places, matrix in self._encoder.encode(texts, kind):
            batch = {keys[place]: row for place, row in zip(places, _rows(matrix), strict=True)}
            if self._cache:
                self._cache.put(batch)
            vectors |= batch
            if stop.is_set():
                raise EmbedderUnavailable("the embedding was stopped")
        return vectors

    def _remember(self, vectors: dict[str, bytes]) -> None:
        for key, vector in vectors.items():
            self._memory[key] = vector
            self._memory.move_to_end(key)
        while len(self._memory) > REMEMBERED:
            self._memory.popitem(last=False)


def _unicode(text: str) -> str:
    """`text` with lone surrogates replaced: tokenizers refuse what UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _rows(matrix: Matrix) -> list[bytes]:
    import numpy

    if not numpy.isfinite(matrix).all():
        raise EmbedderUnavailable(
            "the embedding model gave a vector that is not a number",
            remedy="check the model's files, and the text that it was given",
        )
    return [row.astype("<f4").tobytes() for row in matrix]
