"""How well a piece of text fits a question: shared stems, weighted by how rare they are among the passages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

LENGTH_DAMPING = 6
"""Added to a sentence's length before it divides, so that three-word sentences do not win by brevity."""


@dataclass(frozen=True)
class Weights:
    """Inverse document frequency over the passages of one prompt: log(1 + N / (df + 1/2)), N passages."""

    passages: int
    frequency: Mapping[str, int]

    def of(self, stem: str) -> float:
        """The weight of one stem; the largest for a stem that no passage has."""
        return math.log(1.0 + self.passages / (self.frequency.get(stem, 0) + 0.5))

    def total(self, stems: Iterable[str]) -> float:
        """The summed weight of `stems`."""
        return math.fsum(self.of(stem) for stem in sorted(stems))


def weigh(passages: Sequence[frozenset[str]]) -> Weights:
    """Count in how many passages each stem occurs."""
    frequency: dict[str, int] = {}
    for stems in passages:
        for stem in stems:
            frequency[stem] = frequency.get(stem, 0) + 1
    return Weights(len(passages), frequency)


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
