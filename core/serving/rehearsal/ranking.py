"""How well a piece of text fits a question: shared stems, weighted by how rare they are among the passages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

LENGTH_DAMPING = 6
"""Added to a sentence's length before it divides, so that three-word sentences do not win by brevity."""


@dataclass(frozen=True)
class Weights:
    """Inverse document frequency over the passages of one prompt: log(1 + N / (df + 1/2)), N passages."""

    known: Mapping[str, float]
    """Stem -> its weight, for every stem of the passages."""
    unknown: float
    """The weight of any other: the largest."""

    def total(self, stems: Iterable[str]) -> float:
        """The summed weight of `stems`, exact whatever their order."""
        return math.fsum([self.known.get(stem, self.unknown) for stem in stems])


@lru_cache(maxsize=256)
def weigh(passages: tuple[frozenset[str], ...]) -> Weights:
    """Weigh the stems by the number of passages that each occurs in."""
    frequency = Counter(chain.from_iterable(passages))
    by_frequency = [math.log(1.0 + len(passages) / (times + 0.5)) for times in range(len(passages) + 1)]
    return Weights({stem: by_frequency[times] for stem, times in frequency.items()}, by_frequency[0])


def coverage(asked: frozenset[str], found: frozenset[str], weights: Weights) -> float:
    """The share of the question's weight that `found` holds, in [0, 1]; 0 for a question without content words."""
    whole = weights.total(asked)
    return weights.total(asked & found) / whole if whole else 0.0


def relevance(asked: frozenset[str], sentence: frozenset[str], weights: Weights) -> float:
    """How much of the question a sentence of that length speaks about; 0 when nothing is shared."""
    return weights.total(asked & sentence) / math.sqrt(len(sentence) + LENGTH_DAMPING)


def overlap(part: frozenset[str], whole: frozenset[str]) -> float:
    """The share of `part` that is in `whole`; 0 when `part` is empty."""
    return len(part & whole) / len(part) if part else 0.0
