"""What holds of the statistics whatever the scores: degenerate ones are named, order and names change nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core import measure
from core.measure.clusters import Floats
from core.measure.dip import dip
from core.measure.permutation import sign_flips
from core.model.degenerate import Degenerate
from core.model.interval import Interval

values = st.one_of(
    st.floats(0, 1),
    st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0, math.nan, math.inf, -math.inf, 1e308, -1e99, 5e-324]),
)
finite = st.floats(-1, 1).map(lambda value: round(value, 3))


@st.composite
def matrices(draw: st.DrawFn, of: st.SearchStrategy[float] = values, least: int = 0, axes: int = 2) -> Floats:
    """Scores by question, run and further axes, any of them empty where `least` allows."""
    shape = (draw(st.integers(least, 8)), *(draw(st.integers(min(least, 1), 4)) for _ in range(axes - 1)))
    flat = draw(st.lists(of, min_size=math.prod(shape), max_size=math.prod(shape)))
    return np.array(flat, dtype=np.float64).reshape(shape)


@st.composite
def pairs(draw: st.DrawFn, of: st.SearchStrategy[float] = values, least: int = 0) -> tuple[Floats, Floats]:
    """The same questions twice, over as many runs as either side has."""
    a, b = draw(matrices(of, least)), draw(matrices(of, least))
    return a[: len(b)], b[: len(a)]


def numbers(found: object) -> list[float]:
    """Every number inside a result."""
    if isinstance(found, Interval):
        return [found.low, found.high]
    if is_dataclass(found) and not isinstance(found, type):
        return numbers(list(asdict(found).values()))
    if isinstance(found, dict):
        return numbers(list(found.values()))
    if isinstance(found, (list, tuple)):
        return [number for each in found for number in numbers(each)]
    return [float(found)] if isinstance(found, (int, float)) else []


class TestWhateverTheScores:
    """No function raises, and none says NaN or infinity: what is undefined has its name."""

    @given(matrices())
    @example(np.empty((0, 0)))
    @example(np.full((3, 2), np.nan))
    @example(np.array([[0.1], [0.1 + 1e-17], [0.3 - 0.2]]))
    @example(np.array([[0.0], [5e-324]]))
    @settings(deadline=None)
    def test_of_one_suite(self, scores: Floats) -> None:
        for found in (
            measure.clustered_mean(scores),
            measure.bca_interval(scores, resamples=19, seed=1),
            measure.flip_rate(scores),
            measure.largest_gap_ratio(scores),
            measure.dip_test(scores, seed=1, simulations=19),
            measure.variance_components(scores),
        ):
            assert all(map(math.isfinite, numbers(found)))

    @given(matrices(axes=3))
    def test_of_repeated_judging(self, scores: Floats) -> None:
        assert all(map(math.isfinite, numbers(measure.variance_components(scores))))

    @given(pairs())
    @example((np.empty((0, 1)), np.empty((0, 1))))
    @settings(deadline=None)
    def test_of_two(self, pair: tuple[Floats, Floats]) -> None:
        found = measure.paired_family({"only": pair}, resamples=19, seed=1)["only"]
        assert all(map(math.isfinite, numbers(found)))
        for test in (found.t, found.permutation):
            assert test.p is not None or test.degenerate is not None
            assert test.p is None or 0.0 <= test.p <= 1.0

    @given(st.floats(0, 1e9), st.floats(0, 1e6), st.integers(0, 100_000))
    @example(1e-300, 1.0, 2)
    @example(1e9, 1e-9, 2)
    @settings(deadline=None)
    def test_of_plans(self, effect: float, sd: float, questions: int) -> None:
        plans = (
            measure.paired_power(effect, sd, questions),
            measure.minimum_detectable_effect(sd, questions),
            measure.questions_needed(effect, sd),
        )
        assert all(isinstance(found, Degenerate) or math.isfinite(found) for found in plans)

    @given(st.integers(0, 400), st.integers(0, 400), st.integers(0, 400), st.integers(0, 400))
    def test_of_counts(self, one: int, two: int, three: int, four: int) -> None:
        shares = measure.newcombe_paired(one, two, three, four)
        apart = measure.newcombe(one, one + two, three, three + four)
        assert all(-1.0 <= low <= high <= 1.0 for low, high in (shares, apart))
        assert 0.0 < measure.mcnemar_exact(one, two) <= 1.0


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (np.empty((0, 5)), Degenerate.NOTHING_SCORED),
        (np.full((4, 2), np.nan), Degenerate.NOTHING_SCORED),
        (np.array([[0.1, 0.9]]), Degenerate.ONE_QUESTION),
        (np.array([[0.1], [math.inf]]), Degenerate.NOT_FINITE),
        (np.full((50, 5), 0.7), Degenerate.ALL_EQUAL),
        (np.array([[0.1, 0.2, 0.3]] * 7) + 0.2, Degenerate.ALL_EQUAL),
    ],
)
class TestNames:
    def test_of_an_interval(self, scores: Floats, reason: Degenerate) -> None:
        assert measure.bca_interval(scores, seed=1) is reason

    def test_of_a_pair(self, scores: Floats, reason: Degenerate) -> None:
        a = np.where(np.isinf(scores), 0.0, scores - 0.05)
        found = measure.paired_family({0: (a, scores)}, seed=1)[0]
        assert found.t.degenerate is reason
        assert (found.t.p, found.t.t) == (None, None)
        assert found.minimum_detectable_effect is reason
        assert isinstance(found.interval, Degenerate) == (reason is not Degenerate.ALL_EQUAL)
        if reason is Degenerate.ALL_EQUAL:
            assert found.difference == pytest.approx(0.05)
            assert found.permutation.degenerate is None, "how often signs agree is defined without any spread"
        else:
            assert (found.permutation.p, found.permutation.degenerate) == (None, reason)


def test_equal_sides_differ_by_nothing_with_certainty() -> None:
    scores = np.random.default_rng(1).random((20, 5))
    found = measure.paired_permutation(scores, scores, seed=1)
    assert (found.difference, found.p, found.degenerate) == (0.0, 1.0, Degenerate.ALL_EQUAL)


def test_reasons_of_one_suite() -> None:
    assert measure.flip_rate([[1.0], [0.0]]).degenerate is Degenerate.ONE_RUN
    assert measure.flip_rate(np.empty((0, 5))).degenerate is Degenerate.NOTHING_SCORED
    assert measure.largest_gap_ratio([0.4, math.nan]) is Degenerate.ONE_RUN
    assert measure.largest_gap_ratio([0.4, 0.5]) is Degenerate.TOO_FEW_RUNS
    assert measure.largest_gap_ratio([0.4] * 5) is Degenerate.ALL_EQUAL
    assert measure.variance_components([[0.1], [0.2]]).degenerate is Degenerate.ONE_RUN
    assert measure.variance_components([[0.1, 0.2]]).degenerate is Degenerate.ONE_QUESTION
    assert measure.variance_components(np.full((3, 3, 3), 0.1)).degenerate is Degenerate.ALL_EQUAL
    assert measure.minimum_detectable_effect(0.0, 50) is Degenerate.ALL_EQUAL
    assert measure.minimum_detectable_effect(0.1, 1) is Degenerate.ONE_QUESTION
    assert measure.questions_needed(0.0, 0.1) is Degenerate.OUT_OF_REACH


class TestIntervals:
    @given(matrices(st.floats(0, 1), least=2))
    @settings(deadline=None)
    def test_clustered_ones_are_centred_and_hold_the_mean(self, scores: Floats) -> None:
        found = measure.clustered_mean(scores)
        assert found.interval is not None
        assert found.mean is not None
        assert found.interval.low <= found.mean <= found.interval.high

    @given(matrices(st.floats(0, 1), least=2))
    @settings(deadline=None)
    def test_bootstrapped_ones_stay_where_the_question_means_are(self, scores: Floats) -> None:
        found = measure.bca_interval(scores, resamples=99, seed=1)
        if isinstance(found, Interval):
            means = scores.mean(axis=1)
            assert means.min() - 1e-12 <= found.low <= found.high <= means.max() + 1e-12

    @given(st.integers(0, 300), st.integers(1, 300))
    def test_of_a_fraction_hold_it_and_narrow_with_the_level(self, successes: int, n: int) -> None:
        successes = min(successes, n)
        low, high = measure.wilson(successes, n)
        inner = measure.wilson(successes, n, level=0.5)
        assert 0.0 <= low <= inner[0] <= successes / n <= inner[1] <= high <= 1.0
        mirrored = measure.wilson(n - successes, n)
        assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high))

    @given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
    def test_of_two_fractions_hold_their_difference(self, both: int, a: int, b: int, neither: int) -> None:
        low, high = measure.newcombe_paired(both, a, b, neither)
        swapped = measure.newcombe_paired(both, b, a, neither)
        assert swapped == pytest.approx((-high, -low))
        n = both + a + b + neither
        assert n == 0 or low <= (b - a) / n <= high


class TestPairs:
    @given(pairs(finite, least=2))
    @settings(deadline=None)
    def test_swapping_the_sides_changes_the_sign_and_no_p(self, pair: tuple[Floats, Floats]) -> None:
        a, b = pair
        for seed in (1, 2):
            forth = measure.paired_permutation(a, b, resamples=49, seed=seed)
            back = measure.paired_permutation(b, a, resamples=49, seed=seed)
            assert forth.p == back.p
            assert forth.difference == -(back.difference or 0.0)
        assert measure.paired_t(a, b).p == measure.paired_t(b, a).p
        one, other = measure.paired_interval(a, b), measure.paired_interval(b, a)
        assert isinstance(one, Interval)
        assert isinstance(other, Interval)
        assert (one.low, one.high) == (-other.high, -other.low)

    @given(pairs(finite, least=2), st.randoms(use_true_random=False))
    @settings(deadline=None)
    def test_the_order_of_questions_changes_no_bit(self, pair: tuple[Floats, Floats], shuffler: Any) -> None:
        order = list(range(len(pair[0])))
        shuffler.shuffle(order)
        shuffled = (pair[0][order], pair[1][order])
        kept, moved = (measure.paired_family({0: each}, resamples=49, seed=3)[0] for each in (pair, shuffled))
        assert kept == moved

    @given(pairs(finite, least=2))
    @settings(deadline=None)
    def test_questions_that_one_side_lacks_change_nothing(self, pair: tuple[Floats, Floats]) -> None:
        a, b = (np.vstack([side, side[:1]]) for side in pair)
        b[-1] = np.nan
        kept, longer = (measure.paired_family({0: each}, resamples=49, seed=3)[0] for each in (pair, (a, b)))
        assert kept == longer

    @given(st.lists(pairs(finite, least=2), min_size=1, max_size=4))
    @settings(deadline=None, max_examples=25)
    def test_company_changes_nothing_but_the_adjusted_p(self, some: list[tuple[Floats, Floats]]) -> None:
        together = measure.paired_family(dict(enumerate(some)), resamples=49, seed=3)
        for place, pair in enumerate(some):
            alone = measure.paired_permutation(*pair, resamples=49, seed=3)
            assert together[place].permutation == alone
            assert (together[place].p_adjusted or 0.0) >= (alone.p or 0.0)

    def test_different_questions_are_no_pair(self) -> None:
        with pytest.raises(ValueError, match="3 questions against 4"):
            measure.paired_t(np.zeros((3, 2)), np.zeros((4, 2)))

    def test_large_families_are_computed_in_parts_that_do_not_show(self) -> None:
        generator = np.random.default_rng(4)
        differences = [generator.normal(0.05, 0.3, 150) for _ in range(300)]
        together = sign_flips(differences, resamples=99, seed=5)
        assert together[299] == sign_flips(differences[299:], resamples=99, seed=5)[0]


class TestHolm:
    @given(st.lists(st.floats(0, 1) | st.none(), max_size=12))
    def test_adjusted_ones_keep_their_order_and_never_shrink(self, p_values: list[float | None]) -> None:
        adjusted = measure.holm(p_values)
        known = [(p, q) for p, q in zip(p_values, adjusted, strict=True) if p is not None and q is not None]
        assert [p is None for p in p_values] == [q is None for q in adjusted]
        assert all(p <= q <= 1.0 for p, q in known)
        by_p = sorted(known)
        assert [q for _, q in by_p] == sorted(q for _, q in by_p)
        assert measure.holm([*p_values, None]) == (*adjusted, None)

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.data())
    def test_a_smaller_p_never_makes_another_larger(self, p_values: list[float], data: st.DataObject) -> None:
        place = data.draw(st.integers(0, len(p_values) - 1))
        smaller = [*p_values]
        smaller[place] = data.draw(st.floats(0, p_values[place]))
        before, after = measure.holm(p_values), measure.holm(smaller)
        assert all((q or 0.0) <= (p or 0.0) for p, q in zip(before, after, strict=True))

    def test_what_is_no_probability_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="p value 1 is nan"):
            measure.holm([0.5, math.nan])


class TestModes:
    @given(st.lists(st.floats(-100, 100), min_size=1, max_size=30), st.randoms(use_true_random=False))
    @settings(deadline=None)
    def test_the_dip_is_bounded_and_ignores_order(self, sample: list[float], shuffler: Any) -> None:
        found = dip(sample)
        assert 1 / (2 * len(sample)) <= found <= max(0.25, 1 / (2 * len(sample)))
        shuffled = [*sample]
        shuffler.shuffle(shuffled)
        assert dip(shuffled) == found

    @given(st.lists(st.integers(-100, 100), min_size=4, max_size=30), st.integers(-50, 50), st.sampled_from([-2, 4]))
    @settings(deadline=None)
    def test_the_dip_ignores_where_and_how_wide_and_which_way(self, sample: list[int], by: int, times: int) -> None:
        moved = [float(times * value + by) for value in sample]
        assert dip(moved) == pytest.approx(dip([float(value) for value in sample]), abs=1e-12)

    @given(st.lists(st.floats(0, 1), min_size=3, max_size=20))
    def test_the_largest_gap_is_a_share_of_the_range(self, sample: list[float]) -> None:
        found = measure.largest_gap_ratio(sample)
        assert isinstance(found, Degenerate) or 1 / (len(sample) - 1) - 1e-12 <= found <= 1.0


class TestFlips:
    @given(matrices(st.sampled_from([0.0, 1.0]), least=2))
    def test_both_shares_agree_on_whether_anything_changed(self, outcomes: Floats) -> None:
        found = measure.flip_rate(outcomes)
        if found.rate is None or found.disagreement is None:
            assert outcomes.shape[1] == 1
            return
        assert 0.0 <= found.disagreement <= found.rate + 1e-12 <= 1.0 + 1e-12
        assert (found.rate == 0) == (found.disagreement == 0)
        turned = measure.flip_rate(1 - outcomes[::-1, ::-1])
        assert (turned.rate, turned.disagreement) == pytest.approx((found.rate, found.disagreement))


def spelled(results: Sequence[object]) -> str:
    return repr(results)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    generator = np.random.default_rng(6)
    a, b = generator.random((40, 5)), generator.random((40, 5))

    def everything(seed: int) -> str:
        return spelled([
            measure.bca_interval(a, resamples=199, seed=seed),
            measure.paired_family({"x": (a, b), "y": (b, a)}, resamples=199, seed=seed),
            measure.dip_test(a[:, 0], seed=seed, simulations=49),
        ])  # fmt: skip

    assert everything(1) == everything(1)
    assert everything(1) != everything(2)
