"""A reply as the API delivers it: one JSON message, or server-sent events; and the headers around either."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

PIECE = 48
"""Characters of text per streamed event."""
RATE_LIMIT = 1_000_000
"""Requests and tokens per minute that the headers claim. The bucket is always full: nothing is ever counted down."""
RESET = "2026-01-01T00:00:00Z"
"""When the buckets were last filled, as the headers say it: a constant in the past, since replies know no clock."""


@dataclass(frozen=True)
class Reply:
    """What the model says to one request."""

    message_id: str
    model: str
    text: str
    stop_reason: str
    stop_sequence: str | None
    input_tokens: int
    output_tokens: int

    @property
    def request_id(self) -> str:
        """The id of the exchange, as in the `request-id` header."""
        return self.message_id.replace("msg_", "req_", 1)


def message(reply: Reply) -> dict[str, Any]:
    """The whole reply as one message."""
    return _shell(reply) | {
        "content": [{"type": "text", "text": reply.text}],
        "stop_reason": reply.stop_reason,
        "stop_sequence": reply.stop_sequence,
        "usage": _usage(reply, reply.output_tokens),
    }


def events(reply: Reply) -> Iterator[bytes]:
    """The reply as the API streams it, one server-sent event at a time."""
    yield _event("message_start", message=_shell(reply))
    yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    yield _event("ping")
    for start in range(0, len(reply.text), PIECE):
        delta = {"type": "text_delta", "text": reply.text[start : start + PIECE]}
        yield _event("content_block_delta", index=0, delta=delta)
    yield _event("content_block_stop", index=0)
    stop = {"stop_reason": reply.stop_reason, "stop_sequence": reply.stop_sequence}
    yield _event("message_delta", delta=stop, usage={"output_tokens": reply.output_tokens})
    yield _event("message_stop")


def _shell(reply: Reply) -> dict[str, Any]:
    return {
        "id": reply.message_id, "type": "message", "role": "assistant", "model": reply.model, "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": _usage(reply, 1),
    }  # fmt: skip


def _usage(reply: Reply, output_tokens: int) -> dict[str, Any]:
    return {
        "input_tokens": reply.input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output_tokens,
        "service_tier": "standard",
    }


def _event(kind: str, **fields: Any) -> bytes:
    return b"event: " + kind.encode() + b"\ndata: " + orjson.dumps({"type": kind, **fields}) + b"\n\n"


def headers(request_id: str) -> dict[str, str]:
    """The headers of every reply."""
    limits = {
        f"anthropic-ratelimit-{what}-{which}": RESET if which == "reset" else str(RATE_LIMIT)
        for what in ("requests", "input-tokens", "output-tokens")
        for which in ("limit", "remaining", "reset")
    }
    return {"request-id": request_id, "anthropic-organization-id": "rehearsal", **limits}
