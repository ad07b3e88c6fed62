"""Message batches: many requests in one, answered later, all in memory.

What an entry is answered with is what the same request would have been answered with on its own. The header
`assay-repeats` does for a batch what `assay-repeat` does for a request: `0*3,1*2` are three entries of repetition 0
and then two of 1.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from core.ports import Clock
from core.serving.rehearsal import delivery
from core.serving.rehearsal.protocol import ApiError
from core.serving.rehearsal.responses import json_response

MOST_REQUESTS = 100_000
MOST_BYTES = 256_000_000
LIFETIME = timedelta(hours=24)
_CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_OUTCOMES = ("succeeded", "errored", "canceled", "expired")

Answer = Callable[[bytes, Mapping[str, str]], Mapping[str, Any]]
"""From the body of a request and its headers to the `result` of its entry."""


@dataclass
class _Batch:
    id: str
    entries: Sequence[tuple[str, bytes, str]]
    """custom_id, body, repetition."""
    headers: Mapping[str, str]
    created_at: str
    due: float
    canceled_at: str | None = None
    ended_at: str | None = None
    results: bytes = b""
    outcomes: Sequence[str] = ()


class Batches:
    """The endpoints below /v1/messages/batches. A batch ends `latency_ms` after it was made."""

    def __init__(self, answer: Answer, clock: Clock, *, latency_ms: int) -> None:
        self._answer = answer
        self._clock = clock
        self._latency_s = latency_ms / 1000
        self._batches: dict[str, _Batch] = {}

    async def create(self, http: HttpRequest) -> Response:
        """POST /v1/messages/batches."""
        body = await http.body()
        entries = _entries(body, http.headers.get("assay-repeats", ""))
        number = len(self._batches) + 1
        name = f"msgbatch_{number:04}{hashlib.sha256(body).hexdigest()[:16]}"
        due = self._clock.monotonic() + self._latency_s
        self._batches[name] = batch = _Batch(name, entries, dict(http.headers), self._clock.now(), due)
        return self._shown(batch, http)

    async def listed(self, http: HttpRequest) -> Response:
        """GET /v1/messages/batches: newest first."""
        limit = int(http.query_params.get("limit", "20"))
        names = list(reversed(self._batches))
        after = http.query_params.get("after_id")
        names = names[names.index(after) + 1 :] if after in names else names
        page = [self._described(self._ended(self._batches[name]), http) for name in names[:limit]]
        ids = [batch["id"] for batch in page]
        ends = {"first_id": ids[0] if ids else None, "last_id": ids[-1] if ids else None}
        return json_response({"data": page, "has_more": len(names) > limit, **ends}, "req_batches")

    async def retrieve(self, http: HttpRequest) -> Response:
        """GET /v1/messages/batches/{id}."""
        return self._shown(self._found(http), http)

    async def cancel(self, http: HttpRequest) -> Response:
        """POST /v1/messages/batches/{id}/cancel: what is not answered yet never will be."""
        batch = self._found(http)
        if batch.ended_at is None:
            batch.canceled_at = self._clock.now()
        return self._shown(batch, http)

    async def results(self, http: HttpRequest) -> Response:
        """GET /v1/messages/batches/{id}/results: one JSON line per entry, in no particular order."""
        batch = self._found(http)
        if batch.ended_at is None:
            raise ApiError(404, "not_found_error", f"{batch.id} has no results yet")
        return Response(batch.results, headers=delivery.headers("req_results"), media_type="application/x-jsonl")

    def _found(self, http: HttpRequest) -> _Batch:
        name = http.path_params["batch"]
        if name not in self._batches:
            raise ApiError(404, "not_found_error", f"batch {name} not found")
        return self._ended(self._batches[name])

    def _ended(self, batch: _Batch) -> _Batch:
        """Answer every entry once the batch is due."""
        if batch.ended_at is None and (batch.canceled_at or self._clock.monotonic() >= batch.due):
            results = [(custom_id, self._result(batch, body, repeat)) for custom_id, body, repeat in batch.entries]
            batch.outcomes = [result["type"] for _, result in results]
            lines = (
                orjson.dumps({"custom_id": custom_id, "result": result}) for custom_id, result in reversed(results)
            )
            batch.results = b"".join(line + b"\n" for line in lines)
            batch.ended_at = self._clock.now()
        return batch

    def _result(self, batch: _Batch, body: bytes, repeat: str) -> Mapping[str, Any]:
        if batch.canceled_at:
            return {"type": "canceled"}
        try:
            return self._answer(body, {**batch.headers, "assay-repeat": repeat})
        except ApiError as error:
            return {"type": "errored", "error": error.body("req_entry")}

    def _shown(self, batch: _Batch, http: HttpRequest) -> Response:
        return json_response(self._described(batch, http), "req_batch")

    def _described(self, batch: _Batch, http: HttpRequest) -> Mapping[str, Any]:
        ended = batch.ended_at is not None
        waiting = 0 if ended else len(batch.entries)
        expires = datetime.fromisoformat(batch.created_at) + LIFETIME
        url = f"{http.base_url}v1/messages/batches/{batch.id}/results"
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "canceling" if batch.canceled_at else "in_progress",
            "request_counts": {"processing": waiting, **{kind: batch.outcomes.count(kind) for kind in _OUTCOMES}},
            "created_at": batch.created_at,
            "expires_at": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "ended_at": batch.ended_at,
            "cancel_initiated_at": batch.canceled_at,
            "archived_at": None,
            "results_url": url if ended else None,
        }


def _entries(body: bytes, repeats: str) -> Sequence[tuple[str, bytes, str]]:
    if len(body) > MOST_BYTES:
        raise ApiError(413, "request_too_large", "a batch is at most 256 MB")
    try:
        listed = orjson.loads(body)["requests"]
        entries = [(entry["custom_id"], orjson.dumps(entry["params"])) for entry in listed]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise _invalid("requests: a list of {custom_id, params} is required") from error
    names = {name for name, _ in entries}
    if not 1 <= len(entries) <= MOST_REQUESTS:
        raise _invalid(f"requests: 1 to {MOST_REQUESTS} are required")
    if len(names) < len(entries):
        raise _invalid("requests: each custom_id must be unique within the batch")
    if not all(isinstance(name, str) and _CUSTOM_ID.fullmatch(name) for name in names):
        raise _invalid(f"custom_id: String should match pattern '^{_CUSTOM_ID.pattern}$'")
    repetitions = list(_repetitions(repeats)) if repeats else ["0"] * len(entries)
    if len(repetitions) != len(entries):
        raise _invalid("assay-repeats: one repetition per entry")
    return [(name, params, repeat) for (name, params), repeat in zip(entries, repetitions, strict=True)]


def _repetitions(text: str) -> Iterator[str]:
    for run in text.split(","):
        repeat, _, times = run.partition("*")
        if not (repeat.isdecimal() and times.isdecimal() and int(times) <= MOST_REQUESTS):
            raise _invalid("assay-repeats: REPEAT*TIMES, separated by commas")
        yield from [repeat] * int(times)


def _invalid(message: str) -> ApiError:
    return ApiError(400, "invalid_request_error", message)
