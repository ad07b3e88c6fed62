"""Gates and bands: bars over means, and no pass without evidence."""

import pytest
from evaluation_rows import question, row, unscored

from core.errors import ConfigError
from core.measure.bands import band_of
from core.measure.gates import gate_results, require_known
from core.measure.series import READINGS, suite_rows
from core.model.calibration import InjectedFault
from core.model.evaluation import GateResult
from core.model.judged import JudgedRow, Metric
from core.model.sample import QueryType
from core.model.specs import BandSpec, Comparator, Fault, GateSpec
from core.model.syntax import Validity

CODE, PROSE = question(1), question(2, type=QueryType.RETRIEVAL)


def result(gate: GateSpec, *rows: JudgedRow) -> GateResult:
    suite = suite_rows(rows, suite="main", questions=(CODE, PROSE), runs=2)
    return gate_results((gate,), suite)[0]


def test_the_shipped_gate_looks_at_code_generation_alone() -> None:
    gate = GateSpec(metric="syntactic_validity", threshold=0.95, query_type="CODE_GENERATION")
    rows = (row(CODE, 1), row(CODE, 2), row(PROSE, 1, syntax=Validity.INVALID))
    assert (result(gate, *rows).passed, result(gate, *rows).value) == (True, 1.0)
    assert not result(gate.model_copy(update={"query_type": None}), *rows).passed


@pytest.mark.parametrize(
    ("comparator", "threshold", "passed"),
    [
        (Comparator.AT_LEAST, 0.5, True),
        (Comparator.AT_LEAST, 0.51, False),
        (Comparator.AT_MOST, 0.5, True),
        (Comparator.AT_MOST, 0.49, False),
    ],
)
def test_a_bar_met_exactly_is_met(comparator: Comparator, threshold: float, passed: bool) -> None:
    gate = GateSpec(metric="faithfulness", comparator=comparator, threshold=threshold)
    assert result(gate, row(CODE, 1), row(PROSE, 1)).passed is passed


@pytest.mark.parametrize("comparator", list(Comparator))
def test_a_metric_that_nobody_could_score_fails_and_says_why(comparator: Comparator) -> None:
    gate = GateSpec(metric="faithfulness", comparator=comparator, threshold=0.5)
    found = result(gate, row(CODE, 1, scores={Metric.FAITHFULNESS: unscored()}))
    assert (found.passed, found.value) == (False, None)
    assert found.reason == "no row could be scored (malformed_reply 1, row_missing 3)"
    nobody = GateSpec(metric="faithfulness", threshold=0.5, query_type="PLATFORM")
    assert result(nobody, row(CODE, 1)).reason == "no row could be scored (no such questions)"


@pytest.mark.parametrize("metric", sorted(READINGS))
def test_every_metric_of_the_report_can_be_gated(metric: str) -> None:
    gate = GateSpec(metric=metric, threshold=0.1)
    require_known([gate])
    assert result(gate, row(CODE, 1)).passed


def test_the_parser_itself_can_be_gated_where_the_truth_is_known() -> None:
    known = {"msg-bad": InjectedFault(message_id="msg-bad", fault=Fault.FOREIGN_LANGUAGE, detail="Go", code="x")}
    rows = (row(CODE, 1, syntax=Validity.INVALID, message_id="msg-bad"), row(CODE, 2), row(PROSE, 1))
    suite = suite_rows(rows, suite="main", questions=(CODE, PROSE), runs=2)
    gates = (
        GateSpec(metric="calibration_recall", threshold=1.0),
        GateSpec(metric="calibration_false_alarm_rate", comparator=Comparator.AT_MOST, threshold=0.0),
        GateSpec(metric="calibration_recall", threshold=1.0, query_type="RETRIEVAL"),
    )
    require_known(gates)
    assert [(g.value, g.passed) for g in gate_results(gates, suite, known)] == [(1.0, True), (0.0, True), (None, False)]
    blind = gate_results(gates, suite)
    assert {(g.value, g.passed) for g in blind} == {(None, False)}
    assert "not rehearsed" in blind[0].reason


def test_unknown_metrics_and_types_are_config_errors_that_name_the_known() -> None:
    with pytest.raises(ConfigError) as raised:
        require_known([GateSpec(metric="faithfulness", threshold=0.5), GateSpec(metric="faithfulnes", threshold=0.5)])
    assert raised.value.path == "gates.1.metric"
    assert "faithfulness" in raised.value.remedy
    with pytest.raises(ConfigError) as raised:
        require_known([GateSpec(metric="faithfulness", threshold=0.5, query_type="CODE")])
    assert raised.value.path == "gates.0.query_type"
    assert "CODE_GENERATION" in raised.value.remedy


@pytest.mark.parametrize(
    ("score", "band"), [(0.8, "EXCELLENT"), (0.79, "ACCEPTABLE"), (0.6, "ACCEPTABLE"), (0.1, None), (None, None)]
)
def test_a_score_earns_the_first_band_whose_floor_it_reaches(score: float | None, band: str | None) -> None:
    bands = [BandSpec(name="ACCEPTABLE", floor=0.6), BandSpec(name="EXCELLENT", floor=0.8)]
    assert band_of(score, bands) == band
