"""The report: denominators add up, order and timing change no byte, and nothing that went wrong is left out."""

from __future__ import annotations

import math
from typing import Any

import pytest
from evaluation_rows import FEW_SHOTS, call, question, record, row, scored, suite_record, unscored

from core.measure.summary import Background, summarise
from core.model.evaluation import ConstructCoverage, Estimate, EvaluationReport, Interval
from core.model.judged import Block, BlockKind, FewShots, JudgedRow, Metric, UnscoredReason
from core.model.record import FewShotStatus
from core.model.sample import QueryType
from core.model.specs import BandSpec, Comparator, GateSpec, Provider
from core.model.syntax import Validity

QUESTIONS = (question(1), question(2), question(3, type=QueryType.RETRIEVAL, answerable=False, gold_passages=()))
BANDS = (BandSpec(name="GOOD", floor=0.6), BandSpec(name="FAIR", floor=0.3))
ROWS = tuple(row(q, run, value=0.2 * i + 0.1 * run) for run in (1, 2) for i, q in enumerate(QUESTIONS))


def report(rows: tuple[JudgedRow, ...] = ROWS, **changed: Any) -> EvaluationReport:
    fields: dict[str, Any] = {"record": record(), "questions": QUESTIONS, "bands": BANDS}
    return summarise(rows, Background(**{**fields, **changed}))


def estimates(of: EvaluationReport) -> list[Estimate]:
    found = []
    for suite in of.suites:
        found += [estimate for summary in suite.metrics for estimate in (summary.final, summary.raw)]
        found += [suite.syntax.overall, *suite.syntax.by_type.values(), suite.retrieval.gold_recall]
    return found


def test_a_metric_has_its_mean_spread_error_and_interval() -> None:
    final = report().suites[0].metric(Metric.FAITHFULNESS).final
    assert final.mean == pytest.approx(0.35)
    assert list(final.by_run) == pytest.approx([0.3, 0.4])
    assert final.sd_over_runs == pytest.approx(0.1 / math.sqrt(2))
    assert final.cluster_se == pytest.approx(0.2 / math.sqrt(3))
    assert isinstance(final.interval, Interval)
    assert final.interval.high - 0.35 == pytest.approx(4.302652729911275 * 0.2 / math.sqrt(3))
    assert (final.n_expected, final.n_scored, final.n_unscored, final.n_questions) == (6, 6, 0, 3)


def test_denominators_add_up_whatever_is_missing() -> None:
    rows = (
        row(QUESTIONS[0], 1, scores={Metric.FAITHFULNESS: unscored(), Metric.GLOBAL: unscored()}),
        row(QUESTIONS[0], 2, scores={Metric.FAITHFULNESS: unscored(UnscoredReason.TRUNCATED)}),
        row(QUESTIONS[1], 1, syntax=None),
        row(QUESTIONS[2], 1),
    )
    partial = report(rows)
    for estimate in estimates(partial):
        assert estimate.n_expected == estimate.n_scored + estimate.n_unscored
        assert sum(estimate.unscored.values()) == estimate.n_unscored
    faithfulness = partial.suites[0].metric(Metric.FAITHFULNESS).final
    assert dict(faithfulness.unscored) == {
        UnscoredReason.MALFORMED: 1,
        UnscoredReason.MISSING: 2,
        UnscoredReason.TRUNCATED: 1,
    }
    assert (partial.partial, partial.n_expected, partial.n_rows, partial.n_usable) == (True, 6, 4, 4)
    assert "2 of 6 rows are missing" in partial.binding_faults


def test_raw_and_final_are_counted_apart() -> None:
    rows = (row(QUESTIONS[0], scores={Metric.FAITHFULNESS: scored(0.0, raw=0.8)}, syntax=Validity.INVALID), *ROWS[1:])
    summary = report(rows).suites[0].metric(Metric.FAITHFULNESS)
    assert summary.raw.mean is not None
    assert summary.final.mean is not None
    assert summary.raw.mean - summary.final.mean == pytest.approx(0.8 / 6)


def test_syntactic_validity_is_over_code_bearing_answers_and_null_without_any() -> None:
    rows = (
        row(QUESTIONS[0], 1, syntax=Validity.INVALID),
        row(QUESTIONS[0], 2),
        row(QUESTIONS[1], 1, syntax=None),
        row(QUESTIONS[1], 2),
        row(QUESTIONS[2], 1, syntax=None),
        row(QUESTIONS[2], 2, syntax=None),
    )
    syntax = report(rows).suites[0].syntax
    assert syntax.overall.mean == pytest.approx(2 / 3)
    assert syntax.overall.unscored == {UnscoredReason.NO_CODE: 3}
    assert syntax.by_type[QueryType.CODE_GENERATION].mean == pytest.approx(2 / 3)
    assert syntax.by_type[QueryType.RETRIEVAL].mean is None
    assert (syntax.n_blocks, syntax.n_foreign_blocks) == (3, 0)


@pytest.mark.parametrize(("syntax", "wilson"), [(Validity.VALID, (0.3424, 1.0)), (Validity.INVALID, (0.0, 0.6576))])
def test_all_answers_valid_or_none_is_no_certainty(syntax: Validity, wilson: tuple[float, float]) -> None:
    rows = [row(q, run, syntax=syntax) for q in (question(1), question(2)) for run in (1, 2)]
    report = summarise(rows, Background(record=record(), questions=(question(1), question(2))))
    found = report.suites[0].syntax.overall.interval
    assert found is not None
    assert (found.low, found.high) == pytest.approx(wilson, abs=5e-5)


def test_answers_that_escape_the_gate_in_a_foreign_block_are_counted() -> None:
    foreign = Block(kind=BlockKind.FOREIGN, label="go", line=1, closed=False, code="package main")
    rows = (row(QUESTIONS[0], syntax=None, blocks=(foreign,)), row(QUESTIONS[2], syntax=None, blocks=(foreign,)))
    syntax = report(rows).suites[0].syntax
    assert (syntax.n_foreign_blocks, syntax.n_foreign_only, syntax.n_unclosed) == (2, 1, 0)


def test_bands_with_and_without_the_gate() -> None:
    rows = tuple(row(q, run, scores={Metric.GLOBAL: scored(0.3, raw=0.61)}) for q in QUESTIONS for run in (1, 2))
    suite = report(rows).suites[0]
    assert (suite.band, suite.raw_band) == ("FAIR", "GOOD")
    assert [line.band for line in suite.runs] == ["FAIR", "FAIR"]
    assert report(()).suites[0].band is None


def test_unanswerable_questions_are_a_slice_of_their_own() -> None:
    rows = (
        row(QUESTIONS[2], 1, noncommittal=True),
        row(QUESTIONS[2], 2, noncommittal=None),
        row(QUESTIONS[0], 1, noncommittal=True),
        row(QUESTIONS[0], 2),
    )
    slice_ = report(rows).suites[0].unanswerable
    assert (slice_.questions, slice_.rows, slice_.declined, slice_.answered, slice_.unjudged) == (1, 2, 1, 0, 1)
    assert slice_.declined_answerable == 1


def test_gold_recall_counts_sections_not_chunks() -> None:
    recall = report().suites[0].retrieval.gold_recall
    assert recall.mean == 1.0
    assert recall.unscored == {UnscoredReason.NO_GOLD: 2}


def test_one_degraded_row_degrades_the_suite_and_unbinds_the_run() -> None:
    degraded = FewShots(status=FewShotStatus.DEGRADED, k_configured=2, reason="gone")
    rows = (row(QUESTIONS[0], few_shots=degraded), *ROWS[1:])
    result = report(rows)
    summary = result.suites[0].few_shot
    assert (summary.status, summary.degraded_rows, summary.k_min, summary.k_max) == ("degraded", 1, 0, 2)
    assert summary.reasons == ("gone",)
    assert "suite main: few_shot_injection: degraded in 1 of 6 rows" in result.binding_faults


def test_a_parser_that_is_not_the_recorded_one_unbinds_the_run() -> None:
    suites = (suite_record("main", parser=suite_record("main").parser.model_copy(update={"version": "2.0"})),)
    faults = report(record=record(suites=suites)).binding_faults
    assert "suite main: parsed by version 1.0 where the record has 2.0" in faults


def test_a_run_by_the_book_is_binding() -> None:
    asked = (question(1), question(2))
    rows = tuple(row(q, run) for q in asked for run in range(1, 6))
    generator, judge = (
        suite_record("main", Provider.ANTHROPIC).generator,
        suite_record("main", Provider.ANTHROPIC).judge,
    )
    assert judge is not None
    assert generator.model != judge.model
    result = report(rows, questions=asked, record=record(runs=5, provider=Provider.ANTHROPIC))
    assert result.binding_faults == ()
    assert result.binding
    assert [caveat for caveat in result.caveats if "ehears" in caveat] == []


def test_a_rehearsal_says_so() -> None:
    result = report()
    assert not result.binding
    assert any("ehears" in caveat for caveat in result.caveats)


def test_a_shared_reply_is_paid_for_once() -> None:
    total = report().spend
    assert total.calls == 6 + 3
    assert total.by_role["judge"].calls == 3
    assert total.usd == pytest.approx(0.9)
    assert total.usage.input_tokens == 900


def test_runs_and_questions_have_their_lines() -> None:
    suite = report((*ROWS[:5], row(QUESTIONS[2], 2, syntax=Validity.INVALID, value=0.9))).suites[0]
    assert [(line.run, line.rows) for line in suite.runs] == [(1, 3), (2, 3)]
    assert [line.syntactic_validity for line in suite.runs] == [1.0, pytest.approx(2 / 3)]
    assert [(q.id, q.rows, q.invalid, q.code_bearing) for q in suite.questions] == [
        ("GD-C-001", 2, 0, 2),
        ("GD-C-002", 2, 0, 2),
        ("GD-C-003", 2, 1, 2),
    ]


def test_gates_are_judged_per_suite_and_one_miss_fails_the_report() -> None:
    rows = (*ROWS, *(r.model_copy(update={"suite": "other"}) for r in ROWS[:3]))
    gates = (GateSpec(metric="gold_recall", threshold=0.9), GateSpec(metric="faithfulness", threshold=0.34))
    result = report(rows, record=record("main", "other"), gates=gates)
    assert [(g.suite, g.metric, g.passed) for g in result.gates] == [
        ("main", "gold_recall", True),
        ("main", "faithfulness", True),
        ("other", "gold_recall", True),
        ("other", "faithfulness", False),
    ]
    assert not result.gates_passed
    assert report(gates=(GateSpec(metric="gold_recall", comparator=Comparator.AT_MOST, threshold=1.0),)).gates_passed


def test_order_and_time_change_nothing_but_the_timing() -> None:
    slow = tuple(r.model_copy(update={"elapsed_s": 9.0}) for r in reversed(ROWS))
    later = record(created_at="2027-01-01T00:00:00Z")
    first, second = report(), report(slow, record=later)
    assert first.timing != second.timing
    assert first.model_copy(update={"timing": second.timing}).model_dump_json() == second.model_dump_json()
    assert EvaluationReport.model_validate_json(first.model_dump_json()) == first


def test_argv_and_build_time_stay_out_of_what_is_compared() -> None:
    elsewhere = record()
    provenance = elsewhere.provenance.model_copy(update={"argv": ("other",), "platform": "mars"})
    suites = (suite_record("main", index=suite_record("main").index.model_copy(update={"built_at": "later"})),)
    other = elsewhere.model_copy(update={"provenance": provenance, "suites": suites})
    same = {"timing": report().timing}
    assert report(record=other).model_copy(update=same) == report()


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ((ROWS[0], ROWS[0]), "judged 2 times in run 1"),
        ((row(question(9)),), "GD-C-009 in run 1 is not part"),
        ((row(QUESTIONS[0], 3),), "in run 3 is not part"),
        ((row(QUESTIONS[0], suite="ghost"),), "record does not have: ghost"),
    ],
)
def test_rows_that_do_not_belong_are_refused(rows: tuple[JudgedRow, ...], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        report(rows)


def test_a_suite_is_calibrated_only_where_its_generator_was_rehearsed() -> None:
    suites = (suite_record("main"), suite_record("real", Provider.ANTHROPIC))
    rows = (*ROWS, *(r.model_copy(update={"suite": "real"}) for r in ROWS))
    rehearsed, real = report(rows, record=record(suites=suites), truth={}).suites
    assert rehearsed.calibration is not None
    assert rehearsed.calibration.clean == 6
    assert real.calibration is None


def test_coverage_belongs_to_its_suite() -> None:
    coverage = {"main": (ConstructCoverage(node_type="startLoop", passages=3, examples=4),)}
    suites = report(record=record("main", "other"), coverage=coverage).suites
    assert [suite.confusion.constructs[0].passages for suite in suites] == [3, None]


def test_no_rows_at_all_is_a_report_of_nothing() -> None:
    empty = report((), gates=(GateSpec(metric="global_score", threshold=0.0),))
    assert (empty.n_rows, empty.n_usable, empty.partial, empty.gates_passed) == (0, 0, True, False)
    assert empty.suites[0].metric(Metric.GLOBAL).final.mean is None
    assert empty.suites[0].calibration is None
    assert empty.spend.calls == 0


def test_rows_without_any_score_are_not_usable() -> None:
    nothing = {metric: unscored(UnscoredReason.NO_ANSWER) for metric in Metric}
    result = report((row(QUESTIONS[0], scores=nothing, syntax=None), ROWS[1]))
    assert (result.n_rows, result.n_usable) == (2, 1)


def test_calls_of_both_roles_may_share_a_key() -> None:
    calls = (call("same", "generator"), call("same", "judge"))
    assert report((row(QUESTIONS[0], calls=calls),)).spend.calls == 2
    assert FEW_SHOTS.k_effective == 2
