"""What the headers say, and what is made of it between two responses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.policy.quota import Bucket, Quota, Resource, quotas

NOW = "2026-11-21T12:00:00Z"


def headers(resource: str = "requests", **changes: str) -> dict[str, str]:
    said = {"limit": "3000", "remaining": "600", "reset": "2026-11-21T12:00:48Z"} | changes
    return {f"anthropic-ratelimit-{resource}-{name}": text for name, text in said.items()}


def test_every_quota_that_is_stated_is_read() -> None:
    stated = headers() | headers("output-tokens", limit="8000", remaining="8000", reset="2026-11-21T12:00:00+00:00")
    assert quotas(stated, now=NOW) == (
        Quota(Resource.REQUESTS, 3000, 600, 48),
        Quota(Resource.OUTPUT_TOKENS, 8000, 8000, 0),
    )


@pytest.mark.parametrize(
    "changes",
    [{"limit": "0"}, {"remaining": "-1"}, {"remaining": "3001"}, {"reset": "soon"}, {"limit": "nan"}, {"limit": "inf"}],
)
def test_what_makes_no_sense_is_left_out(changes: dict[str, str]) -> None:
    assert quotas(headers(**changes), now=NOW) == ()


@given(st.text(), st.text(), st.text())
def test_no_header_can_break_it(limit: str, remaining: str, reset: str) -> None:
    for quota in quotas(headers(limit=limit, remaining=remaining, reset=reset), now=NOW):
        assert 0 <= quota.remaining <= quota.limit
        assert quota.full_in_s >= 0


def test_an_empty_bucket_frees_the_next_call_when_it_has_refilled_enough() -> None:
    bucket = Bucket()
    bucket.learn_use(1)
    bucket.learn(Quota(Resource.REQUESTS, 3000, 0, 60), sent_at=10.0, now=10.0, since=0)
    # One call and a hundredth of the bucket, at 50 a second.
    assert bucket.free_at(10.0) == pytest.approx(10 + 31 / 50)
    assert bucket.free_at(11.0) == 11.0


def test_what_was_sent_since_the_response_counts() -> None:
    bucket = Bucket()
    bucket.learn_use(1)
    bucket.learn(Quota(Resource.REQUESTS, 3000, 40, 59), sent_at=0.0, now=0.0, since=20)
    assert bucket.free_at(0.0) > 0.0


def test_nothing_waits_for_a_quota_that_nobody_stated() -> None:
    bucket = Bucket()
    bucket.take(0.0)
    assert bucket.free_at(5.0) == 5.0
