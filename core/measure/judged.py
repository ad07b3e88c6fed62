"""Arithmetic of the four judged metrics, equal to ragas 0.4.3 where that gives a number; None where it gives NaN.

Verdicts are 0 or 1 as a judge gave them. Bad input raises ValueError: a malformed reply must be unscored by whoever
read it, never turned into a score here. Sequences of any kind do, numpy arrays included; nothing heavy is imported.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from operator import mul

_PRECISION_EPSILON = 1e-10
"""ragas adds it to the number of useful passages, so that a perfect ranking scores slightly less than 1."""


def faithfulness(verdicts: Iterable[float]) -> float | None:
    """Share of the answer's statements that the context supports. None without statements."""
    return _share(_binary(verdicts, "verdicts"))


def context_recall(attributed: Iterable[float]) -> float | None:
    """Share of the reference's statements that the context holds. None without statements."""
    return _share(_binary(attributed, "attributed"))


def context_precision(verdicts: Iterable[float]) -> float | None:
    """Average precision of the passages in rank order, one verdict each: useful or not. None without passages.

    The sum of precision@i over the useful ranks i, divided by (number useful + 1e-10).
    """
    useful = _binary(verdicts, "verdicts")
    if not useful:
        return None
    found = 0
    precisions = []
    for rank, verdict in enumerate(useful, start=1):
        found += verdict
        if verdict:
            precisions.append(found / rank)
    return math.fsum(precisions) / (found + _PRECISION_EPSILON)


def answer_relevancy(
    question: Iterable[float], generated: Iterable[Iterable[float]], noncommittal: Iterable[float]
) -> float | None:
    """Mean cosine between the question and the questions generated back from the answer.

    `question` and each of `generated` are embeddings of one length; `noncommittal` has a flag for each of `generated`.
    0.0 when all flags are 1, and when nothing was generated; None when a vector has no direction (all zeros).
    """
    vectors = [_vector(vector, f"generated[{i}]") for i, vector in enumerate(generated)]
    flags = _binary(noncommittal, "noncommittal")
    asked = _vector(question, "question")
    if len(flags) != len(vectors):
        raise ValueError(f"{len(vectors)} generated questions with {len(flags)} noncommittal flags")
    for i, vector in enumerate(vectors):
        if len(vector) != len(asked):
            raise ValueError(f"generated[{i}] has {len(vector)} dimensions, the question {len(asked)}")
    if not vectors:
        return 0.0
    direction = _direction(asked)
    directions = [_direction(vector) for vector in vectors]
    known = [other for other in directions if other is not None]
    if direction is None or len(known) < len(directions):
        return None
    return 0.0 if all(flags) else math.fsum(direction.cosine(other) for other in known) / len(known)


def _share(verdicts: list[int]) -> float | None:
    return sum(verdicts) / len(verdicts) if verdicts else None


def _binary(values: Iterable[float], name: str) -> list[int]:
    checked = []
    for i, value in enumerate(values):
        if value not in (0, 1):
            raise ValueError(f"{name}[{i}] is {value!r}; a verdict is 0 or 1")
        checked.append(int(value))
    return checked


def _vector(values: Iterable[float], name: str) -> list[float]:
    vector = list(map(float, values))
    if not vector:
        raise ValueError(f"{name} has no dimensions")
    if not all(map(math.isfinite, vector)):
        i, value = next((i, value) for i, value in enumerate(vector) if not math.isfinite(value))
        raise ValueError(f"{name}[{i}] is {value!r}, not a finite number")
    return vector


@dataclass(frozen=True)
class _Direction:
    """A vector whose largest component is 1 or -1, so that no square over- or underflows, and its length."""

    vector: list[float]
    length: float

    def cosine(self, other: _Direction) -> float:
        return math.fsum(map(mul, self.vector, other.vector)) / (self.length * other.length)


def _direction(vector: list[float]) -> _Direction | None:
    """None for a vector of zeros."""
    scale = max(map(abs, vector))
    if scale == 0.0:
        return None
    scaled = [value / scale for value in vector]
    return _Direction(scaled, math.hypot(*scaled))
