"""Rankings: fusing them, and how much of what should be found they hold."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

RRF_K = 60
"""The constant of Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion" (SIGIR 2009)."""

CHUNK_MARK = "~"
"""Separates a section's id from the number of one of its chunks: `reference/loops#range~2`."""


def reciprocal_rank_fusion(rankings: Iterable[Sequence[str]], k: int = RRF_K) -> list[tuple[str, float]]:
    """Fuse rankings (best first): score(x) = sum over the rankings that hold x of 1 / (k + rank), ranks from 1.

    Best first, equal scores by id, so that the order of the rankings does not matter. An id that a ranking repeats
    counts at its best rank. Raises ValueError for k below 0.
    """
    if k < 0:
        raise ValueError(f"k is {k}; it must not be negative")
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            shares[item].append(1.0 / (k + rank))
    scores = [(item, math.fsum(parts)) for item, parts in shares.items()]
    return sorted(scores, key=lambda entry: (-entry[1], entry[0]))


def section_of(passage_id: str) -> str:
    """The corpus section that a passage was cut from: the id without its chunk number."""
    return passage_id.partition(CHUNK_MARK)[0]


def section_recall(gold: Collection[str], retrieved: Iterable[str]) -> float | None:
    """Share of the gold sections of which at least one chunk was retrieved; None when there is no gold section."""
    if not gold:
        return None
    wanted = set(gold)
    return len(wanted.intersection(map(section_of, retrieved))) / len(wanted)


def reciprocal_rank(gold: Collection[str], retrieved: Iterable[str]) -> float | None:
    """1 / rank of the first chunk of a gold section, 0 when there is none; None when there is no gold section."""
    if not gold:
        return None
    ranks = (rank for rank, passage in enumerate(retrieved, start=1) if section_of(passage) in gold)
    return next((1.0 / rank for rank in ranks), 0.0)
