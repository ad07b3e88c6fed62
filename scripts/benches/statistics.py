"""Statistics: distance from their twins in other libraries, coverage and familywise error by simulation, a campaign."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import combinations
from time import perf_counter, process_time

import numpy as np
from _bars import Bar, conclude
from _twins import deviations
from numpy.typing import NDArray

from core import measure
from core.measure.bootstrap import RESAMPLES
from core.model.interval import Interval
from core.model.specs import Comparator

SEED = 20260406
QUESTIONS, RUNS = 50, 5
SUITES, METRICS = 6, 5
CAMPAIGNS = 4_000
"""Simulated for coverage: 95 % is then known to within .7 percentage points."""
NULL_CAMPAIGNS = 2_000
ALPHA = 0.05

Scores = NDArray[np.float64]


def answers(draw: np.random.Generator, ease: Scores) -> Scores:
    """Scores by question and run around how easy each question is; the runs of one question go together."""
    suite = ease + draw.normal(0.0, 0.1, (len(ease), 1))
    return suite + draw.normal(0.0, 0.05, (len(ease), RUNS))


def coverage() -> tuple[float, float]:
    """Percentage of intervals that hold the true mean 0: clustered by question, and as if answers were independent."""
    draw = np.random.default_rng(SEED)
    clustered = independent = 0
    for _ in range(CAMPAIGNS):
        scores = draw.normal(0.0, 0.2, (QUESTIONS, 1)) + draw.normal(0.0, 0.05, (QUESTIONS, RUNS))
        interval = measure.clustered_interval(scores)
        assert interval is not None
        clustered += interval.low <= 0.0 <= interval.high
        independent += abs(scores.mean()) <= 1.96 * scores.std(ddof=1) / np.sqrt(scores.size)
    return 100 * clustered / CAMPAIGNS, 100 * independent / CAMPAIGNS


def bootstrap_coverage(campaigns: int = 1_000) -> float:
    """Percentage of BCa intervals that hold the true mean of skewed question scores."""
    draw = np.random.default_rng(SEED)
    held = 0
    for seed in range(campaigns):
        scores = draw.beta(4.0, 1.0, (QUESTIONS, 1)) + draw.normal(0.0, 0.05, (QUESTIONS, RUNS))
        interval = measure.bca_interval(scores, resamples=999, seed=seed)
        assert isinstance(interval, Interval)
        held += interval.low <= 0.8 <= interval.high
    return 100 * held / campaigns


def campaign(draw: np.random.Generator) -> dict[tuple[int, int, int], tuple[Scores, Scores]]:
    """All pairs of suites under all metrics, no suite better than another; pairs that share a suite go together."""
    ease = draw.uniform(0.4, 0.9, (QUESTIONS, 1))
    scores = [[answers(draw, ease) for _ in range(METRICS)] for _ in range(SUITES)]
    return {
        (a, b, metric): (scores[a][metric], scores[b][metric])
        for a, b in combinations(range(SUITES), 2)
        for metric in range(METRICS)
    }


def familywise_errors() -> float:
    """Percentage of campaigns without any difference in which one is claimed all the same."""
    draw = np.random.default_rng(SEED)
    claimed = 0
    for seed in range(NULL_CAMPAIGNS):
        if seed % 250 == 0:
            print(f"     {seed:,} of {NULL_CAMPAIGNS:,} null campaigns", file=sys.stderr, flush=True)
        family = measure.paired_family(campaign(draw), resamples=RESAMPLES, seed=seed)
        claimed += any((found.p_adjusted or 0.0) <= ALPHA for found in family.values())
    return 100 * claimed / NULL_CAMPAIGNS


def seconds_for_a_campaign() -> tuple[float, float]:
    """Wall clock and processor time of all comparisons of one campaign and the bootstrap of each of its suites."""
    pairs = campaign(np.random.default_rng(SEED))
    suites = {(a, metric): pair[0] for (a, _, metric), pair in pairs.items()}
    suites |= {(b, metric): pair[1] for (_, b, metric), pair in pairs.items()}
    started, burnt = perf_counter(), process_time()
    family = measure.paired_family(pairs, resamples=RESAMPLES, seed=SEED)
    intervals = [measure.bca_interval(scores, resamples=RESAMPLES, seed=SEED) for scores in suites.values()]
    assert (len(family), len(intervals)) == (75, 30)
    return perf_counter() - started, process_time() - burnt


def bars() -> Iterator[Bar]:
    """Every measurement, as it comes."""
    for name, deviation in deviations(SEED):
        yield Bar(f"{name}: off by at most", deviation / 1e-12, Comparator.AT_MOST, 1, "1e-12")
    wall, burnt = seconds_for_a_campaign()
    yield Bar("15 pairs x 5 metrics, 9,999 resamples", wall, Comparator.AT_MOST, 10, "s")
    yield Bar("the same, processor time", burnt, Comparator.AT_MOST, 20, "s CPU")
    clustered, independent = coverage()
    yield Bar("95 % clustered interval covers, 50 x 5", clustered, Comparator.AT_LEAST, 93, "%")
    yield Bar("95 % clustered interval covers, 50 x 5", clustered, Comparator.AT_MOST, 97, "%")
    yield Bar("as if independent (what clustering repairs)", independent, Comparator.AT_MOST, 70, "%")
    yield Bar("95 % BCa interval covers, skewed scores", bootstrap_coverage(), Comparator.AT_LEAST, 92, "%")
    yield Bar("null campaigns with a claim, after Holm", familywise_errors(), Comparator.AT_MOST, 6, "%")


if __name__ == "__main__":
    conclude(bars())
