"""A baseline embedder without a model: signed feature hashing of words and word pairs.

Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (ICML 2009). It knows no meaning, only shared
words; what a learned model adds is measured against it, and an installation without torch can still search.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from core.model.retrieval import TextKind

if TYPE_CHECKING:
    from core.ports import Matrix

_WORD = re.compile(r"\w+")


class HashingEncoder:
    """Encoder whose vectors depend on the text alone; queries and documents are treated alike."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    def encode(
        self,
        texts: Sequence[str],
        kind: TextKind,  # noqa: ARG002  of the protocol
    ) -> Iterator[tuple[Sequence[int], Matrix]]:
        """One batch of unit vectors; a weight is the root of a feature's count, and no words give zeros."""
        import numpy  # a command that embeds nothing should not wait for it

        matrix = numpy.zeros((len(texts), self.dimensions), dtype=numpy.float64)
        for row, text in zip(matrix, texts, strict=True):
            for feature, count in _features(text).items():
                code = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "big")
                row[(code >> 1) % self.dimensions] += (1.0 if code & 1 else -1.0) * count**0.5
        lengths = numpy.linalg.norm(matrix, axis=1, keepdims=True)
        yield range(len(texts)), (matrix / numpy.where(lengths > 0, lengths, 1.0)).astype(numpy.float32)


def _features(text: str) -> Counter[str]:
    words = _WORD.findall(text.casefold())
    return Counter([*words, *(" ".join(pair) for pair in pairwise(words))])
