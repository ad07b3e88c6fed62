"""The tests of a comparison, pair by pair: pairing by question, differences, intervals and raw p-values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.measure.clusters import Floats
from core.measure.compare_eligibility import another_instrument
from core.measure.compare_side import Contender, Reading
from core.measure.paired import PairedComparison, paired_family
from core.measure.rates import mcnemar_exact, newcombe_paired, wilson
from core.measure.statistics import mean
from core.model.comparison import VALIDITY, CompareSpec, LeftOut, PairedTest, ValidityTable
from core.model.interval import Interval
from core.model.judged import UnscoredReason

Key = tuple[int, str]
"""Position of a pair, and the metric."""


@dataclass(frozen=True)
class Tested:
    """One metric of one pair before the number of tests is taken into account. Fields as in MetricComparison."""

    metric: str
    n_questions: int
    left_out: tuple[LeftOut, ...]
    a_mean: float | None = None
    b_mean: float | None = None
    difference: float | None = None
    sd: float | None = None
    """Of the questions' differences, ddof 1."""
    interval: Interval | None = None
    test: PairedTest | None = None
    p: float | None = None
    smallest_p: float = 1.0
    """What the test gives at best for so many questions."""
    why_not: str = ""


@dataclass(frozen=True)
class Paired:
    """The questions that both sides have a score for: one row of scores by run for each, NaN where there is none."""

    a: Floats
    b: Floats
    left_out: tuple[LeftOut, ...]


def tested(
    pairs: Mapping[int, tuple[Contender, Contender]], spec: CompareSpec, *, seed: int
) -> tuple[dict[Key, Tested], dict[int, ValidityTable]]:
    """Every metric of `spec` on every pair, and the tables behind McNemar's test. One sign matrix serves all pairs."""
    metrics = [metric for metric in spec.metrics if metric != VALIDITY]
    found = {
        (place, metric): paired(*_readings(a, b, metric), _labels(a, b))
        for place, (a, b) in pairs.items()
        for metric in metrics
    }
    numbers = paired_family(
        {key: (each.a, each.b) for key, each in found.items()}, resamples=spec.resamples, level=spec.level, seed=seed
    )
    results = {
        key: _by_permutation(key[1], found[key], numbers[key], another_instrument(*pairs[key[0]], key[1]), spec)
        for key in found
    }
    tables = {}
    if VALIDITY in spec.metrics:
        for place, (a, b) in pairs.items():
            results[place, VALIDITY], table = _by_mcnemar(a, b, spec.level)
            if table is not None:
                tables[place] = table
    return results, tables


def paired(a: Mapping[str, Reading], b: Mapping[str, Reading], labels: tuple[str, str]) -> Paired:
    """The questions scored on both sides, by id, and how many of the others lack what on which side."""
    both = [question for question in sorted(a.keys() & b.keys()) if a[question].is_scored and b[question].is_scored]
    missing: Counter[tuple[str, UnscoredReason | None]] = Counter()
    for question in sorted((a.keys() | b.keys()) - set(both)):
        side, readings = (0, a) if question not in a or not a[question].is_scored else (1, b)
        missing[labels[side], readings[question].reason if question in readings else None] += 1
    left_out = sorted(missing.items(), key=lambda entry: (labels.index(entry[0][0]), entry[0][1] or ""))
    return Paired(
        _matrix([a[question] for question in both]),
        _matrix([b[question] for question in both]),
        tuple(LeftOut(side=side, reason=reason, questions=count) for (side, reason), count in left_out),
    )


def _readings(a: Contender, b: Contender, metric: str) -> tuple[Mapping[str, Reading], Mapping[str, Reading]]:
    return a.readings(metric), b.readings(metric)


def _labels(a: Contender, b: Contender) -> tuple[str, str]:
    return a.side.label, b.side.label


def _matrix(readings: Sequence[Reading]) -> Floats:
    runs = max((len(reading.scores) for reading in readings), default=1)
    matrix = np.full((len(readings), runs), np.nan)
    for line, reading in zip(matrix, readings, strict=True):
        line[:] = [math.nan if score is None else score for score in reading.scores]
    return matrix


def _by_permutation(metric: str, pair: Paired, found: PairedComparison, obstacle: str, spec: CompareSpec) -> Tested:
    a_mean, b_mean = (mean([float(v) for v in np.nanmean(side, axis=1)]) for side in (pair.a, pair.b))
    untested = Tested(metric, found.questions, pair.left_out, a_mean, b_mean)
    if obstacle:
        return replace(untested, why_not=obstacle)
    if found.permutation.p is None:
        return replace(untested, difference=found.difference, why_not=_untestable(found.questions))
    exact = found.permutation.exact
    return replace(
        untested,
        difference=found.difference,
        sd=found.sd,
        interval=found.interval if isinstance(found.interval, Interval) else None,
        test=PairedTest.EXACT_PERMUTATION if exact else PairedTest.PERMUTATION,
        p=found.permutation.p,
        smallest_p=2.0 ** (1 - found.questions) if exact else 1 / (spec.resamples + 1),
    )


def _by_mcnemar(a: Contender, b: Contender, level: float) -> tuple[Tested, ValidityTable | None]:
    runs = min(a.record.runs, b.record.runs)
    pair = paired(a.readings(VALIDITY, runs), b.readings(VALIDITY, runs), _labels(a, b))
    questions = len(pair.a)
    if questions < 2:
        return Tested(VALIDITY, questions, pair.left_out, why_not=_untestable(questions)), None
    ours, theirs = (np.nanmin(side, axis=1) == 1.0 for side in (pair.a, pair.b))
    table = _table((int(np.sum(ours & theirs)), int(np.sum(ours & ~theirs)),
                    int(np.sum(~ours & theirs)), int(np.sum(~ours & ~theirs))), (a, b), runs, level)  # fmt: skip
    low, high = newcombe_paired(table.both, table.a_only, table.b_only, table.neither, level=level)
    changes = theirs.astype(np.float64) - ours
    return Tested(
        metric=VALIDITY,
        n_questions=questions,
        left_out=pair.left_out,
        a_mean=float(ours.mean()),
        b_mean=float(theirs.mean()),
        difference=(table.b_only - table.a_only) / questions,
        sd=float(changes.std(ddof=1)),
        interval=Interval(low=low, high=high, level=level),
        test=PairedTest.MCNEMAR,
        p=mcnemar_exact(table.a_only, table.b_only),
        smallest_p=2.0 ** (1 - questions),
    ), table


def _table(
    counts: tuple[int, int, int, int], sides: tuple[Contender, Contender], runs: int, level: float
) -> ValidityTable:
    both, a_only, b_only, neither = counts
    (a_valid, a_answers), (b_valid, b_answers) = map(_answers, sides)
    a_low, a_high = wilson(both + a_only, sum(counts), level=level)
    b_low, b_high = wilson(both + b_only, sum(counts), level=level)
    return ValidityTable(
        both=both,
        a_only=a_only,
        b_only=b_only,
        neither=neither,
        runs=runs,
        a_interval=Interval(low=a_low, high=a_high, level=level),
        b_interval=Interval(low=b_low, high=b_high, level=level),
        a_valid_answers=a_valid,
        a_answers=a_answers,
        b_valid_answers=b_valid,
        b_answers=b_answers,
    )


def _answers(side: Contender) -> tuple[int, int]:
    """Valid code-bearing answers and all of them."""
    scores = [score for reading in side.readings(VALIDITY).values() for score in reading.scores if score is not None]
    return int(sum(scores)), len(scores)


def _untestable(questions: int) -> str:
    """Why so few paired questions, or scores that cannot be calculated with, give no test."""
    few = {0: "no question was scored on both sides", 1: "one question alone was scored on both sides"}
    return few.get(questions, "a score is too large to calculate with")
