"""One mode of operation or two: the largest gap, Hartigan's dip, and how often the dip would notice at this N."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from core.measure.clusters import Floats, all_equal, is_finite
from core.measure.dip import dip
from core.model.degenerate import Degenerate

FEWEST_RUNS = 20
"""Below it a dip test is not assessable: of two modes SEPARATION apart it finds not one case in five."""
SEPARATION = 4.0
"""The alternative that power is stated against: two equally likely normal modes, this many of their standard
deviations apart."""
SIMULATIONS = 1999
ALPHA = 0.05


@dataclass(frozen=True)
class DipTest:
    """The dip test of unimodality. What is undefined is None, and `degenerate` says why."""

    n: int
    dip: float | None
    p: float | None
    """Against a uniform sample of this size, the least favourable single mode; None below FEWEST_RUNS values."""
    power: float | None
    """The chance to reject at .05 if there were two modes SEPARATION apart; known also where p is not assessable."""
    degenerate: Degenerate | None = None


def largest_gap_ratio(values: ArrayLike) -> float | Degenerate:
    """The largest gap between neighbours in order, over the range of `values`: 1 / (n - 1) when evenly spread.

    Near 1 the values fall into two heaps with nothing between, which a handful of values also does by chance. NaN is
    left out. Two values are TOO_FEW_RUNS: their ratio is always 1.
    """
    found = _sample(values)
    if isinstance(found, Degenerate):
        return found
    if len(found) < 3:
        return Degenerate.ONE_RUN if len(found) == 1 else Degenerate.TOO_FEW_RUNS
    if all_equal(found):
        return Degenerate.ALL_EQUAL
    ordered = np.sort(found)
    return float(np.diff(ordered).max() / (ordered[-1] - ordered[0]))


def dip_test(values: ArrayLike, *, seed: int, simulations: int = SIMULATIONS) -> DipTest:
    """Hartigan's dip test on `values` such as the means of runs: are there two modes?

    Hartigan and Hartigan, The dip test of unimodality (Ann. Stat. 13, 1985). p is the share of `simulations` uniform
    samples of the same size, drawn from `seed`, with a dip at least as large, the observed one counted among them.
    NaN is left out. Raises ValueError for no simulations.
    """
    if simulations < 1:
        raise ValueError(f"{simulations} simulations; at least one is needed")
    found = _sample(values)
    if isinstance(found, Degenerate):
        return DipTest(0, None, None, None, found)
    size = len(found)
    power = dip_power(size, seed=seed, simulations=simulations)
    if all_equal(found):
        return DipTest(size, None, None, power, Degenerate.ONE_RUN if size == 1 else Degenerate.ALL_EQUAL)
    observed = dip(found.tolist())
    if size < FEWEST_RUNS:
        return DipTest(size, observed, None, power, Degenerate.TOO_FEW_RUNS)
    p = float(_p(np.array(observed), _null(size, simulations, seed)))
    return DipTest(size, observed, p, power)


@lru_cache(maxsize=64)
def dip_power(n: int, *, seed: int, separation: float = SEPARATION, simulations: int = SIMULATIONS) -> float:
    """The chance that the dip test of `n` values rejects at .05 when they come from two modes.

    The modes are equally likely normals `separation` of their standard deviations apart; `simulations` samples are
    drawn from `seed`, each judged as `dip_test` does, at any n. Raises ValueError for no simulations.
    """
    if simulations < 1:
        raise ValueError(f"{simulations} simulations; at least one is needed")
    if n < 4:
        return 0.0
    null = _null(n, simulations, seed)
    generator = np.random.default_rng([seed, n, 1])
    modes = separation * generator.integers(0, 2, (simulations, n))
    samples = modes + generator.standard_normal((simulations, n))
    return float(np.mean(_p(_dips(samples), null) <= ALPHA))


def _p(observed: Floats, null: Floats) -> Floats:
    """Monte Carlo p with the observed value among the simulated; equal to the last digits is equal."""
    reached = len(null) - np.searchsorted(null, observed - 1e-12, side="left")
    p: Floats = (reached + 1) / (len(null) + 1)
    return p


@lru_cache(maxsize=64)
def _null(n: int, simulations: int, seed: int) -> Floats:
    """Dips of uniform samples, ascending."""
    generator = np.random.default_rng([seed, n, 0])
    return np.sort(_dips(generator.random((simulations, n))))


def _dips(samples: Floats) -> Floats:
    """Of each of `samples[sample, value]`."""
    return np.fromiter(map(dip, samples.tolist()), np.float64, len(samples))


def _sample(values: ArrayLike) -> Floats | Degenerate:
    array = np.asarray(values, dtype=np.float64).ravel()
    if not is_finite(array):
        return Degenerate.NOT_FINITE
    found: Floats = array[~np.isnan(array)]
    return found if len(found) else Degenerate.NOTHING_SCORED
