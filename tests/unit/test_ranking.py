"""Fusion of rankings, and how much of the gold sections they hold."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.measure.ranking import reciprocal_rank, reciprocal_rank_fusion, section_of, section_recall

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8), max_size=4)


def test_the_worked_example_of_two_rankings() -> None:
    fused = reciprocal_rank_fusion([["a", "b", "c"], ["c", "a", "d"]])
    assert [item for item, _ in fused] == ["a", "c", "b", "d"]
    assert dict(fused)["a"] == pytest.approx(1 / 61 + 1 / 62, abs=1e-15)
    assert dict(fused)["d"] == pytest.approx(1 / 63, abs=1e-15)


def test_equal_scores_are_ordered_by_id() -> None:
    assert [item for item, _ in reciprocal_rank_fusion([["z"], ["a"]])] == ["a", "z"]


def test_a_repeated_id_counts_at_its_best_rank() -> None:
    assert dict(reciprocal_rank_fusion([["a", "a", "b"]])) == {"a": 1 / 61, "b": 1 / 62}


def test_a_negative_k_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        reciprocal_rank_fusion([["a"]], k=-1)


@given(RANKINGS)
def test_the_order_of_the_rankings_does_not_matter(rankings: list[list[str]]) -> None:
    assert reciprocal_rank_fusion(rankings) == reciprocal_rank_fusion(rankings[::-1])


@given(RANKINGS)
def test_fusion_holds_every_id_once_with_the_sum_of_its_shares(rankings: list[list[str]]) -> None:
    fused = reciprocal_rank_fusion(rankings)
    assert sorted(item for item, _ in fused) == sorted({item for ranking in rankings for item in ranking})
    for item, score in fused:
        shares = [1 / (60 + ranking.index(item) + 1) for ranking in rankings if item in ranking]
        assert score == math.fsum(shares)


@given(st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8))
def test_one_ranking_keeps_its_order(ranking: list[str]) -> None:
    assert [item for item, _ in reciprocal_rank_fusion([ranking, ranking])] == ranking


def test_any_chunk_of_a_section_finds_the_section() -> None:
    assert section_of("reference/loops#range~2") == "reference/loops#range"
    assert section_recall(["reference/loops#range", "samples/sum"], ["x", "reference/loops#range~2"]) == 0.5
    assert reciprocal_rank(["reference/loops#range"], ["x", "reference/loops#range~2"]) == 0.5
    assert reciprocal_rank(["samples/sum"], ["x"]) == 0.0


def test_without_gold_there_is_nothing_to_find() -> None:
    assert section_recall([], ["x"]) is None
    assert reciprocal_rank([], ["x"]) is None
