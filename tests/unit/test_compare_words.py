"""How a comparison reads: every number in its column, every pair accounted for, the claims first on a terminal."""

from __future__ import annotations

import pytest
from comparison_sides import contender, planted_rows, spread
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ConfigError
from core.lab.report import comparison as words
from core.measure.compare import compare, pairs_of
from core.measure.compare_gates import parse_gate
from core.measure.compare_sentences import amount, p_value, signed
from core.model.comparison import COMPARED, CompareSpec, Comparison, GateComparator


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """`b` is better than `a`; `c` searched in another way."""
    lifts = {"a": 0.0, "b": 0.2, "c": 0.0}
    sides = [
        contender(name, planted_rows(name, spread(20, 2, seed=seed, lift=lift)))
        for seed, (name, lift) in enumerate(lifts.items())
    ]
    sides[2] = contender("c", sides[2].rows, retrieval_mode="knn_only")
    return compare(pairs_of(sides, "a"), CompareSpec(baseline="a", resamples=999), seed=1)


def test_the_section_has_a_table_and_a_sentence_for_every_metric(comparison: Comparison) -> None:
    lines = list(words.section(comparison))
    table = [line for line in lines if line.startswith("|")]
    assert {line.count("|") for line in table} == {len(words.HEAD) + 1}
    assert len(table) == len(COMPARED) + 2
    assert "### A = a, B = b" in lines
    assert any(line.startswith("- b is better than a on faithfulness by 0.") for line in lines)
    assert any(line.startswith("- Of 20 questions with code on both sides, over 2 runs") for line in lines)
    assert any("the retrieval mode differs (hybrid against knn_only)" in line for line in lines)


def test_the_summary_has_the_claims_and_counts_the_rest(comparison: Comparison) -> None:
    count, *claims, refused = words.summary(comparison)
    assert count == "compared: 5 of 6 tests show a difference, 1 are undecided"
    assert all(" is better than a on " in claim for claim in claims)
    assert refused.startswith("a and c are not compared: the retrieval mode differs")


def test_small_numbers_are_not_rounded_away() -> None:
    assert [amount(value) for value in (0.0, 0.04149, 0.00012, 1.5)] == ["0.000", "0.041", "1.2e-04", "1.500"]
    assert [p_value(value) for value in (1.0, 0.0316, 0.0009)] == ["1.000", "0.032", "< 0.001"]
    assert [signed(value) for value in (0.0, 0.0004, 0.04, -0.04)] == ["0.000", "0.000", "+0.040", "-0.040"]


@given(
    metric=st.sampled_from(COMPARED),
    comparator=st.sampled_from(GateComparator),
    bar=st.floats(-1, 1),
    spaces=st.tuples(*[st.sampled_from(["", " ", "  "])] * 4),
)
def test_a_gate_reads_as_it_is_written(
    metric: str, comparator: GateComparator, bar: float, spaces: tuple[str, str, str, str]
) -> None:
    gate = parse_gate(f"{spaces[0]}{metric}{spaces[1]}{comparator}{spaces[2]}{bar!r}{spaces[3]}")
    assert (gate.metric, gate.comparator, gate.threshold) == (metric, comparator, bar)


@given(st.text(max_size=40))
def test_any_other_text_is_refused_with_a_column(text: str) -> None:
    with pytest.raises(ConfigError, match=r"column \d+: "):
        parse_gate(text)
