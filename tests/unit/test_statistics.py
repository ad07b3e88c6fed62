"""Clustered errors: equal to the formula by hand, and covering what they claim where naive ones do not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.measure.statistics import (
    cluster_standard_error,
    clustered_interval,
    clustered_mean,
    mean,
    standard_deviation,
)
from core.model.degenerate import Degenerate

scores = st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=2, max_size=12)


def test_equals_the_formula_by_hand() -> None:
    ragged = [[0.0, 1.0], [1.0], [0.5, 0.5, 0.5]]
    centre = 3.5 / 6
    sums = [1.0 - 2 * centre, 1.0 - centre, 1.5 - 3 * centre]
    by_hand = math.sqrt(3 / 2 * sum(s * s for s in sums)) / 6
    assert cluster_standard_error(ragged) == pytest.approx(by_hand, rel=1e-12)


@given(scores)
def test_with_equal_clusters_it_is_the_error_of_the_question_means(matrix: list[list[float]]) -> None:
    means = [sum(question) / 3 for question in matrix]
    expected = np.std(means, ddof=1) / math.sqrt(len(means))
    assert cluster_standard_error(matrix) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_copies_of_an_answer_add_no_evidence() -> None:
    once = [[0.0], [1.0], [0.4], [0.6]]
    five_times = [question * 5 for question in once]
    assert cluster_standard_error(five_times) == pytest.approx(cluster_standard_error(once), rel=1e-12)
    wide, same = clustered_interval(once), clustered_interval(five_times)
    assert wide is not None
    assert same is not None
    assert (wide.low, wide.high) == pytest.approx((same.low, same.high))


@given(scores, st.randoms(use_true_random=False))
def test_order_changes_no_bit(matrix: list[list[float]], shuffler: object) -> None:
    shuffled = [list(question) for question in matrix]
    shuffler.shuffle(shuffled)  # type: ignore[attr-defined]
    assert cluster_standard_error(shuffled) == cluster_standard_error(matrix)
    assert clustered_interval(shuffled) == clustered_interval(matrix)


def test_the_interval_is_t_with_questions_minus_one_degrees_of_freedom() -> None:
    interval = clustered_interval([[0.0], [1.0]])
    assert interval is not None
    error = cluster_standard_error([[0.0], [1.0]])
    assert error == pytest.approx(0.5)
    assert interval.high - 0.5 == pytest.approx(12.706204736 * 0.5, rel=1e-9)
    assert interval.low == pytest.approx(1.0 - interval.high)


def test_constant_scores_have_no_error_and_few_questions_have_none_to_speak_of() -> None:
    assert cluster_standard_error([[0.5] * 5] * 10) == 0.0
    assert clustered_interval([[0.5] * 5] * 10) is not None
    assert cluster_standard_error([[0.1, 0.9]]) is None
    assert cluster_standard_error([[0.1, 0.9], []]) is None
    assert clustered_interval([]) is None


def test_none_is_unscored_and_a_plain_list_is_one_run() -> None:
    assert cluster_standard_error([[None, 1.0], [1.0, 0.0]]) == cluster_standard_error([[1.0], [1.0, 0.0]])
    assert cluster_standard_error([0.1, 0.2, None, 0.6]) == cluster_standard_error([[0.1], [0.2], [0.6]])


def test_what_is_not_a_number_is_unscored() -> None:
    assert cluster_standard_error([[0.1, math.nan], [math.nan, math.nan], [0.9, 0.4]]) == cluster_standard_error(
        [[0.1], [0.9, 0.4]]
    )


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([], Degenerate.NOTHING_SCORED),
        ([[math.nan, math.nan]], Degenerate.NOTHING_SCORED),
        ([[0.1, 0.9], [math.nan]], Degenerate.ONE_QUESTION),
        ([[0.1], [math.inf]], Degenerate.NOT_FINITE),
        ([[0.5] * 5] * 10, Degenerate.ALL_EQUAL),
        ([[0.1], [0.9]], None),
    ],
)
def test_what_leaves_an_error_undefined_is_named(scores: list[list[float]], reason: Degenerate | None) -> None:
    found = clustered_mean(scores)
    assert found.degenerate == reason
    assert (found.error is None, found.interval is None) == (reason not in {None, Degenerate.ALL_EQUAL},) * 2


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_is_a_probability(level: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        clustered_interval([[0.1], [0.2]], level)


def test_mean_and_deviation() -> None:
    assert (mean([]), mean([1.0, 2.0])) == (None, 1.5)
    assert (standard_deviation([]), standard_deviation([1.0])) == (None, None)
    assert standard_deviation([1.0, 2.0, 4.0]) == pytest.approx(np.std([1.0, 2.0, 4.0], ddof=1))
    assert mean([0.1] * 10) == 0.1


def test_clustered_intervals_cover_what_they_claim_and_independent_ones_do_not() -> None:
    generator = np.random.default_rng(20260406)
    trials, questions, runs = 1000, 50, 5
    clustered = independent = 0
    for _ in range(trials):
        answers = generator.normal(0.0, 1.0, (questions, 1)) + generator.normal(0.0, 0.1, (questions, runs))
        interval = clustered_interval(answers)
        assert interval is not None
        clustered += interval.low <= 0.0 <= interval.high
        independent += abs(answers.mean()) <= 1.96 * answers.std(ddof=1) / math.sqrt(answers.size)
    assert 0.93 <= clustered / trials <= 0.97
    assert 0.56 <= independent / trials <= 0.67
