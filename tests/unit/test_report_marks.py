"""Axes with round ends, and marks that stay on them."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.lab.report.marks import Scale, difference_scales, scale

numbers = st.floats(min_value=-1e6, max_value=1e6).filter(lambda value: value == 0 or abs(value) > 1e-6)


def percent(place: str) -> float:
    assert place.endswith("%")
    return float(place[:-1])


@given(st.lists(numbers, min_size=2, max_size=20))
def test_every_value_lies_on_its_axis_in_order(values: list[float]) -> None:
    assume(max(values) - min(values) > 1e-6 * max(map(abs, values)))
    axis = scale(values)
    places = [percent(axis.at(value)) for value in sorted(values)]
    assert places == sorted(places)
    slack = 1e-6 * axis.step
    assert axis.low <= min(values) + slack
    assert axis.high >= max(values) - slack
    assert 2 <= len(axis.ticks) <= 8
    assert len({axis.label(tick) for tick in axis.ticks}) == len(axis.ticks)


@pytest.mark.parametrize(
    ("values", "including", "ends"),
    [
        ((), (), (0.0, 1.0)), ((None,), (), (0.0, 1.0)), ((0.5,), (0.0, 1.0), (0.0, 1.0)),
        ((-0.13,), (0.0, 1.0), (-0.25, 1.0)), ((0.61, 0.68), (), (0.6, 0.68)), ((0.02,), (0.0,), (0.0, 0.02)),
    ],
)  # fmt: skip
def test_ends_are_round(
    values: tuple[float | None, ...], including: tuple[float, ...], ends: tuple[float, float]
) -> None:
    axis = scale(values, including=including)
    assert (axis.low, axis.high) == pytest.approx(ends)


def test_equal_values_have_an_axis_too() -> None:
    axis = scale((0.5, 0.5))
    assert 30 < percent(axis.at(0.5)) < 70


def test_what_lies_beyond_is_drawn_at_the_end() -> None:
    axis = Scale(0.0, 1.0, 0.2)
    assert (axis.at(-3), axis.at(0.25), axis.at(7)) == ("0.00%", "25.00%", "100.00%")
    assert axis.between(-3, 0.25) == "25.00%"


def test_labels_tell_ticks_apart_and_use_a_minus() -> None:
    axis = Scale(-0.5, 0.25, 0.25)
    assert [axis.label(tick) for tick in axis.ticks] == ["−0.50", "−0.25", "0.00", "0.25"]
    assert Scale(0, 10, 5).label(5) == "5"


def test_without_a_comparison_its_axes_still_exist() -> None:
    axes = difference_scales(None)
    assert axes.of("faithfulness").low <= 0 <= axes.of("syntactic_validity").high
