"""Anthropic's Message Batches through the SDK: bodies go in as they were hashed, results come out as replies."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import anthropic
import httpx2
from anthropic.types.messages import MessageBatch
from pydantic import BaseModel

from core.adapters.llm.messages import Message
from core.adapters.llm.reply import Reply, lost, quoted, understood
from core.adapters.llm.request import Request
from core.policy.retry import Charge, Failure, from_response

MOST_REQUESTS = 100_000
MOST_BYTES = 256_000_000
"""The API's own limits for one batch."""
PATH = "/v1/messages/batches"
CALL_S = 120.0
"""For one call about a batch; one that carries 256 MB may take long."""
PAGE = 100

_STATUSES = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504,
    "overloaded_error": 529,
}  # fmt: skip


class Refused(Exception):
    """The API gave no usable answer to a call about a batch; `found` is False when it knows no such batch."""

    def __init__(self, failure: Failure, *, found: bool = True) -> None:
        super().__init__(failure.reason)
        self.failure = failure
        self.found = found


class _Page(BaseModel):
    data: list[MessageBatch]
    has_more: bool
    last_id: str | None


class BatchApi:
    """The calls that a caller of batches makes. Each raises Refused."""

    def __init__(self, client: anthropic.AsyncAnthropic, api_version: str) -> None:
        self._client = client
        self._headers = {"anthropic-version": api_version}

    async def create(self, requests: Sequence[Request], *, now: str) -> str:
        """Send `requests` as one batch; its id. Whether a failed call made one is not known when it may be charged."""
        ordered = sorted(requests, key=lambda request: (request.repeat, request.key))
        entries = (b'{"custom_id":"%s","params":%s}' % (r.key.encode(), r.content) for r in ordered)
        headers = {"content-type": "application/json", "assay-repeats": repeats(ordered)}
        response = await self._asked("POST", PATH, now, content=b'{"requests":[%s]}' % b",".join(entries), more=headers)
        try:
            return str(json.loads(response.content)["id"])
        except (ValueError, KeyError, TypeError) as error:
            raise Refused(Failure("a batch was made, and its id is not readable", charge=Charge.POSSIBLE)) from error

    async def has_ended(self, batch: str, *, now: str) -> bool:
        """Whether every request of `batch` has its result."""
        return (await self._described(f"{PATH}/{batch}", now)).processing_status == "ended"

    async def results(self, batch: str, *, now: str) -> Mapping[str, Reply | Failure]:
        """The results of a batch that has ended, by key."""
        response = await self._asked("GET", f"{PATH}/{batch}/results", now)
        try:
            lines = [json.loads(line) for line in response.content.split(b"\n") if line.strip()]
            return {str(line["custom_id"]): _outcome(line["result"]) for line in lines}
        except (ValueError, KeyError, TypeError) as error:
            raise Refused(Failure("the results of a batch do not read")) from error

    async def recent(self, since: str, *, now: str) -> AsyncIterator[tuple[str, int]]:
        """Id and size of the batches made since `since` (ISO 8601), newest first."""
        after = ""
        while True:
            page = await self._page(f"{PATH}?limit={PAGE}{after}", now)
            for batch in page.data:
                if batch.created_at < datetime.fromisoformat(since):
                    return
                yield batch.id, sum(batch.request_counts.model_dump().values())
            if not page.has_more:
                return
            after = f"&after_id={page.last_id}"

    async def _page(self, path: str, now: str) -> _Page:
        response = await self._asked("GET", path, now)
        try:
            return _Page.model_validate_json(response.content)
        except ValueError as error:
            raise Refused(Failure("the list of batches does not read")) from error

    async def _described(self, path: str, now: str) -> MessageBatch:
        response = await self._asked("GET", path, now)
        try:
            return MessageBatch.model_validate_json(response.content)
        except ValueError as error:
            raise Refused(Failure("the state of a batch does not read")) from error

    async def _asked(
        self, method: str, path: str, now: str, *, content: bytes | None = None, more: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        options: Any = {"headers": {**self._headers, **(more or {})}, "timeout": CALL_S}
        try:
            if method == "GET":
                return await self._client.get(path, cast_to=httpx2.Response, options=options)
            return await self._client.post(path, cast_to=httpx2.Response, content=content, options=options)
        except anthropic.APIStatusError as error:
            words = quoted(error.api_message or f"HTTP {error.status_code}")
            failure = from_response(error.status_code, error.response.headers, words, now=now)
            raise Refused(failure, found=error.status_code != 404) from error
        except (anthropic.APIError, httpx2.HTTPError) as error:
            raise Refused(lost(error.__cause__ or error, charge=Charge.POSSIBLE)) from error


def repeats(requests: Sequence[Request]) -> str:
    """The repetitions of `requests` in order, as `0*120,1*130`: for a batch what `assay-repeat` is for a request."""
    runs = itertools.groupby(request.repeat for request in requests)
    return ",".join(f"{repeat}*{len(list(run))}" for repeat, run in runs)


def _outcome(result: Mapping[str, Any]) -> Reply | Failure:
    """One entry's result. Only what succeeded is billed."""
    kind = result["type"]
    if kind == "succeeded":
        return understood(Message, result["message"])
    if kind == "errored":
        error = result["error"].get("error", result["error"])
        return Failure(quoted(str(error["message"])), _STATUSES.get(error["type"], 500))
    return Failure(f"the batch {kind} before this request was answered")
