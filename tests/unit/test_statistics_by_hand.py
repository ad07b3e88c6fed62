"""Statistics beside values worked out by hand or printed in their sources, where no library computes them."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from core import measure
from core.measure.modality import FEWEST_RUNS
from core.measure.variance import Source
from core.model.degenerate import Degenerate

nan = math.nan


class TestVariance:
    def test_of_judgements_within_runs_within_questions(self) -> None:
        scores = np.array([[[1.0, 3.0], [5.0, 7.0]], [[10.0, 12.0], [20.0, 22.0]]])
        # The means of answers are 2, 6, 11, 21, of questions 4 and 16, of all 10.
        judge, run, question = 8 * 1 / 4, 2 * (4 + 4 + 25 + 25) / 2, 4 * (36 + 36) / 1
        found = measure.variance_components(scores)
        assert found.judge == pytest.approx(judge)
        assert found.run == pytest.approx((run - judge) / 2)
        assert found.question == pytest.approx((question - run) / 4)
        assert (found.truncated, found.degenerate) == ((), None)
        assert found.total == pytest.approx(judge + (run - judge) / 2 + (question - run) / 4)

    def test_of_one_judgement_each_leaves_the_judge_in_the_run(self) -> None:
        found = measure.variance_components([[1.0, 3.0], [5.0, 7.0], [6.0, 8.0]])
        assert found.judge is None
        assert found.run == pytest.approx(2.0)
        assert found.question == pytest.approx((np.var([2, 6, 7], ddof=1) * 2 - 2.0) / 2)

    def test_of_one_run_leaves_the_run_in_the_question(self) -> None:
        found = measure.variance_components(np.array([[[1.0, 3.0]], [[5.0, 7.0]]]))
        assert (found.run, found.degenerate) == (None, Degenerate.ONE_RUN)
        assert found.judge == pytest.approx(2.0)
        assert found.question == pytest.approx((16.0 - 2.0) / 2)

    def test_of_missing_scores_by_their_expectations(self) -> None:
        # Question 1 has answers {1, 3} and {8}, question 2 has {4}: N = 4, shared counts (4 + 1) / 3 + 1 = 8/3.
        found = measure.variance_components([[[1.0, 3.0], [8.0, nan]], [[4.0, nan], [nan, nan]]])
        judge = 2.0
        run = ((2 * (2 - 4) ** 2 + (8 - 4) ** 2) - judge) / (4 - 8 / 3)
        question = (0.0 - judge - (8 / 3 - 6 / 4) * run) / (4 - 10 / 4)
        assert found.judge == pytest.approx(judge)
        assert found.run == pytest.approx(run)
        assert question < 0
        assert (found.question, found.truncated) == (0.0, (Source.QUESTION,))

    def test_finds_what_went_in(self) -> None:
        draw = np.random.default_rng(8).normal
        scores = 0.5 + draw(0, 0.3, (2000, 1, 1)) + draw(0, 0.2, (2000, 5, 1)) + draw(0, 0.1, (2000, 5, 3))
        scores[np.random.default_rng(9).random(scores.shape) < 0.2] = nan
        found = measure.variance_components(scores)
        assert (found.question, found.run, found.judge) == pytest.approx((0.09, 0.04, 0.01), rel=0.1)


class TestFlips:
    def test_of_three_questions(self) -> None:
        found = measure.flip_rate(
            [[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, nan], [0.0, nan, nan, nan]]
        )
        assert found.questions == 3
        assert found.rate == pytest.approx(1 / 3)
        assert found.disagreement == pytest.approx((0 + 4 / 6 + 0) / 3)


class TestModes:
    def test_the_largest_gap(self) -> None:
        assert measure.largest_gap_ratio([0.5, 0.1, 0.2, nan]) == pytest.approx(0.3 / 0.4)
        assert measure.largest_gap_ratio([0.0, 0.25, 0.5, 0.75, 1.0]) == pytest.approx(1 / 4)

    def test_below_twenty_runs_there_is_no_p_but_the_power_that_says_why(self) -> None:
        few = measure.dip_test(np.arange(FEWEST_RUNS - 1.0), seed=1)
        enough = measure.dip_test(np.arange(float(FEWEST_RUNS)), seed=1)
        assert (few.p, few.degenerate) == (None, Degenerate.TOO_FEW_RUNS)
        assert few.power is not None
        assert few.power < 0.2
        assert (enough.p, enough.degenerate) == (1.0, None)

    def test_two_modes_far_apart_are_found_and_power_grows(self) -> None:
        values = np.concatenate([np.linspace(0.0, 0.1, 15), np.linspace(0.9, 1.0, 15)])
        found = measure.dip_test(values, seed=1)
        assert found.p is not None
        assert found.p <= 0.001
        powers = [measure.dip_power(n, seed=1, simulations=499) for n in (5, 20, 60)]
        assert powers == sorted(powers)
        assert measure.dip_power(20, seed=1, separation=10.0, simulations=499) > 0.9

    def test_one_mode_is_rejected_no_more_often_than_claimed(self) -> None:
        generator = np.random.default_rng(11)
        p_values = [measure.dip_test(generator.random(20), seed=2, simulations=499).p or 0.0 for _ in range(400)]
        assert sum(p <= 0.05 for p in p_values) / 400 <= 0.08


class TestFractions:
    def test_paired_ones_as_printed(self) -> None:
        """Complete response before and after consolidation: Fagerland, Lydersen and Laake (2017), chapter 8."""
        low, high = measure.newcombe_paired(59, 6, 16, 80)
        assert (round(low, 4), round(high, 4)) == (0.0046, 0.1186)

    def test_pairing_narrows_what_goes_together(self) -> None:
        paired = measure.newcombe_paired(59, 6, 16, 80)
        apart = measure.newcombe(65, 161, 75, 161)
        assert paired[1] - paired[0] < 0.6 * (apart[1] - apart[0])

    def test_nothing_counted_leaves_everything_possible(self) -> None:
        assert measure.wilson(0, 0) == (0.0, 1.0)
        assert measure.newcombe(0, 0, 3, 4) == measure.newcombe_paired(0, 0, 0, 0) == (-1.0, 1.0)

    @pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3), (0, -1)])
    def test_counts_that_cannot_be_are_errors(self, successes: int, n: int) -> None:
        with pytest.raises(ValueError, match="count of successes"):
            measure.wilson(successes, n)

    def test_broken_counts_are_errors(self) -> None:
        with pytest.raises(ValueError, match="whole"):
            measure.mcnemar_exact(1.5, 2)  # type: ignore[arg-type]

    def test_negative_counts_are_errors(self) -> None:
        with pytest.raises(ValueError, match="negative"):
            measure.mcnemar_exact(-1, 3)
        with pytest.raises(ValueError, match="negative"):
            measure.newcombe_paired(1, 1, -1, 3)


class TestPermutation:
    def test_of_three_questions(self) -> None:
        # Of the eight sums of -/+1, -/+2, -/+4 only 7 and -7 are as far from 0 as the observed 7.
        found = measure.paired_permutation([[0.0], [0.0], [0.0]], [[1.0], [2.0], [4.0]], seed=1)
        assert (found.p, found.exact) == (2 / 8, True)

    def test_ties_count(self) -> None:
        # 0.1, 0.1, -0.2 sum to rounding; so do their opposites, and all eight patterns reach that.
        assert measure.paired_permutation([[0.0]] * 3, [[0.1], [0.1], [-0.2]], seed=1).p == 1.0
        third = [[0.1], [0.2], [0.3]]
        assert measure.paired_permutation([[0.0]] * 3, third, seed=1).p == 2 / 8

    def test_the_observed_pattern_is_one_of_those_drawn(self) -> None:
        found = measure.paired_permutation(np.zeros((60, 1)), np.ones((60, 1)), resamples=999, seed=1)
        assert (found.p, found.exact) == (1 / 1000, False)


class TestPlans:
    def test_fifty_questions_cannot_see_the_difference_of_april(self) -> None:
        """.0275 between two suites, with differences over questions that spread by .2."""
        assert measure.minimum_detectable_effect(0.2, 50) == pytest.approx(0.0808, abs=1e-4)
        assert measure.questions_needed(0.0275, 0.2) == 418
        power = measure.paired_power(0.0275, 0.2, 50)
        assert power == pytest.approx(0.16, abs=0.01)

    def test_as_many_as_needed_and_no_fewer(self) -> None:
        needed = measure.questions_needed(0.05, 0.2)
        assert isinstance(needed, int)
        chances = [measure.paired_power(0.05, 0.2, questions) for questions in (needed - 1, needed)]
        assert [chance >= 0.8 for chance in chances if isinstance(chance, float)] == [False, True]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [({"sd": -0.1}, "standard deviation"), ({"alpha": 1.0}, "alpha"), ({"power": 0.01}, "power")],
    )
    def test_what_cannot_be_planned_is_an_error(self, arguments: dict[str, float], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            measure.minimum_detectable_effect(**{"sd": 0.2, "questions": 50, **arguments})  # type: ignore[arg-type]


def test_the_package_imports_nothing_heavy_until_asked() -> None:
    code = (
        "import sys, core.measure as m; assert not {'numpy', 'scipy'} & set(sys.modules); "
        "assert all(getattr(m, name) for name in m.__all__); assert set(m.__all__) <= set(dir(m))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_name_that_is_not_there_says_so() -> None:
    with pytest.raises(AttributeError, match="no attribute 'anova'"):
        _ = measure.anova
