"""Sign flips of paired differences, for one pair or many at once with the same signs.

Under the hypothesis that a question's two scores could as well have come from the other side, each difference is as
likely to be its opposite (Fisher, The Design of Experiments, 1935, chapter III). Only the sizes of the differences
enter: the p value is the same for either order of the pair and for any order of the questions, and adding pairs to a
family changes none of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.measure.clusters import Floats

_PAIRS = 256
"""Pairs whose sums are held at a time: 20 MB at 9,999 resamples."""
_QUESTIONS = 128
"""Questions whose signs are held at a time: 10 MB at 9,999 resamples."""


@dataclass(frozen=True)
class Flipped:
    """A two-sided p value and whether it comes from all sign patterns or from a sample of them."""

    p: float
    exact: bool


def sign_flips(differences: Sequence[Floats], *, resamples: int, seed: int) -> tuple[Flipped, ...]:
    """The p value of each set of finite differences that their mean is zero; each has at least one.

    All 2^n patterns where they are no more than `resamples`; else `resamples` patterns drawn from `seed`, and the
    observed one is counted among them: (hits + 1) / (resamples + 1), which cannot be 0 (Phipson and Smyth, Stat. Appl.
    Genet. Mol. Biol. 9, 2010). Raises ValueError for no resamples.
    """
    if resamples < 1:
        raise ValueError(f"{resamples} resamples; at least one is needed")
    sizes = [np.sort(np.abs(each))[::-1] for each in differences]
    found: dict[int, Flipped] = {}
    sampled = []
    for place, values in enumerate(sizes):
        if 2 ** len(values) <= resamples:
            found[place] = Flipped(_exact(values, differences[place]), exact=True)
        else:
            sampled.append(place)
    for start in range(0, len(sampled), _PAIRS):
        chunk = sampled[start : start + _PAIRS]
        hits = _hits([sizes[place] for place in chunk], [differences[place] for place in chunk], resamples, seed)
        for place, count in zip(chunk, hits, strict=True):
            found[place] = Flipped((count + 1) / (resamples + 1), exact=False)
    return tuple(found[place] for place in range(len(sizes)))


def _exact(sizes: Floats, differences: Floats) -> float:
    questions = len(sizes)
    patterns = np.arange(2**questions)[:, None] >> np.arange(questions) & 1
    sums = (1.0 - 2.0 * patterns) @ sizes
    return float(np.mean(np.abs(sums) >= _reached(sizes, differences)))


def _hits(sizes: Sequence[Floats], differences: Sequence[Floats], resamples: int, seed: int) -> list[int]:
    """How many drawn patterns reach what was observed, for each set of differences."""
    padded = np.zeros((len(sizes), max(map(len, sizes))))
    for line, values in zip(padded, sizes, strict=True):
        line[: len(values)] = values
    sums = np.zeros((len(sizes), resamples))
    start = 0
    for signs in _signs(padded.shape[1], resamples, seed):
        sums += padded[:, start : start + len(signs)] @ signs
        start += len(signs)
    reached = [_reached(*each) for each in zip(sizes, differences, strict=True)]
    return [int(count) for count in (np.abs(sums) >= np.array(reached)[:, None]).sum(axis=1)]


def _signs(questions: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Signs by question x resample, in blocks of questions. Each question is drawn by itself: more do not move it."""
    generator = np.random.default_rng(seed)
    for start in range(0, questions, _QUESTIONS):
        rows = range(start, min(start + _QUESTIONS, questions))
        drawn = np.stack([generator.integers(0, 2, resamples, dtype=np.int8) for _ in rows])
        yield 1.0 - 2.0 * drawn.astype(np.float64)


def _reached(sizes: Floats, differences: Floats) -> float:
    """The size of the observed sum, less what adding in another order can change: ties must count as ties."""
    slack = len(sizes) * np.finfo(np.float64).eps * sizes.sum()
    return float(abs(differences.sum()) - 2 * slack)
