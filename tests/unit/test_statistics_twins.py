"""Every statistic that scipy, statsmodels or diptest computes as well, beside theirs: equal to 1e-12."""

from __future__ import annotations

import math

import diptest
import numpy as np
import pytest
from scipy import stats
from statsmodels.api import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from core import measure
from core.measure.clusters import Floats
from core.measure.dip import dip
from core.model.degenerate import Degenerate
from core.model.interval import Interval

SEEDS = range(8)


def exactly(expected: float | tuple[float, ...]) -> object:
    return pytest.approx(expected, rel=1e-12, abs=1e-12)


def pair(seed: int, questions: int = 30, runs: int = 5) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(seed)
    ease = generator.normal(0.6, 0.2, (questions, 1))
    a = ease + generator.normal(0, 0.1, (questions, runs))
    return a, ease + generator.normal(0.03, 0.1, (questions, runs))


def with_gaps(scores: Floats, seed: int) -> Floats:
    """Some scores missing, and one question altogether."""
    gaps = np.where(np.random.default_rng(seed).random(scores.shape) < 0.3, np.nan, scores)
    gaps[3] = np.nan
    return gaps


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gaps", [False, True])
def test_clustered_error_and_interval(seed: int, gaps: bool) -> None:
    scores = with_gaps(pair(seed)[0], seed) if gaps else pair(seed)[0]
    question, run = np.nonzero(~np.isnan(scores))
    values = scores[question, run]
    twin = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": question}, use_t=True)
    found = measure.clustered_mean(scores)
    assert found.mean == exactly(twin.params[0])
    assert found.error == measure.cluster_standard_error(scores) == exactly(twin.bse[0])
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == exactly(tuple(twin.conf_int()[0]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_bca(seed: int, level: float) -> None:
    scores = pair(seed)[0]
    twin = stats.bootstrap(
        (scores.mean(axis=1),), np.mean, n_resamples=999, confidence_level=level, method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval  # fmt: skip
    found = measure.bca_interval(scores, resamples=999, level=level, seed=seed)
    assert isinstance(found, Interval)
    assert (found.low, found.high) == exactly((twin.low, twin.high))


@pytest.mark.parametrize("seed", SEEDS)
def test_bca_with_missing_scores(seed: int) -> None:
    scores = with_gaps(pair(seed)[0], seed)
    kept = scores[~np.isnan(scores).all(axis=1)]

    def mean_of_rows(rows: np.ndarray) -> float:
        return float(np.nanmean(kept[rows.astype(int)]))

    twin = stats.bootstrap(
        (np.arange(len(kept)),), mean_of_rows, n_resamples=299, vectorized=False, method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval  # fmt: skip
    found = measure.bca_interval(scores, resamples=299, seed=seed)
    assert isinstance(found, Interval)
    assert (found.low, found.high) == exactly((twin.low, twin.high))


@pytest.mark.parametrize("seed", SEEDS)
def test_paired_t_and_its_interval(seed: int) -> None:
    a, b = pair(seed)
    twin = stats.ttest_rel(b.mean(axis=1), a.mean(axis=1))
    found, interval = measure.paired_t(a, b), measure.paired_interval(a, b, level=0.9)
    assert (found.t, found.p, found.df) == exactly((twin.statistic, twin.pvalue, twin.df))
    assert isinstance(interval, Interval)
    assert (interval.low, interval.high) == exactly(tuple(twin.confidence_interval(0.9)))
    assert found.difference == exactly(b.mean() - a.mean())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("questions", [2, 5, 12])
def test_permutation_by_enumeration(seed: int, questions: int) -> None:
    a, b = pair(seed, questions)
    twin = stats.permutation_test(
        (b.mean(axis=1), a.mean(axis=1)), lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples", vectorized=True, n_resamples=np.inf,
    )  # fmt: skip
    found = measure.paired_permutation(a, b, seed=seed)
    assert found.exact
    assert found.p == exactly(twin.pvalue)
    assert found.difference == exactly(twin.statistic)


def test_permutation_by_sampling_is_near_what_enumeration_gives() -> None:
    a, b = pair(5, questions=14)
    exact = measure.paired_permutation(a, b, resamples=2**14, seed=0)
    drawn = [measure.paired_permutation(a, b, resamples=9999, seed=seed) for seed in range(20)]
    assert exact.exact
    assert exact.p is not None
    assert not any(found.exact for found in drawn)
    error = math.sqrt(exact.p * (1 - exact.p) / 9999)
    assert all(found.p == pytest.approx(exact.p, abs=4 * error) for found in drawn)


@pytest.mark.parametrize(("a_only", "b_only"), [(0, 0), (0, 1), (3, 9), (9, 3), (5, 5), (0, 20), (40, 61)])
def test_mcnemar(a_only: int, b_only: int) -> None:
    twin = mcnemar([[7, a_only], [b_only, 4]], exact=True).pvalue
    assert measure.mcnemar_exact(a_only, b_only) == exactly(float(twin))


COUNTS = [(0, 1), (1, 1), (0, 50), (50, 50), (1, 50), (33, 50), (199, 250)]


@pytest.mark.parametrize(("successes", "n"), COUNTS)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_wilson(successes: int, n: int, level: float) -> None:
    twin = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    assert measure.wilson(successes, n, level=level) == exactly(twin)


@pytest.mark.parametrize("a", COUNTS)
@pytest.mark.parametrize("b", COUNTS)
def test_newcombe(a: tuple[int, int], b: tuple[int, int]) -> None:
    twin = confint_proportions_2indep(*b, *a, method="newcomb", compare="diff")
    assert measure.newcombe(*a, *b) == exactly(twin)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tests", [1, 2, 75])
def test_holm(seed: int, tests: int) -> None:
    p_values = np.random.default_rng(seed).random(tests) ** 3
    p_values[tests // 2 :] = np.round(p_values[tests // 2 :], 2)
    assert measure.holm(p_values.tolist()) == exactly(tuple(multipletests(p_values, method="holm")[1]))


@pytest.mark.parametrize("questions", [2, 5, 30, 50, 1000])
@pytest.mark.parametrize("size", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_power(questions: int, size: float, alpha: float) -> None:
    twin = float(TTestPower().power(size, questions, alpha))
    found = measure.paired_power(-0.2 * size, 0.2, questions, alpha=alpha)
    assert found == exactly(twin) if math.isfinite(twin) else found == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("questions", [2, 5, 30, 50, 1000])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.99])
def test_detectable_effect(questions: int, power: float) -> None:
    found = measure.minimum_detectable_effect(0.2, questions, power=power)
    assert isinstance(found, float)
    twin = float(TTestPower().power(found / 0.2, questions, 0.05))
    assert twin == exactly(power) if math.isfinite(twin) else questions == 2
    assert measure.paired_power(found, 0.2, questions) == exactly(power)


@pytest.mark.parametrize("effect", [0.0275, 0.05, 0.1, 0.4])
def test_questions_needed(effect: float) -> None:
    twin = TTestPower().solve_power(effect_size=effect / 0.2, alpha=0.05, power=0.8)
    assert measure.questions_needed(effect, 0.2) == math.ceil(float(twin))


@pytest.mark.parametrize("seed", range(40))
def test_dip(seed: int) -> None:
    generator = np.random.default_rng(seed)
    size = int(generator.integers(4, 90))
    for values in (
        generator.random(size),
        generator.normal(size=size),
        4 * generator.integers(0, 2, size) + generator.normal(size=size),
        generator.integers(0, 6, size).astype(float),
    ):
        assert dip(values.tolist()) == exactly(diptest.dipstat(values, allow_zero=False))


def test_dip_p_is_near_the_published_table() -> None:
    values = np.random.default_rng(3).normal(size=40) + 4 * np.arange(40) // 20
    found = measure.dip_test(values, seed=1)
    assert found.p == pytest.approx(diptest.diptest(values)[1], abs=0.03)
    assert found.degenerate is None


def test_newcombe_paired_falls_back_on_independent_ones_without_correlation() -> None:
    assert measure.newcombe_paired(25, 25, 25, 25) == measure.newcombe(50, 100, 50, 100)
    assert not isinstance(measure.bca_interval(pair(0)[0], seed=0), Degenerate)
