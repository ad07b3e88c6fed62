"""Jensen-Shannon divergences between word distributions, with the floor that chance alone reaches.

Each question weighs the same: its distribution is that of its words over all runs, and a side is the mean of its
questions. Exchanging the two sides of random questions leaves a difference that chance made; the mean of many such is
the floor (a permutation test that respects that runs of one question belong together). The plug-in divergence of finite
samples is too large, and by much where most words are rare; the floor is too large by as much. The interval is the
jackknife's over questions (Tukey, Ann. Math. Stat. 29, 1958), of the divergence that as many questions with as many
words show; bootstrap samples repeat questions, and would add to the bias.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from core.measure.clusters import Floats
from core.measure.leakage.table import Table
from core.measure.leakage.words import words
from core.model.frozen import seed_for
from core.model.interval import Interval
from core.model.leakage import Arm, AuditedRow, AuditSpec, Divergence
from core.model.sample import Passage

_BATCH = 64
"""Exchanged samples held at a time: 64 x 10,000 words are 5 MB."""
Texts = Callable[[AuditedRow], Sequence[str]]


@dataclass(frozen=True)
class Side:
    """One side of a comparison: which answers, and which text of each."""

    name: str
    arm: Arm
    texts: Texts


def _answer(row: AuditedRow) -> Sequence[str]:
    return words(row.answer)


def _shown(passages: Iterable[Passage]) -> list[str]:
    return [word for passage in passages for text in (passage.text, passage.code) for word in words(text)]


FULL = Side("answers", Arm.BOTH, _answer)
CONTROL = Side("answers without documents and examples", Arm.NEITHER, _answer)
CONTEXT = Side("retrieved passages", Arm.BOTH, lambda row: _shown(row.passages))
EXAMPLES = Side("few-shot examples", Arm.BOTH, lambda row: _shown(row.examples))
PAIRS = ((FULL, CONTEXT), (CONTROL, CONTEXT), (FULL, EXAMPLES), (CONTROL, EXAMPLES), (FULL, CONTROL))
"""An answer that draws on its context is nearer to it than the control is, which never saw it."""


def divergences(table: Table, spec: AuditSpec, seed: int) -> tuple[Divergence, ...]:
    """Every pair of PAIRS."""
    return tuple(_divergence(table, a, b, spec, seed_for(seed, "divergence", a.name, b.name)) for a, b in PAIRS)


def bits(p: Floats, q: Floats) -> Floats:
    """Jensen-Shannon divergence in bits of distributions along the last axis (Lin, IEEE Trans. Inf. Th. 37, 1991)."""
    middle = (p + q) / 2
    return np.asarray(np.maximum(_entropy(middle) - (_entropy(p) + _entropy(q)) / 2, 0.0))


def _entropy(p: Floats) -> Floats:
    logs = np.log2(p, out=np.zeros_like(p), where=p > 0)
    return np.asarray(-np.sum(p * logs, axis=-1))


def _divergence(table: Table, a: Side, b: Side, spec: AuditSpec, seed: int) -> Divergence:
    left, right = _by_question(table, a), _by_question(table, b)
    both = [question.id for question in table.questions if question.id in left and question.id in right]
    if len(both) < 2:
        return Divergence(
            a=a.name, b=b.name, n_questions=len(both), bits=None, interval=None, floor=None, above_floor=None,
            floor_high=None, p=None,
        )  # fmt: skip
    ps, qs = _distributions([left[q] for q in both], [right[q] for q in both])
    observed = float(bits(ps.mean(axis=0), qs.mean(axis=0)))
    exchanged = _exchanged(ps, qs, spec.divergence_resamples, seed)
    return Divergence(
        a=a.name,
        b=b.name,
        n_questions=len(both),
        bits=observed,
        interval=_jackknife(ps, qs, observed),
        floor=float(exchanged.mean()),
        above_floor=observed - float(exchanged.mean()),
        floor_high=float(np.quantile(exchanged, 0.95)),
        p=(1 + int((exchanged >= observed - 1e-12).sum())) / (1 + len(exchanged)),
    )


def _by_question(table: Table, side: Side) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    for row in table.of(side.arm):
        counts.setdefault(row.id, Counter()).update(side.texts(row))
    return {question: found for question, found in counts.items() if found}


def _distributions(left: Sequence[Mapping[str, int]], right: Sequence[Mapping[str, int]]) -> tuple[Floats, Floats]:
    """Both sides as questions x words, rows summing to 1, over the words of either."""
    places = {word: at for at, word in enumerate(sorted({word for side in (left, right) for c in side for word in c}))}
    return _matrix(left, places), _matrix(right, places)


def _matrix(counts: Sequence[Mapping[str, int]], places: Mapping[str, int]) -> Floats:
    matrix = np.zeros((len(counts), len(places)))
    for line, found in zip(matrix, counts, strict=True):
        for word, count in found.items():
            line[places[word]] = count
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))


def _exchanged(ps: Floats, qs: Floats, resamples: int, seed: int) -> Floats:
    """Divergences after the sides of random questions were exchanged."""
    generator = np.random.default_rng(seed)
    moved, total = (qs - ps) / len(ps), (ps + qs).mean(axis=0)
    found = []
    for start in range(0, resamples, _BATCH):
        flips = generator.integers(0, 2, (min(_BATCH, resamples - start), len(ps))).astype(np.float64)
        one = np.maximum(ps.mean(axis=0) + flips @ moved, 0.0)
        found.append(bits(one, np.maximum(total - one, 0.0)))
    return np.concatenate(found)


def _jackknife(ps: Floats, qs: Floats, observed: float) -> Interval:
    """`observed` -/+ t(questions - 1) times the jackknife's error, leaving out one question at a time."""
    count = len(ps)
    without = bits((ps.sum(axis=0) - ps) / (count - 1), (qs.sum(axis=0) - qs) / (count - 1))
    error = math.sqrt((count - 1) / count * float(((without - without.mean()) ** 2).sum()))
    reach = float(stdtrit(count - 1, 0.975)) * error
    return Interval(low=max(0.0, observed - reach), high=min(1.0, observed + reach))
