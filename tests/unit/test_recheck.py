"""A finished run under another gate: verdicts, scores, means and gates follow, and what judges said stays."""

import pytest
from evaluation_rows import question, record, row, scored, unscored

from core.adapters.languages import load_vocabulary
from core.avap import Vocabulary, check
from core.flows.recheck import Reparse, questions_of, recheck, rejudged
from core.measure.summary import Background
from core.model.judged import Block, BlockKind, JudgedRow, Metric, UnscoredReason
from core.model.specs import GateSpec
from core.model.syntax import Category, Dialect, Validity

OLD, NEW = load_vocabulary("lrm-2026.04"), load_vocabulary("definitions-2026.03")
GOOD = "addVar(x, 1)"
NEWLY_GOOD = 'variableFromJSON(reply, "name", target)'
ALWAYS_BAD = "for x in y:"


def gate(vocabulary: Vocabulary) -> Reparse:
    return lambda row, code: check(code, vocabulary, Dialect.STRICT)


def answered(number: int, *codes: str, by: Vocabulary = OLD, value: float = 0.8) -> JudgedRow:
    """A row whose answer has these code blocks, as `by` judged it."""
    foreign = Block(kind=BlockKind.FOREIGN, label="go", line=1, closed=True, code="func main()")
    blocks = [Block(kind=BlockKind.CODE, label="avap", line=2, closed=True, code=code) for code in codes]
    plain = row(question(number), value=value, syntax=None, blocks=(foreign,))
    results = [block.model_copy(update={"result": check(block.code, by, Dialect.STRICT)}) for block in blocks]
    return rejudged(plain.model_copy(update={"blocks": (foreign, *results)}), gate(by))


ROWS = [answered(1, GOOD), answered(2, NEWLY_GOOD), answered(3, GOOD, ALWAYS_BAD), answered(4)]


def test_the_same_gate_changes_nothing() -> None:
    found = recheck(ROWS, Background(record=record(runs=1), questions=()), gate(OLD))
    assert (found.rows, found.code_bearing, found.changes, found.gates) == (4, 3, (), ())
    assert all(shift.before == shift.after for shift in found.shifts)
    assert [rejudged(each, gate(OLD)) for each in ROWS] == ROWS


def test_a_wider_vocabulary_gives_back_what_the_gate_had_taken() -> None:
    gates = [GateSpec(metric="syntactic_validity", threshold=0.6)]
    found = recheck(ROWS, Background(record=record(runs=1), questions=(), gates=gates), gate(NEW))
    (change,) = found.changes
    assert (change.row, change.is_verdict) == ("main.run-01/GD-C-002", True)
    assert (change.verdict_before, change.verdict_after) == (Validity.INVALID, Validity.VALID)
    assert (change.category_before, change.category_after) == (Category.UNKNOWN_TOKEN, None)
    assert (change.global_before, change.global_after) == pytest.approx((0.4, 0.8))
    means = {shift.metric: (shift.before, shift.after) for shift in found.shifts}
    assert means["syntactic_validity"] == pytest.approx((1 / 3, 2 / 3))
    assert means["faithfulness"] == pytest.approx((0.4, 0.6))
    assert means["context_recall"] == pytest.approx((0.8, 0.8))
    assert [(shift.passed_before, shift.passed_after) for shift in found.gates] == [(False, True)]
    assert found.verdicts_changed == 1


def test_a_narrower_one_takes_and_keeps_the_raw_scores() -> None:
    wide = answered(2, NEWLY_GOOD, by=NEW)
    narrow = rejudged(wide, gate(OLD))
    assert (wide.syntax, narrow.syntax) == (Validity.VALID, Validity.INVALID)
    assert (narrow.scores[Metric.FAITHFULNESS].raw, narrow.scores[Metric.FAITHFULNESS].final) == (0.8, 0.0)
    assert narrow.scores[Metric.CONTEXT_RECALL].final == 0.8
    assert JudgedRow.model_validate_json(narrow.model_dump_json()) == narrow


def test_an_unscored_metric_stays_unscored_with_its_reason() -> None:
    gap = row(question(1), syntax=None, scores={Metric.FAITHFULNESS: unscored(), Metric.GLOBAL: scored(0.1)})
    again = rejudged(gap, gate(NEW)).scores
    assert again.faithfulness == gap.scores.faithfulness
    assert again.global_score.reason is UnscoredReason.PART_UNSCORED


def test_the_questions_are_those_of_the_rows() -> None:
    assert questions_of([*ROWS, answered(2, GOOD)]) == tuple(question(number) for number in (1, 2, 3, 4))
