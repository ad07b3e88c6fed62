"""Which failures are repeated, and how long is waited."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.policy.retry import Backoff, Failure, from_response, is_retryable

NOW = "2026-11-21T12:00:00Z"


@pytest.mark.parametrize("status", [0, 408, 409, 429, 500, 502, 503, 504, 529])
def test_troubles_of_the_moment_are_repeated(status: int) -> None:
    assert is_retryable(Failure("", status))


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_refusals_are_not(status: int) -> None:
    assert not is_retryable(Failure("", status))


@pytest.mark.parametrize(
    ("said", "status", "expected"), [("true", 400, True), ("false", 529, False), ("?", 400, False)]
)
def test_the_servers_advice_wins(said: str, status: int, expected: bool) -> None:
    assert is_retryable(from_response(status, {"x-should-retry": said}, "", now=NOW)) is expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "Sat, 21 Nov 2026 12:01:30 GMT"}, 90.0),
        ({"retry-after": "Sat, 21 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_every_spelling_of_retry_after(headers: dict[str, str], expected: float | None) -> None:
    assert from_response(429, headers, "", now=NOW).wait_s == expected


@given(st.text())
def test_no_header_can_break_it(text: str) -> None:
    wait = from_response(429, {"retry-after": text, "x-should-retry": text}, "", now=NOW).wait_s
    assert wait is None or wait >= 0


@given(st.integers(0, 10_000), st.integers(0, 2**60))
def test_the_delay_doubles_to_its_ceiling_minus_at_most_a_quarter(attempt: int, seed: int) -> None:
    full = min(0.5 * 2 ** min(attempt, 10), 8.0)
    assert 0.75 * full <= Backoff().delay(attempt, seed) <= full


def test_jitter_comes_from_the_seed_alone() -> None:
    delays = [[Backoff().delay(attempt, seed) for attempt in range(8)] for seed in (1, 1, 2)]
    assert delays[0] == delays[1] != delays[2]


@given(
    st.builds(Failure, st.just(""), st.sampled_from([0, 400, 429, 529]), st.none(), st.none() | st.floats(0, 1e6)),
    st.integers(0, 40),
    st.floats(-10, 200),
)
def test_a_pause_ends_before_the_deadline_and_never_undercuts_the_server(
    failure: Failure, attempt: int, remaining_s: float
) -> None:
    pause = Backoff().pause(failure, attempt=attempt, seed=7, remaining_s=remaining_s)
    if pause is not None:
        assert (failure.wait_s or 0.0) <= pause < remaining_s


def test_a_server_saying_zero_is_not_hammered() -> None:
    assert Backoff().pause(Failure("", 429, None, 0.0), attempt=0, seed=7, remaining_s=60) == Backoff().delay(0, 7)
