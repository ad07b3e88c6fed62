"""The rehearsal server under a quota: what passes, what is refused, and what its headers say."""

import pytest
from manual_clock import ManualClock
from starlette.testclient import TestClient

from core.serving.rehearsal.endpoints import application
from core.serving.rehearsal.settings import Settings

BODY = {"model": "rehearsal-1", "max_tokens": 20, "messages": [{"role": "user", "content": "Hello"}]}
HEADERS = {"x-api-key": "any", "anthropic-version": "2023-06-01"}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def client(clock: ManualClock) -> TestClient:
    return TestClient(application(Settings(quota=2.0, quota_burst=4), clock), headers=HEADERS)


def test_a_burst_passes_and_the_next_is_told_how_long_to_wait(client: TestClient, clock: ManualClock) -> None:
    ends = [client.post("/v1/messages", json=BODY) for _ in range(5)]
    assert [end.status_code for end in ends] == [200, 200, 200, 200, 429]
    remaining = [end.headers["anthropic-ratelimit-requests-remaining"] for end in ends]
    assert remaining == ["3", "2", "1", "0", "0"]
    assert ends[-1].headers["retry-after"] == "1"
    assert ends[-1].headers["anthropic-ratelimit-requests-limit"] == "4"
    assert ends[-1].headers["anthropic-ratelimit-requests-reset"] == "2026-11-21T12:00:02Z"
    assert ends[-1].json()["error"]["type"] == "rate_limit_error"
    clock.advance(1.0)
    assert [client.post("/v1/messages", json=BODY).status_code for _ in range(3)] == [200, 200, 429]


def test_without_a_quota_nothing_is_refused(clock: ManualClock) -> None:
    client = TestClient(application(Settings(), clock), headers=HEADERS)
    assert {client.post("/v1/messages", json=BODY).status_code for _ in range(50)} == {200}


def test_a_batch_is_no_request_of_the_quota_and_ends_when_it_is_due(clock: ManualClock) -> None:
    client = TestClient(application(Settings(quota=1.0, batch_ms=5000), clock), headers=HEADERS)
    entries = [{"custom_id": name, "params": BODY} for name in ("a", "b", "c")]
    made = client.post("/v1/messages/batches", json={"requests": entries}, headers={"assay-repeats": "0*2,1*1"}).json()
    path = f"/v1/messages/batches/{made['id']}"
    assert made["request_counts"]["processing"] == 3
    assert client.get(f"{path}/results").status_code == 404
    clock.advance(5.0)
    ended = client.get(path).json()
    assert (ended["processing_status"], ended["request_counts"]["succeeded"]) == ("ended", 3)
    lines = client.get(ended["results_url"]).text.splitlines()
    assert len(lines) == 3
    assert client.get("/v1/messages/batches").json()["data"][0]["id"] == made["id"]


@pytest.mark.parametrize(
    ("requests", "repeats", "said"),
    [
        ([], "", "1 to 100000"),
        ([{"custom_id": "a b", "params": BODY}], "", "custom_id"),
        ([{"custom_id": "a", "params": BODY}] * 2, "", "unique"),
        ([{"custom_id": "a"}], "", "params"),
        ([{"custom_id": "a", "params": BODY}], "0*2", "one repetition per entry"),
        ([{"custom_id": "a", "params": BODY}], "x", "REPEAT*TIMES"),
    ],
)
def test_batches_that_the_api_would_refuse_are_refused(requests: list[object], repeats: str, said: str) -> None:
    client = TestClient(application(Settings(), ManualClock()), headers=HEADERS)
    answer = client.post("/v1/messages/batches", json={"requests": requests}, headers={"assay-repeats": repeats})
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]


def test_a_canceled_batch_answers_nothing_more() -> None:
    client = TestClient(application(Settings(batch_ms=10**6), ManualClock()), headers=HEADERS)
    made = client.post("/v1/messages/batches", json={"requests": [{"custom_id": "a", "params": BODY}]}).json()
    assert client.post(f"/v1/messages/batches/{made['id']}/cancel").json()["processing_status"] == "canceling"
    ended = client.get(f"/v1/messages/batches/{made['id']}").json()
    assert (ended["processing_status"], ended["request_counts"]["canceled"]) == ("ended", 1)
