"""The statistics of N runs over Q questions, metric by metric, and in words what so many cannot show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from core.measure.bootstrap import bca_intervals
from core.measure.clusters import Floats, question_means
from core.measure.modality import FEWEST_RUNS, SEPARATION, SIMULATIONS, dip_power, dip_test, largest_gap_ratio
from core.measure.power import POWER, minimum_detectable_effect
from core.measure.series import SYNTACTIC_VALIDITY, SuiteRows, observations
from core.measure.stability import flip_rate
from core.measure.statistics import standard_deviation
from core.model.degenerate import Degenerate
from core.model.evaluation import RunStatistics, SuiteSummary
from core.model.frozen import seed_for
from core.model.interval import Interval
from core.model.judged import Metric


def run_statistics(suite: SuiteRows, *, seed: int, resamples: int) -> tuple[RunStatistics, ...]:
    """Every final metric and syntactic validity. Suites and metrics have bootstraps of their own under one `seed`."""
    metrics = (*(metric.value for metric in Metric), SYNTACTIC_VALIDITY)
    scores = [_matrix(suite, metric) for metric in metrics]
    seeds = [seed_for(seed, "bootstrap", suite.suite, metric) for metric in metrics]
    intervals = bca_intervals(scores, resamples=resamples, seeds=seeds)
    return tuple(map(partial(_statistics, seed), metrics, scores, intervals))


def foresee(*, runs: int, seed: int) -> None:
    """Work out ahead what `run_statistics` takes from the number of runs alone: it is kept."""
    dip_power(runs, seed=_dip_seed(seed), simulations=SIMULATIONS)


def limits(runs: int, suites: Sequence[SuiteSummary]) -> Iterator[str]:
    """What this number of runs and questions cannot show, in words."""
    powers = [found.dip_power for suite in suites for found in suite.statistics]
    if runs < FEWEST_RUNS:
        noticed = (
            f" (two, {SEPARATION:g} standard deviations apart, would show in {max(powers):.0%} of cases)"
            if powers
            else ""
        )
        yield (
            f"{runs} runs cannot tell one mode of operation from two{noticed}; "
            f"that is not assessable below {FEWEST_RUNS}."
        )
    elif powers:
        yield (
            f"At {runs} runs the dip test notices two modes {SEPARATION:g} standard deviations apart in "
            f"{max(powers):.0%} of cases: a large p is no proof of one mode of operation."
        )
    for suite in suites:
        yield from _blur(suite)


def _blur(suite: SuiteSummary) -> Iterator[str]:
    questions = suite.metric(Metric.GLOBAL).final.n_questions
    for found in suite.statistics:
        if found.metric == Metric.GLOBAL.value and isinstance(found.detectable, float):
            yield (
                f"{suite.suite}: {questions} questions that spread like these tell the global score from a fixed value "
                f"only {found.detectable:.4f} or more away (in {POWER:.0%} of repetitions). Differences between suites "
                "on the same questions can be finer; `assay compare` says how fine."
            )


def _statistics(seed: int, metric: str, scores: Floats, interval: Interval | Degenerate) -> RunStatistics:
    flips = flip_rate(scores)
    modes = dip_test(_run_means(scores), seed=_dip_seed(seed))
    missing = modes.degenerate or Degenerate.NOTHING_SCORED
    return RunStatistics(
        metric=metric,
        bootstrap=interval,
        flip_rate=_or_reason(flips.rate, flips.degenerate),
        disagreement=_or_reason(flips.disagreement, flips.degenerate),
        largest_gap_ratio=largest_gap_ratio(_run_means(scores)),
        dip=_or_reason(modes.dip, missing),
        dip_p=_or_reason(modes.p, missing),
        dip_power=modes.power or 0.0,
        detectable=_detectable(scores),
    )


def _dip_seed(seed: int) -> int:
    return seed_for(seed, "dip")


def _matrix(suite: SuiteRows, metric: str) -> Floats:
    """Scores by question and run, NaN where there is none."""
    values = [math.nan if seen.value is None else seen.value for seen in observations(suite, metric)]
    return np.array(values, dtype=np.float64).reshape(suite.runs, len(suite.questions)).T


def _run_means(scores: Floats) -> Floats:
    return question_means(scores.T)


def _detectable(scores: Floats) -> float | Degenerate:
    means = question_means(scores)
    scored = means[~np.isnan(means)].tolist()
    return minimum_detectable_effect(standard_deviation(scored) or 0.0, len(scored))


def _or_reason(value: float | None, reason: Degenerate | None) -> float | Degenerate:
    if value is not None:
        return value
    assert reason is not None, "what is undefined has a reason"
    return reason
