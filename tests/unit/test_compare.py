"""Comparisons: what was planted is found, what was not is not claimed, and what cannot be compared says why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from comparison_sides import contender, planted_rows, spread
from evaluation_rows import question, row
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.measure.compare import compare, pairs_of
from core.measure.compare_side import Contender
from core.measure.paired import paired_permutation
from core.measure.rates import mcnemar_exact
from core.model.comparison import (
    COMPARED,
    VALIDITY,
    Claim,
    CompareSpec,
    Comparison,
    Factor,
    MetricComparison,
    PairedTest,
)
from core.model.judged import UnscoredReason
from core.model.sample import QueryType


def compared(a: Contender, b: Contender, spec: CompareSpec | None = None, **options: Any) -> Comparison:
    return compare([(a, b)], spec or CompareSpec(resamples=999), seed=7, **options)


def only(comparison: Comparison, metric: str = "faithfulness") -> MetricComparison:
    found = comparison.pairs[0].metric(metric)
    assert found is not None
    return found


def _array(scores: list[list[float | None]]) -> NDArray[np.float64]:
    return np.array(scores, dtype=np.float64)


def two(a: Any, b: Any, **changed: Any) -> tuple[Contender, Contender]:
    return contender("a", planted_rows("a", a)), contender("b", planted_rows("b", b), **changed)


PLAIN, BETTER = spread(40, 3, seed=2), spread(40, 3, seed=3, lift=0.1)


def test_a_planted_difference_is_claimed_with_its_numbers() -> None:
    found = only(compared(*two(PLAIN, BETTER), CompareSpec()))
    truth = float(np.mean(_array(BETTER)) - np.mean(_array(PLAIN)))
    assert found.difference == pytest.approx(truth)
    assert found.claim is Claim.B_BETTER
    assert found.interval is not None
    assert found.interval.low < truth < found.interval.high
    assert found.p == paired_permutation(_array(PLAIN), _array(BETTER), seed=7).p
    assert found.sentence.startswith(f"b is better than a on faithfulness by {truth:.3f} (95% CI ")
    assert found.sentence.endswith("adjusted p < 0.001; 40 questions).")


def test_the_better_side_is_named_whichever_comes_first() -> None:
    forth, back = (only(compared(*sides)) for sides in (two(PLAIN, BETTER), two(BETTER, PLAIN)))
    assert (forth.claim, back.claim) == (Claim.B_BETTER, Claim.A_BETTER)
    assert forth.p == back.p
    assert back.difference == pytest.approx(-(forth.difference or 0))
    assert back.sentence.startswith("a is better than b on faithfulness by 0.")
    assert forth.sentence[1:].replace(" a ", " b ") == back.sentence[1:]


def test_without_a_difference_nothing_is_claimed_and_what_could_have_been_seen_is_said() -> None:
    found = only(compared(*two(PLAIN, spread(40, 3, seed=4)), CompareSpec()))
    assert found.claim is Claim.UNDECIDED
    assert found.minimum_detectable is not None
    assert found.questions_needed is not None
    assert found.questions_needed > 40
    assert found.sentence.startswith("No difference in faithfulness between a and b can be claimed (b minus a is ")
    assert f"a difference under {found.minimum_detectable:.3f} could not have been seen" in found.sentence
    assert f"about {found.questions_needed:,} questions would be needed" in found.sentence
    assert "better" not in found.sentence


def test_equal_scores_are_not_shown_to_be_equal() -> None:
    found = only(compared(*two(PLAIN, PLAIN)))
    assert (found.difference, found.p, found.claim) == (0.0, 1.0, Claim.UNDECIDED)
    assert found.minimum_detectable is None
    assert "b minus a is 0.000" in found.sentence
    assert "the two score the same on all 40 questions" in found.sentence


def test_questions_that_one_side_lacks_are_left_out_and_counted() -> None:
    one, other = two([[0.1], [0.2], [None], [0.4], [None]], [[0.2], [None], [0.3], [0.5], [None]])
    more = contender("b", (*other.rows, row(question(9), suite="b")))
    found = only(compared(one, more))
    assert found.n_questions == 2
    assert found.difference == pytest.approx(0.1)
    assert [(each.side, each.reason, each.questions) for each in found.left_out] == [
        ("a", None, 1),
        ("a", UnscoredReason.MALFORMED, 2),
        ("b", UnscoredReason.MALFORMED, 1),
    ]


def test_a_question_counts_by_its_scored_runs() -> None:
    found = only(compared(*two([[0.2, None], [0.4, 0.6]], [[0.3, 0.5], [None, 0.9]])))
    assert found.a_mean == pytest.approx(0.35)
    assert found.b_mean == pytest.approx(0.65)


def test_runs_need_not_be_equally_many() -> None:
    found = only(compared(*two([[0.2], [0.4]], [[0.3, 0.5], [0.8, 1.0]])))
    assert found.difference == pytest.approx(0.35)


def test_few_questions_cannot_show_anything_and_say_so() -> None:
    found = only(compared(*two([[0.1], [0.2], [0.1]], [[0.9], [0.8], [0.7]])))
    assert found.test is PairedTest.EXACT_PERMUTATION
    assert found.claim is Claim.UNDECIDED
    assert found.minimum_detectable is None
    assert (
        "with 3 questions and a family of 6 tests no difference, however large, could have been claimed on its own"
        in found.sentence
    )


def test_few_resamples_are_named_as_the_hindrance() -> None:
    found = only(compared(*two(PLAIN, BETTER), CompareSpec(resamples=50)))
    assert found.claim is Claim.UNDECIDED
    assert "with 50 resamples and a family of 6 tests" in found.sentence


@pytest.mark.parametrize(("questions", "why"), [(0, "no question was scored"), (1, "one question alone was scored")])
def test_nothing_to_pair_is_named(questions: int, why: str) -> None:
    scores: list[list[float | None]] = [[0.5 if place < questions else None] for place in range(3)]
    found = only(compared(*two(scores, scores)))
    assert (found.claim, found.p, found.interval) == (Claim.NOT_TESTED, None, None)
    assert found.why_not.startswith(why)
    assert found.why_not in found.sentence


def test_validity_is_a_table_of_questions() -> None:
    ours = [[True, True]] * 4 + [[True, False]] * 12 + [[None, None]] * 2
    theirs = [[True, True]] * 3 + [[False, True]] + [[True, None]] * 12 + [[True, True]] * 2
    scores = [[0.5, 0.5]] * 18
    a, b = (contender(name, planted_rows(name, scores, valid)) for name, valid in (("a", ours), ("b", theirs)))
    comparison = compared(a, b)
    table, found = comparison.pairs[0].validity, only(comparison, VALIDITY)
    assert table is not None
    assert (table.both, table.a_only, table.b_only, table.neither) == (3, 1, 12, 0)
    assert (table.a_valid_answers, table.a_answers, table.b_valid_answers, table.b_answers) == (20, 32, 23, 24)
    assert (found.test, found.p) == (PairedTest.MCNEMAR, mcnemar_exact(1, 12))
    assert (found.a_mean, found.b_mean, found.difference) == (4 / 16, 15 / 16, 11 / 16)
    assert [(each.side, each.reason, each.questions) for each in found.left_out] == [("a", UnscoredReason.NO_CODE, 2)]
    assert found.sentence.startswith(
        "b is better than a on syntactic validity by 0.688 in the share of questions whose code is always valid"
    )


def test_more_runs_are_not_more_chances_to_be_invalid() -> None:
    a = contender("a", planted_rows("a", [[0.5]] * 6, [[True]] * 6))
    b = contender("b", planted_rows("b", [[0.5] * 3] * 6, [[True, False, False]] * 6))
    table = compared(a, b).pairs[0].validity
    assert table is not None
    assert (table.both, table.b_only, table.a_only, table.runs) == (6, 0, 0, 1)
    assert (table.b_valid_answers, table.b_answers) == (6, 18)


def test_holm_runs_over_all_pairs_and_metrics() -> None:
    sides = [contender(name, planted_rows(name, spread(40, 2, seed=i))) for i, name in enumerate("abc", start=2)]
    spec = CompareSpec(resamples=999)
    whole = compare(pairs_of(sides, None), spec, seed=7)
    assert [(pair.a, pair.b) for pair in whole.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert whole.family == 3 * len(COMPARED)
    for pair in whole.pairs:
        for found in pair.metrics:
            assert found.p is not None
            assert found.p_adjusted is not None
            assert found.p <= found.p_adjusted <= 1.0
    smallest = min((found for pair in whole.pairs for found in pair.metrics), key=lambda found: found.p or 0)
    assert smallest.p_adjusted == pytest.approx(min(1.0, whole.family * (smallest.p or 0)))
    narrow = compare(pairs_of(sides, "c"), CompareSpec(resamples=999, metrics=("faithfulness",)), seed=7)
    assert [(pair.a, pair.b) for pair in narrow.pairs] == [("c", "a"), ("c", "b")]
    assert narrow.family == 2


def test_what_may_not_be_cited_says_so_in_every_sentence() -> None:
    a, b = two(PLAIN, BETTER)
    side = b.side.model_copy(update={"binding_faults": ("4 runs per suite",)})
    comparison = compared(a, replace(b, side=side))
    assert not comparison.citable
    assert all(found.sentence.endswith("Non-binding: may not be cited.") for found in comparison.pairs[0].metrics)
    assert "Non-binding" not in compared(a, b).model_dump_json()


def test_one_type_of_question_alone() -> None:
    rows = {
        name: [
            row(question(n, type=kind), suite=name, value=value)
            for n, (kind, value) in enumerate([(QueryType.RETRIEVAL, lift), (QueryType.CODE_GENERATION, 0.1)] * 4)
        ]
        for name, lift in (("a", 0.2), ("b", 0.4))
    }
    comparison = compared(contender("a", rows["a"]), contender("b", rows["b"]), query_type=QueryType.RETRIEVAL)
    assert (only(comparison).n_questions, comparison.query_type) == (4, QueryType.RETRIEVAL)
    assert only(comparison).difference == pytest.approx(0.2)


def test_equal_input_gives_equal_bytes_in_any_order_of_rows() -> None:
    a, b = two(PLAIN, BETTER)
    turned = replace(b, rows=tuple(reversed(b.rows)))
    assert compared(a, b).model_dump_json() == compared(a, turned).model_dump_json()


REFUSED = [
    ({"retrieval_mode": "bm25_only"}, "the retrieval mode differs (hybrid against bm25_only)"),
    ({"parser": {"version": "2.0"}}, "the parser's version differs (1.0 against 2.0)"),
    ({"parser": {"vocabulary": "w"}}, "the parser's vocabulary differs (v s against w s)"),
    ({"parser": {"vocabulary_sha256": "other"}}, "the parser's vocabulary differs (v s against v other)"),
    ({"parser": {"dialect": "lenient"}}, "the parser's dialect differs"),
    ({"parser": {"validating": False}}, "one parser validates and the other only executes"),
    (
        {"judge": {"model": "other-20260101"}},
        "the judge model differs (anthropic/judge-20260101 against anthropic/other-20260101)",
    ),
    ({"judge": {"temperature_asked": 0.5}}, "the judge was asked in another way"),
]


@pytest.mark.parametrize(("change", "reason"), REFUSED)
def test_incomparable_suites_have_reasons_and_no_numbers(change: dict[str, Any], reason: str) -> None:
    a, b = two(PLAIN, BETTER)
    updates = {
        field: getattr(b.stood_on, field).model_copy(update=value) if isinstance(value, dict) else value
        for field, value in change.items()
    }
    pair = compared(a, contender("b", b.rows, **updates)).pairs[0]
    assert len(pair.incomparable) == 1
    assert pair.incomparable[0].startswith(reason)
    assert (pair.metrics, pair.validity) == ((), None)


RECORD_REFUSED = [
    ({"metrics": ("faithfulness@2",)}, "the metrics differ in version (faithfulness@1 against faithfulness@2)"),
    ({"prompts": {"b@1": "2", "a@1": "9"}}, "the assistant's prompts differ (a@1) and are not stated as the factor"),
    ({"prompts": {"b@1": "2", "a@1": "1", "judge.support@1": "3"}}, "the judge's prompts differ (judge.support@1)"),
]


@pytest.mark.parametrize(("change", "reason"), RECORD_REFUSED)
def test_records_that_differ_in_what_measures_are_refused(change: dict[str, Any], reason: str) -> None:
    a, b = two(PLAIN, BETTER)
    other = replace(b, record=b.record.model_copy(update=change))
    assert compared(a, other).pairs[0].incomparable == (reason,)


def test_another_golden_set_and_the_same_suite_twice_are_refused() -> None:
    a, b = two(PLAIN, BETTER)
    other = replace(b, dataset="e" * 64)
    assert compared(a, other).pairs[0].incomparable == (f"the golden set differs ({'d' * 12} against {'e' * 12})",)
    assert compared(a, a).pairs[0].incomparable == ("they are one and the same suite",)


def test_the_stated_factor_may_differ() -> None:
    sides = two(PLAIN, BETTER, retrieval_mode="bm25_only")
    stated = compared(*sides, CompareSpec(factor=Factor.RETRIEVAL_MODE, resamples=999))
    assert stated.pairs[0].incomparable == ()
    assert [(d.setting, d.a, d.b) for d in stated.pairs[0].differences] == [("retrieval.mode", "hybrid", "bm25_only")]
    assert compared(*sides, CompareSpec(factor=Factor.ANSWER_PROMPTS)).pairs[0].incomparable


def test_an_incomparable_pair_keeps_no_other_from_being_compared() -> None:
    sides = [contender(n, planted_rows(n, spread(20, 1, seed=i))) for i, n in enumerate("abc", start=2)]
    sides[1] = contender("b", sides[1].rows, retrieval_mode="bm25_only")
    whole = compare(pairs_of(sides, None), CompareSpec(resamples=999), seed=7)
    assert [bool(pair.metrics) for pair in whole.pairs] == [False, True, False]
    assert whole.family == len(COMPARED)


def test_relevancy_measured_by_two_embedders_is_not_compared() -> None:
    a, b = two(PLAIN, BETTER)
    index = b.stood_on.index.model_copy(update={"embedder": "other", "embedder_name": "bge"})
    comparison = compared(a, contender("b", b.rows, index=index))
    for metric in ("answer_relevancy", "global_score"):
        found = only(comparison, metric)
        assert (found.claim, found.difference, found.p) == (Claim.NOT_TESTED, None, None)
        assert "letters e against bge other" in found.sentence
    assert only(comparison).claim is Claim.B_BETTER
    assert comparison.family == 4


@given(
    st.integers(2, 12).flatmap(
        lambda n: st.tuples(*[st.lists(st.floats(0, 1) | st.none(), min_size=n, max_size=n)] * 2)
    )
)
def test_a_claim_always_has_the_numbers_behind_it(sides: tuple[list[float | None], list[float | None]]) -> None:
    a, b = ([[score] for score in side] for side in sides)
    comparison = compared(*two(a, b), CompareSpec(resamples=199))
    for found in comparison.pairs[0].metrics:
        assert found.n_questions + sum(each.questions for each in found.left_out) == len(a)
        assert found.sentence.endswith(".")
        if found.claim in {Claim.A_BETTER, Claim.B_BETTER}:
            assert found.p_adjusted is not None
            assert found.interval is not None
            assert found.p_adjusted <= 0.05 + 1e-12
            assert found.interval.low > 0 or found.interval.high < 0
        if found.claim is Claim.NOT_TESTED:
            assert found.why_not
        else:
            assert found.p_adjusted is not None
