"""What a report says of its runs and questions beyond the means: beside the functions themselves, and in words."""

from __future__ import annotations

import numpy as np
import pytest
from evaluation_rows import question, record, row

from core import measure
from core.lab import report as rendering
from core.measure.bootstrap import bca_intervals
from core.measure.summary import Background, summarise
from core.model.degenerate import Degenerate
from core.model.evaluation import EvaluationReport, RunStatistics
from core.model.frozen import seed_for
from core.model.interval import Interval
from core.model.judged import Metric
from core.model.syntax import Validity

QUESTIONS = tuple(question(n) for n in range(1, 13))


def report(runs: int, *, spread: float = 0.2) -> EvaluationReport:
    generator = np.random.default_rng(runs)
    ease = generator.uniform(0.3, 0.3 + spread, len(QUESTIONS))
    rows = [
        row(asked, run, value=float(ease[place] + spread * generator.uniform(0, 0.1)),
            syntax=Validity.INVALID if (place, run) == (4, 2) else Validity.VALID)
        for place, asked in enumerate(QUESTIONS) for run in range(1, runs + 1)
    ]  # fmt: skip
    return summarise(rows, Background(record=record(runs=runs), questions=QUESTIONS, resamples=199))


def statistics(of: EvaluationReport, metric: str) -> RunStatistics:
    [found] = [each for each in of.suites[0].statistics if each.metric == metric]
    return found


def test_every_final_metric_and_validity_has_them() -> None:
    made = report(5)
    assert [each.metric for each in made.suites[0].statistics] == [*(m.value for m in Metric), "syntactic_validity"]
    assert EvaluationReport.model_validate_json(made.model_dump_json()) == made


def test_they_are_what_the_functions_give() -> None:
    made = report(5)
    generator = np.random.default_rng(5)
    ease = generator.uniform(0.3, 0.5, (12, 1))
    scores = ease + 0.2 * generator.uniform(0, 0.1, (12, 5))
    found = statistics(made, Metric.CONTEXT_RECALL.value)
    seed = seed_for(made.seed, "bootstrap", "main", Metric.CONTEXT_RECALL.value)
    assert isinstance(found.bootstrap, Interval)
    expected = measure.bca_interval(scores, resamples=199, seed=seed)
    assert isinstance(expected, Interval)
    assert (found.bootstrap.low, found.bootstrap.high) == pytest.approx((expected.low, expected.high))
    assert found.largest_gap_ratio == pytest.approx(measure.largest_gap_ratio(scores.mean(axis=0)))
    assert found.flip_rate == 1.0
    sd = float(scores.mean(axis=1).std(ddof=1))
    assert found.detectable == pytest.approx(measure.minimum_detectable_effect(sd, 12))


def test_intervals_side_by_side_are_those_made_one_by_one() -> None:
    generator = np.random.default_rng(1)
    scores = [generator.uniform(size=(questions, 4)) for questions in (12, 3, 1, 40, 7)]
    scores[1][2, 1:] = np.nan
    found = bca_intervals(scores, resamples=99, seeds=range(5))
    assert found == [measure.bca_interval(each, resamples=99, seed=seed) for seed, each in enumerate(scores)]
    assert found[2] is Degenerate.ONE_QUESTION


def test_one_answer_turned_invalid_is_one_question_that_flips() -> None:
    found = statistics(report(5), "syntactic_validity")
    assert found.flip_rate == pytest.approx(1 / 12)
    assert found.disagreement == pytest.approx(8 / 20 / 12)


def test_five_runs_cannot_show_two_modes_and_the_report_says_so() -> None:
    made = report(5)
    found = statistics(made, Metric.GLOBAL.value)
    assert found.dip_p is Degenerate.TOO_FEW_RUNS
    assert found.dip_power < 0.15
    [said] = [caveat for caveat in made.caveats if "one mode" in caveat]
    assert said.startswith("5 runs cannot tell")
    assert "not assessable below 20" in said
    assert f"{found.dip_power:.0%}" in said


def test_twenty_runs_are_assessed_with_the_power_they_have() -> None:
    made = report(20)
    found = statistics(made, Metric.GLOBAL.value)
    assert isinstance(found.dip_p, float)
    [said] = [caveat for caveat in made.caveats if "one mode" in caveat]
    assert f"in {found.dip_power:.0%} of cases" in said


def test_what_so_many_questions_can_see_is_said() -> None:
    made = report(5)
    found = statistics(made, Metric.GLOBAL.value)
    assert any("12 questions" in caveat and f"{found.detectable:.4f}" in caveat for caveat in made.caveats)


def test_equal_scores_and_one_run_are_named() -> None:
    made = report(1, spread=0.0)
    found = statistics(made, Metric.CONTEXT_RECALL.value)
    assert (found.bootstrap, found.detectable) == (Degenerate.ALL_EQUAL, Degenerate.ALL_EQUAL)
    assert (found.flip_rate, found.dip_p) == (Degenerate.ONE_RUN, Degenerate.ONE_RUN)


def test_they_are_shown_with_reasons_where_there_are_no_numbers() -> None:
    made = report(5)
    files = rendering.files(made, ())
    for text in (files["report.md"].decode(), files["report.html"].decode()):
        assert "What its runs and questions say" in text
        assert "not assessable" in text
    [line] = [line for line in files["report.md"].decode().splitlines() if line.startswith("| syntactic validity")]
    assert "8.3 %" in line, "one question of twelve flips"
