"""How far each statistic is from the same one in scipy, statsmodels or diptest, over seeded data of many shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import diptest
import numpy as np
from numpy.typing import NDArray
from scipy import stats
from statsmodels.api import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from core import measure
from core.measure.dip import dip
from core.model.interval import Interval

TRIALS = 60
Values = Iterable[float]
Twin = Callable[[np.random.Generator], tuple[Values, Values]]
"""One draw: our numbers and theirs."""


def deviations(seed: int) -> Iterator[tuple[str, float]]:
    """The name of each twin and the largest absolute deviation over TRIALS draws."""
    for name, twin in TWINS.items():
        draw = np.random.default_rng(seed)
        yield name, max(_distance(*twin(draw)) for _ in range(TRIALS))


def _distance(ours: Values, theirs: Values) -> float:
    return max(abs(a - b) for a, b in zip(ours, theirs, strict=True))


def _scores(draw: np.random.Generator, *, questions: int = 0) -> NDArray[np.float64]:
    shape = (questions or int(draw.integers(3, 60)), int(draw.integers(1, 7)))
    return draw.uniform(0.2, 0.9, (shape[0], 1)) + draw.normal(0.0, 0.1, shape)


def _pair(draw: np.random.Generator, *, questions: int = 0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a = _scores(draw, questions=questions)
    return a, a + draw.normal(0.02, 0.1, a.shape)


def _ends(interval: object) -> Values:
    assert isinstance(interval, Interval)
    return interval.low, interval.high


def _clustered(draw: np.random.Generator) -> tuple[Values, Values]:
    scores = _scores(draw)
    scores[1:][draw.random(scores[1:].shape) < 0.2] = np.nan
    scores[-1, 0] = 0.5
    groups, runs = np.nonzero(~np.isnan(scores))
    values = scores[groups, runs]
    fit = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    found = measure.clustered_mean(scores)
    assert found.error is not None
    return (found.error, *_ends(found.interval)), (fit.bse[0], *fit.conf_int()[0])


def _bca(draw: np.random.Generator) -> tuple[Values, Values]:
    scores, seed = _scores(draw), int(draw.integers(1_000_000))
    theirs = stats.bootstrap(
        (scores.mean(axis=1),), np.mean, n_resamples=999, method="BCa", rng=np.random.default_rng(seed)
    )
    return _ends(measure.bca_interval(scores, resamples=999, seed=seed)), theirs.confidence_interval


def _paired_t(draw: np.random.Generator) -> tuple[Values, Values]:
    a, b = _pair(draw)
    theirs = stats.ttest_rel(b.mean(axis=1), a.mean(axis=1))
    found = measure.paired_t(a, b)
    assert found.t is not None
    assert found.p is not None
    ours = (found.t, found.p, *_ends(measure.paired_interval(a, b)))
    return ours, (theirs.statistic, theirs.pvalue, *theirs.confidence_interval(0.95))


def _permutation(draw: np.random.Generator) -> tuple[Values, Values]:
    a, b = _pair(draw, questions=int(draw.integers(2, 13)))
    theirs = stats.permutation_test(
        (b.mean(axis=1), a.mean(axis=1)), lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples", n_resamples=np.inf,
    )  # fmt: skip
    found = measure.paired_permutation(a, b, seed=0)
    assert found.p is not None
    return (found.p,), (theirs.pvalue,)


def _mcnemar(draw: np.random.Generator) -> tuple[Values, Values]:
    a, b = (int(count) for count in draw.integers(0, 80, 2))
    return (measure.mcnemar_exact(a, b),), (mcnemar([[3, a], [b, 5]], exact=True).pvalue,)


def _counts(draw: np.random.Generator) -> tuple[int, int]:
    n = int(draw.integers(1, 300))
    return int(draw.integers(0, n + 1)), n


def _wilson(draw: np.random.Generator) -> tuple[Values, Values]:
    successes, n = _counts(draw)
    return measure.wilson(successes, n), proportion_confint(successes, n, method="wilson")


def _newcombe(draw: np.random.Generator) -> tuple[Values, Values]:
    a, b = _counts(draw), _counts(draw)
    return measure.newcombe(*a, *b), confint_proportions_2indep(*b, *a, method="newcomb", compare="diff")


def _holm(draw: np.random.Generator) -> tuple[Values, Values]:
    p_values = np.round(draw.random(75) ** 3, 3)
    return [p or 0.0 for p in measure.holm(p_values.tolist())], multipletests(p_values, method="holm")[1]


def _power(draw: np.random.Generator) -> tuple[Values, Values]:
    size, questions = float(draw.uniform(0.01, 0.6)), int(draw.integers(5, 200))
    found = measure.paired_power(size, 1.0, questions)
    detectable = measure.minimum_detectable_effect(1.0, questions)
    assert isinstance(found, float)
    assert isinstance(detectable, float)
    twin = TTestPower()
    return (found, 0.8), (twin.power(size, questions, 0.05), twin.power(detectable, questions, 0.05))


def _dip(draw: np.random.Generator) -> tuple[Values, Values]:
    size = int(draw.integers(4, 120))
    values = draw.normal(size=size) + 3.0 * draw.integers(0, 2, size)
    if draw.random() < 0.5:
        values = np.round(values, 1)
    return (dip(values.tolist()),), (diptest.dipstat(values, allow_zero=False),)


TWINS: dict[str, Twin] = {
    "clustered error, statsmodels OLS": _clustered,
    "BCa, scipy bootstrap": _bca,
    "paired t, scipy ttest_rel": _paired_t,
    "permutation, scipy permutation_test": _permutation,
    "McNemar, statsmodels": _mcnemar,
    "Wilson, statsmodels": _wilson,
    "Newcombe, statsmodels": _newcombe,
    "Holm, statsmodels": _holm,
    "power and MDE, statsmodels TTestPower": _power,
    "dip, diptest": _dip,
}
