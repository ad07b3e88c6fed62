"""Did you mean: edits, bounds, and what stays unanswered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.avap.suggest import edit_distance, nearest

WORDS = ("addParam", "addResult", "addVar", "encodeMD5", "encodeSHA256", "end", "gather", "go", "if", "try")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("encodeSHA25", "encodeSHA256"),
        ("endcodeSHA256", "encodeSHA256"),
        ("addRseult", "addResult"),
        ("ADDVAR", "addVar"),
        ("gahter", "gather"),
        ("ende", "end"),
        ("sendEmailToEverybody", None),
        ("x", None),
        ("a" * 100, None),
    ],
)
def test_nearest(name: str, expected: str | None) -> None:
    assert nearest(name, WORDS) == expected


@pytest.mark.parametrize(
    ("left", "right", "edits"), [("", "", 0), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "bc", 1), ("ab", "xabc", 2)]
)
def test_edit_distance(left: str, right: str, edits: int) -> None:
    assert edit_distance(left, right, 3) == edits


@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
def test_distance_is_symmetric_and_bounded(left: str, right: str) -> None:
    edits = edit_distance(left, right, 8)
    assert edits == edit_distance(right, left, 8)
    assert abs(len(left) - len(right)) <= edits <= max(len(left), len(right))
    assert (edits == 0) == (left == right)
    assert edit_distance(left, right, 1) == min(edits, 2)
