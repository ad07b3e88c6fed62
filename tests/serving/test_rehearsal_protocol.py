"""The rehearsal server through the real SDK: shapes, streaming, structured replies, failures, determinism."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic.types import MessageParam

from core.adapters.rehearsal import read_truth, running
from core.errors import DependencyDown
from core.model.specs import Fault, RehearsalSpec, RuntimeSpec

MODEL = "rehearsal-test-1"
ASK: list[MessageParam] = [{"role": "user", "content": "Say something."}]
ANSWER_SYSTEM = "<task>answer</task>\nAnswer from the context."
ANSWER_USER = """<route>CODE_GENERATION</route>
<context>
<passage id="P1" source="reference/crypto#sha">The command `encodeSHA256` computes the SHA-256 digest of a text. It \
stores the digest in its target.

```avap
addParam("password", password)
encodeSHA256(password, digest)
addResult(digest)
```</passage>
</context>
<question language="en">How do I compute the SHA-256 digest of a text?</question>"""
ANSWER: list[MessageParam] = [{"role": "user", "content": ANSWER_USER}]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    command = [sys.executable, "-m", "core.serving.rehearsal", "--port", "0", "--seed", "7", "--lifeline"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        port = json.loads(server.stdout.readline())["ready"]["port"]
        yield f"http://127.0.0.1:{port}"
        server.stdin.close()
        assert server.wait(10) == 0


@pytest.fixture
async def client(base_url: str) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(base_url=base_url, api_key="rehearsal", max_retries=0) as made:
        yield made


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content)


async def test_a_message_has_the_shape_of_the_api(client: anthropic.AsyncAnthropic) -> None:
    raw = await client.messages.with_raw_response.create(model=MODEL, max_tokens=400, messages=ASK)
    message = await raw.parse()

    assert message.id.startswith("msg_")
    assert (message.type, message.role, message.model, message.stop_reason) == (
        "message",
        "assistant",
        MODEL,
        "end_turn",
    )
    assert text_of(message)
    assert message.usage.input_tokens == 4
    assert message.usage.output_tokens > 0
    assert raw.headers["request-id"].startswith("req_")
    for what in ("requests", "input-tokens", "output-tokens"):
        assert int(raw.headers[f"anthropic-ratelimit-{what}-remaining"]) > 0
        assert raw.headers[f"anthropic-ratelimit-{what}-reset"].endswith("Z")


async def test_equal_requests_get_equal_replies_and_repeats_another(client: anthropic.AsyncAnthropic) -> None:
    async def ask(repeat: int) -> Any:
        return await client.messages.create(
            model=MODEL,
            max_tokens=400,
            system=ANSWER_SYSTEM,
            messages=ANSWER,
            extra_headers={"assay-repeat": str(repeat)},
        )

    first, again, other = await ask(0), await ask(0), await ask(1)

    assert first.model_dump() == again.model_dump()
    assert other.id != first.id


async def test_a_stream_says_what_the_message_says(client: anthropic.AsyncAnthropic) -> None:
    whole = await client.messages.create(model=MODEL, max_tokens=400, system=ANSWER_SYSTEM, messages=ANSWER)
    async with client.messages.stream(model=MODEL, max_tokens=400, system=ANSWER_SYSTEM, messages=ANSWER) as stream:
        pieces = [piece async for piece in stream.text_stream]
        streamed = await stream.get_final_message()

    assert len(pieces) > 1
    assert "".join(pieces) == text_of(whole)
    assert (streamed.id, streamed.stop_reason, streamed.usage.output_tokens) == (
        whole.id, "end_turn", whole.usage.output_tokens,
    )  # fmt: skip


async def test_a_stream_has_the_events_of_the_api_in_order(client: anthropic.AsyncAnthropic) -> None:
    stream = await client.messages.create(model=MODEL, max_tokens=8, messages=ASK, stream=True)
    kinds = [event.type async for event in stream]

    assert kinds == [
        "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
        "message_stop",
    ]  # fmt: skip


async def test_max_tokens_and_stop_sequences_end_a_reply(client: anthropic.AsyncAnthropic) -> None:
    cut = await client.messages.create(model=MODEL, max_tokens=5, messages=ASK)
    stopped = await client.messages.create(model=MODEL, max_tokens=400, messages=ASK, stop_sequences=["model"])

    assert (cut.stop_reason, cut.usage.output_tokens, len(text_of(cut))) == ("max_tokens", 5, 20)
    assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", "model")
    assert text_of(stopped) == "This is the rehearsal "


async def test_tokens_are_counted_as_a_message_counts_them(client: anthropic.AsyncAnthropic) -> None:
    counted = await client.messages.count_tokens(model=MODEL, system=ANSWER_SYSTEM, messages=ANSWER)
    message = await client.messages.create(model=MODEL, max_tokens=400, system=ANSWER_SYSTEM, messages=ANSWER)

    assert counted.input_tokens == message.usage.input_tokens == -(-len(ANSWER_SYSTEM + ANSWER_USER) // 4)


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


async def structured(client: anthropic.AsyncAnthropic, schema: dict[str, Any], **more: Any) -> Any:
    message = await client.messages.create(
        model=MODEL,
        max_tokens=400,
        output_config={"format": {"type": "json_schema", "schema": schema}},
        **({"messages": ASK} | more),
    )
    return json.loads(text_of(message))


async def test_an_unknown_schema_gets_its_smallest_instance(client: anthropic.AsyncAnthropic) -> None:
    schema = closed(
        {
            "kind": {"enum": ["a", "b"]},
            "when": {"type": "string", "format": "date"},
            "inner": {"$ref": "#/$defs/Inner"},
            "list": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
            "maybe": {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
        }
    ) | {"$defs": {"Inner": closed({"n": {"type": "number"}})}}

    assert await structured(client, schema) == {
        "kind": "a", "when": "2026-01-01", "inner": {"n": 0}, "list": [0], "maybe": None,
    }  # fmt: skip


async def test_a_judging_task_fills_what_its_schema_asks_beyond_the_contract(client: anthropic.AsyncAnthropic) -> None:
    item = closed({"id": {"type": "integer"}, "text": {"type": "string"}, "confidence": {"type": "number"}})
    schema = closed({"statements": {"type": "array", "items": item}})
    reply = await structured(
        client,
        schema,
        system="<task>judge.statements</task>",
        messages=[{"role": "user", "content": "<answer>AVAP runs on PLATON. It is line oriented.</answer>"}],
    )

    assert reply == {
        "statements": [
            {"id": 1, "text": "AVAP runs on PLATON.", "confidence": 0},
            {"id": 2, "text": "It is line oriented.", "confidence": 0},
        ]
    }


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"type": "object", "properties": {}}, "additionalProperties"),
        (closed({"n": {"type": "integer", "minimum": 0}}), "'minimum' is not supported"),
        (closed({"t": {"type": "string", "maxLength": 9}}), "'maxLength' is not supported"),
        (closed({"l": {"type": "array", "minItems": 3}}), "minItems"),
        (closed({"r": {"$ref": "#/$defs/Nowhere"}}), "Nowhere"),
        ({"$ref": "#/$defs/A", "$defs": {"A": closed({"a": {"$ref": "#/$defs/A"}})}}, "Recursive"),
    ],
)
async def test_schemas_that_the_api_refuses_are_refused(
    client: anthropic.AsyncAnthropic, schema: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=complaint):
        await structured(client, schema)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"temperature": 0}, "temperature"),
        ({"top_p": 0.5}, "top_p"),
        ({"top_k": 3}, "top_k"),
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"messages": []}, "at least one message"),
        ({"messages": [{"role": "assistant", "content": "hi"}]}, "first message must use the 'user' role"),
        ({"messages": [{"role": "user", "content": ""}]}, "non-empty"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "text blocks only"),
        ({"messages": [{"role": "system", "content": "hi"}]}, "role"),
        ({"messages": [*ASK, {"role": "assistant", "content": "I"}]}, "prefilled"),
        ({"stop_sequences": [" "]}, "stop_sequences"),
        ({"output_config": {"effort": "enormous"}}, "effort"),
        ({"output_config": {"format": {"type": "xml"}}}, "json_schema"),
        ({"sampling": "greedy"}, "sampling: Extra inputs are not permitted"),
    ],
)
async def test_bad_requests_are_refused_in_the_words_of_the_api(
    client: anthropic.AsyncAnthropic, change: dict[str, Any], complaint: str
) -> None:
    body = {"model": MODEL, "max_tokens": 10, "messages": ASK} | change
    with pytest.raises(anthropic.BadRequestError, match=complaint) as refused:
        await client.post("/v1/messages", cast_to=httpx2.Response, body=body)
    assert refused.value.type == "invalid_request_error"


async def test_an_older_api_version_takes_sampling_parameters(client: anthropic.AsyncAnthropic) -> None:
    message = await client.messages.create(
        model=MODEL, max_tokens=400, messages=ASK,
        extra_body={"temperature": 0}, extra_headers={"anthropic-version": "2023-06-01"},
    )  # fmt: skip
    assert message.stop_reason == "end_turn"


async def test_an_unknown_model_and_an_unknown_path_are_not_found(client: anthropic.AsyncAnthropic) -> None:
    with pytest.raises(anthropic.NotFoundError, match="gpt-x"):
        await client.messages.create(model="gpt-x", max_tokens=10, messages=ASK)
    with pytest.raises(anthropic.NotFoundError, match="/v1/files"):
        await client.get("/v1/files", cast_to=httpx2.Response)


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "", 404), ("PUT", "", 404), ("POST", "/", 307)])
async def test_beside_posts_of_messages_the_same_path_is_not_served(
    base_url: str, method: str, path: str, status: int
) -> None:
    async with httpx2.AsyncClient(base_url=base_url) as http:
        refused = await http.request(method, f"/v1/messages{path}", json={})
    assert refused.status_code == status
    if status == 404:
        assert refused.json()["error"]["message"] == f"{method} /v1/messages is not served by the rehearsal model"


async def test_the_models_are_listed(client: anthropic.AsyncAnthropic) -> None:
    assert all(model.id.startswith("rehearsal-") for model in (await client.models.list()).data)


async def test_a_request_without_key_or_with_broken_json_is_refused(base_url: str) -> None:
    async with httpx2.AsyncClient(base_url=base_url) as http:
        nobody = await http.post("/v1/messages", json={})
        broken = await http.post(
            "/v1/messages", content=b'{"model":', headers={"x-api-key": "k", "anthropic-version": "2026-10-21"}
        )
        unversioned = await http.post("/v1/messages", json={}, headers={"x-api-key": "k"})

    assert (nobody.status_code, nobody.json()["error"]["type"]) == (401, "authentication_error")
    assert (broken.status_code, unversioned.status_code) == (400, 400)
    assert "valid JSON" in broken.json()["error"]["message"]


async def fail(client: anthropic.AsyncAnthropic, trouble: str, *, stream: bool = False, **more: Any) -> Any:
    made = await client.messages.create(
        model=MODEL, max_tokens=400, messages=ASK, stream=stream, extra_headers={"assay-trouble": trouble}, **more
    )
    return [event async for event in made] if isinstance(made, anthropic.AsyncStream) else made


@pytest.mark.parametrize(
    ("trouble", "error", "kind"),
    [
        ("429", anthropic.RateLimitError, "rate_limit_error"),
        ("500", anthropic.InternalServerError, "api_error"),
        ("529", anthropic.OverloadedError, "overloaded_error"),
        ("nonsense", anthropic.BadRequestError, "invalid_request_error"),
    ],
)
async def test_errors_on_request(
    client: anthropic.AsyncAnthropic, trouble: str, error: type[anthropic.APIStatusError], kind: str
) -> None:
    with pytest.raises(error) as raised:
        await fail(client, trouble)
    assert raised.value.type == kind
    assert raised.value.request_id
    if trouble == "429":
        assert raised.value.response.headers["retry-after"] == "1"


async def test_connections_that_break_hang_or_lie(client: anthropic.AsyncAnthropic) -> None:
    with pytest.raises(anthropic.APIConnectionError):
        await fail(client, "cut")
    with pytest.raises(json.JSONDecodeError):
        await fail(client, "half")
    with pytest.raises(anthropic.APITimeoutError):
        await fail(client, "hang", timeout=0.1)


async def test_streams_that_break(client: anthropic.AsyncAnthropic) -> None:
    with pytest.raises(httpx2.RemoteProtocolError):
        await fail(client, "cut", stream=True)
    kinds = [event.type for event in await fail(client, "half", stream=True)]
    assert "message_stop" not in kinds


async def test_a_retry_succeeds_after_the_attempts_that_fail(client: anthropic.AsyncAnthropic) -> None:
    async def attempt() -> Any:
        return await client.messages.create(
            model=MODEL,
            max_tokens=400,
            messages=[{"role": "user", "content": "Once more."}],
            extra_headers={"assay-trouble": "529*2"},
        )

    for _ in range(2):
        with pytest.raises(anthropic.OverloadedError):
            await attempt()
    assert (await attempt()).stop_reason == "end_turn"


async def test_a_child_spoils_as_told_and_writes_the_truth_once(tmp_path: Path) -> None:
    truth = tmp_path / "truth.jsonl"
    spec = RehearsalSpec(seed=7, faults={Fault.FOREIGN_LANGUAGE: 1.0})
    replies = []
    for _ in range(2):
        async with (
            running(spec, RuntimeSpec(), truth=truth) as url,
            anthropic.AsyncAnthropic(base_url=url, api_key="rehearsal", max_retries=0) as client,
        ):
            replies += [
                await client.messages.create(model=MODEL, max_tokens=400, system=ANSWER_SYSTEM, messages=ANSWER)
                for _ in range(2)
            ]

    (fault,) = read_truth(truth).values()
    assert {reply.id for reply in replies} == {fault.message_id}
    assert len(truth.read_text().splitlines()) == 1
    assert f"```avap\n{fault.code}\n```" in text_of(replies[0])
    assert fault.detail in {"Go", "JavaScript", "Python"}


async def test_a_child_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(DependencyDown, match="cannot serve as truth file"):
        async with running(RehearsalSpec(), RuntimeSpec(), truth=tmp_path / "file" / "truth.jsonl"):
            pass
