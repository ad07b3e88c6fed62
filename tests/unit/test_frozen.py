"""Identity: one canonical form, or an error."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from core.model.frozen import Frozen, canonical_json, digest, seed_for
from core.model.verdict import Outcome, Verdict

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(values)
def test_the_canonical_form_is_a_fixed_point(value: object) -> None:
    once = canonical_json(value)
    assert canonical_json(json.loads(once)) == once


@given(st.dictionaries(st.text(), scalars, min_size=2))
def test_key_order_does_not_matter(mapping: dict[str, object]) -> None:
    reordered = dict(sorted(mapping.items(), reverse=True))
    assert digest(mapping) == digest(reordered)


@given(values, values)
def test_different_canonical_forms_have_different_digests(left: object, right: object) -> None:
    assert (digest(left) == digest(right)) == (canonical_json(left) == canonical_json(right))


def test_an_integral_float_is_the_integer() -> None:
    assert canonical_json({"a": 5.0}) == canonical_json({"a": 5})
    assert canonical_json({"a": 5.5}) != canonical_json({"a": 5})


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), {1: "a"}])
def test_what_has_no_settled_spelling_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        canonical_json(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [1.0, float("-inf")]])
def test_nan_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="canonical"):
        canonical_json(value)


@given(st.integers(), st.lists(st.text() | st.integers(), max_size=4))
def test_child_seeds_are_stable_and_fit_63_bits(root: int, path: list[str | int]) -> None:
    assert seed_for(root, *path) == seed_for(root, *path)
    assert 0 <= seed_for(root, *path) < 2**63


def test_child_seeds_differ_by_place() -> None:
    seeds = {seed_for(7, suite, run) for suite in "abc" for run in range(100)}
    assert len(seeds) == 300


def test_an_unknown_field_is_an_error() -> None:
    class Point(Frozen):
        x: int

    with pytest.raises(ValidationError, match="extra"):
        Point.model_validate({"x": 1, "y": 2})


@pytest.mark.parametrize(("outcome", "score"), [(Outcome.UNKNOWN, 0.0), (Outcome.PASS, None), (Outcome.FAIL, None)])
def test_a_verdict_has_a_score_exactly_when_it_knows(outcome: Outcome, score: float | None) -> None:
    with pytest.raises(ValidationError, match="does not fit"):
        Verdict(check="c", version=1, outcome=outcome, score=score)
