"""What is counted adds up, whatever the rows: order, scale, shift, missing and unscored answers, degenerate runs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import pytest
from evaluation_rows import question, record, row, scored, unscored
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.lab import report as rendering
from core.measure.bands import band_of
from core.measure.calibration import calibrate
from core.measure.confusion import confusion
from core.measure.gates import CALIBRATED, gate_results
from core.measure.judged import context_precision, context_recall, faithfulness
from core.measure.ranking import reciprocal_rank_fusion, section_recall
from core.measure.series import READINGS, Observation, estimate, suite_rows
from core.measure.spending import spend
from core.measure.statistics import cluster_standard_error, clustered_interval, mean, standard_deviation
from core.measure.summary import Background, summarise
from core.model.calibration import InjectedFault
from core.model.evaluation import Estimate, EvaluationReport
from core.model.judged import JUDGED_METRICS, JudgedRow, Metric, Score, UnscoredReason
from core.model.sample import QueryType
from core.model.specs import BandSpec, Comparator, Fault, GateSpec
from core.model.syntax import Category, Validity

RUNS = 3
QUESTIONS = tuple(
    question(n, type=kind, answerable=n != 4, gold_passages=() if n == 4 else ("reference/loops#range",),
             constructs=("startLoop", "addVar")[: n % 3])
    for n, kind in enumerate((QueryType.CODE_GENERATION, QueryType.RETRIEVAL) * 2, start=1)
)  # fmt: skip
PLACES = [(q, run) for q in QUESTIONS for run in range(1, RUNS + 1)]

shares = st.floats(0, 1)
clusters = st.lists(st.lists(shares, min_size=1, max_size=5), min_size=2, max_size=8)
scores: st.SearchStrategy[Score] = st.one_of(
    st.builds(scored, shares),
    st.builds(unscored, st.sampled_from([UnscoredReason.MALFORMED, UnscoredReason.NO_STATEMENTS])),
)


@st.composite
def some_rows(draw: st.DrawFn) -> tuple[JudgedRow, ...]:
    """Rows for some of the places, in any order."""
    made = []
    for asked, run in draw(st.permutations(PLACES)):
        if draw(st.integers(0, 3)):
            syntax = draw(st.sampled_from([Validity.VALID, Validity.INVALID, None]))
            judged = {metric: draw(scores) for metric in (*JUDGED_METRICS, Metric.GLOBAL)}
            category = draw(st.sampled_from(list(Category)))
            made.append(row(asked, run, syntax=syntax, category=category, scores=judged))
    return tuple(made)


@st.composite
def truths(draw: st.DrawFn) -> dict[str, InjectedFault]:
    """Faults for some of the places."""
    chosen = draw(st.lists(st.sampled_from(PLACES), unique_by=lambda place: (place[0].id, place[1])))
    names = [f"msg-{asked.id}-{run}" for asked, run in chosen]
    return {
        name: InjectedFault(message_id=name, fault=draw(st.sampled_from(list(Fault))), detail="d", code="c")
        for name in names
    }


def report(rows: Sequence[JudgedRow], truth: dict[str, InjectedFault] | None = None) -> EvaluationReport:
    return summarise(rows, Background(record=record(runs=RUNS), questions=QUESTIONS, truth=truth, resamples=99))


class TestErrors:
    @given(clusters, st.floats(0.01, 100), st.floats(-10, 10))
    def test_scale_with_the_scores_and_ignore_where_they_lie(
        self, matrix: list[list[float]], factor: float, shift: float
    ) -> None:
        changed = [[factor * value + shift for value in cluster] for cluster in matrix]
        error, moved = cluster_standard_error(matrix), cluster_standard_error(changed)
        assert error is not None
        assert moved == pytest.approx(factor * error, rel=1e-6, abs=1e-9 * factor + 1e-12)

    @given(clusters)
    def test_intervals_hold_the_mean_in_their_middle_and_widen_with_the_level(self, matrix: list[list[float]]) -> None:
        narrow, wide = clustered_interval(matrix, level=0.8), clustered_interval(matrix, level=0.99)
        centre = mean([value for cluster in matrix for value in cluster])
        assert narrow is not None
        assert wide is not None
        assert wide.low <= narrow.low <= narrow.high <= wide.high
        assert (narrow.low + narrow.high) / 2 == pytest.approx(centre)

    @given(clusters)
    def test_questions_without_scores_change_nothing(self, matrix: list[list[float]]) -> None:
        assert cluster_standard_error([[], *matrix, []]) == cluster_standard_error(matrix)

    @given(shares, st.integers(2, 6), st.integers(1, 5))
    def test_equal_scores_have_none(self, value: float, questions: int, runs: int) -> None:
        assert cluster_standard_error([[value] * runs] * questions) == pytest.approx(0.0, abs=1e-15)

    @pytest.mark.parametrize("matrix", [[], [[]], [[], []], [[0.5]], [[0.1, 0.9], []]])
    def test_below_two_questions_there_is_none_to_speak_of(self, matrix: list[list[float]]) -> None:
        assert cluster_standard_error(matrix) is None
        assert clustered_interval(matrix) is None

    @given(st.lists(shares, min_size=1, max_size=9))
    def test_means_and_deviations_stay_where_the_values_are(self, values: list[float]) -> None:
        centre, spread = mean(values), standard_deviation(values)
        assert centre is not None
        assert min(values) - 1e-12 <= centre <= max(values) + 1e-12
        assert (spread is None) == (len(values) < 2)
        assert spread is None or spread <= (max(values) - min(values)) * 0.7072 + 1e-15


class TestEstimates:
    @given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3), shares | st.none()), max_size=15,
                    unique_by=lambda seen: seen[:2]))  # fmt: skip
    @example([])
    @example([(0, 1, 0.5)])
    @example([(0, 1, None), (1, 1, None)])
    def test_the_mean_is_that_of_the_runs_weighted_by_what_they_scored(
        self, seen: list[tuple[int, int, float | None]]
    ) -> None:
        series = [
            Observation(f"q{q}", run, value, None if value is not None else UnscoredReason.MALFORMED)
            for q, run, value in seen
        ]
        found = estimate(series, RUNS)
        counts = Counter(run for _, run, value in seen if value is not None)
        assert [value is None for value in found.by_run] == [counts[run] == 0 for run in range(1, RUNS + 1)]
        if found.mean is None:
            assert found.n_scored == 0
        else:
            weighted = math.fsum(counts[run] * (value or 0.0) for run, value in enumerate(found.by_run, start=1))
            assert weighted / found.n_scored == pytest.approx(found.mean)
        assert (found.interval is None) == (found.n_questions < 2)


def every_estimate(of: EvaluationReport) -> list[Estimate]:
    [suite] = of.suites
    found = [side for summary in suite.metrics for side in (summary.final, summary.raw)]
    return [*found, suite.syntax.overall, suite.retrieval.gold_recall]


class TestReports:
    @settings(deadline=None)
    @given(some_rows())
    @example(())
    def test_every_denominator_adds_up(self, rows: tuple[JudgedRow, ...]) -> None:
        made = report(rows)
        assert (made.n_expected, made.n_rows, made.partial) == (len(PLACES), len(rows), len(rows) < len(PLACES))
        for found in every_estimate(made):
            assert found.n_expected == len(PLACES) == found.n_scored + found.n_unscored
            assert sum(found.unscored.values()) == found.n_unscored
            assert found.unscored.get(UnscoredReason.MISSING, 0) == len(PLACES) - len(rows)
        [suite] = made.suites
        assert sum(estimate.n_expected for estimate in suite.syntax.by_type.values()) == len(PLACES)
        assert sum(estimate.n_scored for estimate in suite.syntax.by_type.values()) == suite.syntax.overall.n_scored
        assert sum(run.rows for run in suite.runs) == sum(asked.rows for asked in suite.questions) == len(rows)
        slice_ = suite.unanswerable
        assert slice_.declined + slice_.answered + slice_.unjudged == slice_.rows

    @settings(deadline=None)
    @given(some_rows(), st.randoms(use_true_random=False))
    def test_the_order_of_rows_changes_no_byte(self, rows: tuple[JudgedRow, ...], shuffler: object) -> None:
        shuffled = list(rows)
        shuffler.shuffle(shuffled)  # type: ignore[attr-defined]
        assert report(shuffled).model_dump_json() == report(rows).model_dump_json()

    @settings(max_examples=12, deadline=None)
    @given(some_rows(), truths())
    @example((), {})
    def test_every_report_can_be_shown(self, rows: tuple[JudgedRow, ...], truth: dict[str, InjectedFault]) -> None:
        made = report(rows, truth)
        files = rendering.files(made, rows)
        assert EvaluationReport.model_validate_json(files["report.json"]) == made
        for words in (files["report.html"], files["report.md"], "\n".join(rendering.summary(made)).encode()):
            assert b"None" not in words, "what is not there is said in words"
            said = re.sub(rb"(?s)<script.*?</script>", b"", words).replace(b"svgnan", b"")
            assert b"nan" not in said.lower().split()

    @given(some_rows())
    def test_a_reply_is_paid_for_once_however_many_rows_stand_on_it(self, rows: tuple[JudgedRow, ...]) -> None:
        found = spend(rows)
        distinct = {(call.role, call.key) for row in rows for call in row.calls}
        assert found.calls == len(distinct) == sum(role.calls for role in found.by_role.values())
        assert found.usd == pytest.approx(0.1 * len(distinct))
        assert spend((*rows, *rows)) == found


class TestTheGateMeasured:
    @given(some_rows(), truths())
    def test_every_answer_is_counted_once(self, rows: tuple[JudgedRow, ...], truth: dict[str, InjectedFault]) -> None:
        found = calibrate(rows, truth)
        assert found.caught + found.missed == found.injected == sum(row.message_id in truth for row in rows)
        assert (len(found.missed_rows), len(found.false_alarm_rows)) == (found.missed, found.false_alarms)
        assert found.false_alarms <= found.clean
        for field in ("injected", "caught", "missed"):
            assert sum(getattr(line, field) for line in found.by_fault) == getattr(found, field)
        for line in found.by_fault:
            assert sum(line.categories.values()) == line.caught
        invalid = sum(row.syntax is Validity.INVALID for row in rows)
        assert found.caught + found.false_alarms == invalid

    @given(some_rows())
    def test_every_rejection_has_its_cell(self, rows: tuple[JudgedRow, ...]) -> None:
        found = confusion(rows, QUESTIONS, ())
        invalid = [row for row in rows if row.syntax is Validity.INVALID]
        assert sum(cell.count for cell in found.cells) == len(invalid)
        assert all(len(cell.runs) == cell.count for cell in found.cells)
        assert len({(cell.category, cell.question) for cell in found.cells}) == len(found.cells)
        for line in found.constructs:
            assert sum(line.by_category.values()) == line.invalid <= line.code_bearing
            assert line.invalid == sum(line.node_type in row.constructs for row in invalid)
        assert [line.invalid for line in found.constructs] == sorted(
            (line.invalid for line in found.constructs), reverse=True
        )


class TestGates:
    @settings(deadline=None)
    @given(some_rows(), st.sampled_from(sorted([*READINGS, *CALIBRATED])), shares, shares, truths())
    def test_a_bar_that_is_met_is_met_wherever_it_is_lower(
        self, rows: tuple[JudgedRow, ...], metric: str, one: float, other: float, truth: dict[str, InjectedFault]
    ) -> None:
        suite = suite_rows(rows, suite="main", questions=QUESTIONS, runs=RUNS)
        bars = sorted((one, other))
        low, high = gate_results([GateSpec(metric=metric, threshold=bar) for bar in bars], suite, truth)
        assert low.passed or not high.passed
        below, above = gate_results(
            [GateSpec(metric=metric, comparator=Comparator.AT_MOST, threshold=bar) for bar in bars], suite, truth
        )
        assert above.passed or not below.passed
        if low.value is None:
            assert not any(result.passed for result in (low, high, below, above))
            assert low.reason
        else:
            assert low.passed or below.passed, "a number lies on one side of every bar"

    @given(shares, st.permutations([BandSpec(name="A", floor=0.8), BandSpec(name="B", floor=0.5)]))
    def test_bands_do_not_depend_on_the_order_they_are_written_in(self, score: float, bands: list[BandSpec]) -> None:
        assert band_of(score, bands) == ("A" if score >= 0.8 else "B" if score >= 0.5 else None)


verdicts = st.lists(st.integers(0, 1), min_size=1, max_size=12)


class TestJudgedArithmetic:
    @given(verdicts, st.randoms(use_true_random=False))
    def test_shares_ignore_order_and_lie_between_none_and_all(self, given_: list[int], shuffler: object) -> None:
        shuffled = list(given_)
        shuffler.shuffle(shuffled)  # type: ignore[attr-defined]
        for share in (faithfulness, context_recall):
            assert share(given_) == share(shuffled) == sum(given_) / len(given_)

    @given(verdicts)
    def test_precision_lies_between_nothing_and_one_and_trailing_misses_cost_nothing(self, given_: list[int]) -> None:
        found = context_precision(given_)
        assert found is not None
        assert 0.0 <= found <= 1.0
        assert context_precision([*given_, 0, 0]) == found
        assert (found == 0.0) == (sum(given_) == 0)

    @given(verdicts, st.data())
    def test_one_more_useful_passage_in_place_of_a_useless_one_never_lowers_recall(
        self, given_: list[int], data: st.DataObject
    ) -> None:
        place = data.draw(st.integers(0, len(given_) - 1))
        better = [*given_[:place], 1, *given_[place + 1 :]]
        assert (context_recall(better) or 0.0) >= (context_recall(given_) or 0.0)


ids = st.lists(st.sampled_from([f"d#{n}" for n in range(8)]), max_size=6)


class TestRankings:
    @given(st.lists(ids, max_size=4), st.integers(0, 99))
    def test_fusion_holds_everything_once_best_first(self, rankings: list[list[str]], k: int) -> None:
        if k == 0:
            k = 1
        fused = reciprocal_rank_fusion(rankings, k)
        assert sorted(name for name, _ in fused) == sorted({name for ranking in rankings for name in ranking})
        assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)
        assert reciprocal_rank_fusion(list(reversed(rankings)), k) == fused

    @given(ids, ids)
    def test_recall_is_a_share_that_grows_with_what_is_retrieved(self, gold: list[str], found: list[str]) -> None:
        recall = section_recall(gold, found)
        if not gold:
            assert recall is None
            return
        assert recall is not None
        assert 0.0 <= recall <= (section_recall(gold, [*found, f"{gold[0]}~2"]) or 0.0) <= 1.0
        assert section_recall(gold, gold) == 1.0
