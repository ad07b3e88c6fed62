"""The routes: requests in, replies or failures out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from core.ports import Clock
from core.serving.rehearsal import delivery, protocol, trouble
from core.serving.rehearsal.batches import Batches
from core.serving.rehearsal.composing import Composed, compose
from core.serving.rehearsal.delivery import Reply
from core.serving.rehearsal.protocol import ApiError, Request
from core.serving.rehearsal.quota import RequestQuota
from core.serving.rehearsal.responses import Broken, Events, Hanging, json_response
from core.serving.rehearsal.settings import Settings
from core.serving.rehearsal.trouble import Trouble, Troubles
from core.serving.rehearsal.truth import Truth, open_truth

MODELS = ("rehearsal-answerer-2026-11-21", "rehearsal-judge-2026-11-21")
"""What the list of models shows; any name with the prefix `rehearsal` is served."""
RELEASED = "2026-11-21T00:00:00Z"


class Rehearsal:
    """The endpoints over one Settings."""

    def __init__(self, settings: Settings, clock: Clock, truth: Truth | None) -> None:
        self._settings = settings
        self._clock = clock
        self._truth = truth
        self._troubles = Troubles(settings.trouble)
        burst = settings.quota_burst or math.ceil(settings.quota)
        self._quota = RequestQuota(settings.quota, burst, clock) if settings.quota else None

    async def messages(self, http: HttpRequest) -> Response:
        """POST /v1/messages."""
        if self._quota is not None and (wait_s := self._quota.take()) is not None:
            return self._beyond_quota(wait_s)
        request = protocol.parse(await http.body(), http.headers, seed=self._settings.seed)
        composed = compose(request, self._settings.faults, self._settings.leaks)
        self._tell(composed)
        struck = self._strike(request, http.headers.get(trouble.HEADER))
        if self._settings.latency_ms:
            await self._clock.sleep(self._settings.latency_ms / 1000)
        if struck in trouble.ERROR_TYPES:
            return self._error(struck, composed.reply)
        return _delivered(composed.reply, request, struck, self._quota.headers if self._quota else {})

    def entry(self, body: bytes, headers: Mapping[str, str]) -> Mapping[str, Any]:
        """The result of one entry of a batch. Raises ApiError."""
        request = protocol.parse(body, headers, seed=self._settings.seed)
        composed = compose(request, self._settings.faults, self._settings.leaks)
        self._tell(composed)
        struck = self._strike(request, headers.get(trouble.HEADER))
        if struck in trouble.ERROR_TYPES:
            raise ApiError(int(struck), trouble.ERROR_TYPES[struck], "asked for in rehearsal")
        if struck is Trouble.HANG:
            return {"type": "expired"}
        return {"type": "succeeded", "message": delivery.message(composed.reply)}

    async def count_tokens(self, http: HttpRequest) -> Response:
        """POST /v1/messages/count_tokens."""
        request = protocol.parse(await http.body(), http.headers, seed=self._settings.seed, counting=True)
        return json_response({"input_tokens": request.input_tokens}, f"req_{request.identity[:24]}")

    async def models(self, _: HttpRequest) -> Response:
        """GET /v1/models."""
        listed = [{"type": "model", "id": m, "display_name": m, "created_at": RELEASED} for m in MODELS]
        return json_response(
            {"data": listed, "has_more": False, "first_id": MODELS[0], "last_id": MODELS[-1]}, "req_models"
        )

    def _tell(self, composed: Composed) -> None:
        if composed.fault is None or self._truth is None:
            return
        try:
            self._truth.tell(composed.fault)
        except OSError as error:
            raise ApiError(
                500, "api_error", f"a spoiled reply is held back, its truth was not written: {error}"
            ) from error

    def _strike(self, request: Request, header: str | None) -> Trouble | None:
        try:
            return self._troubles.strike(request.identity, header)
        except ValueError as error:
            kinds = ", ".join(Trouble)
            raise ApiError(400, "invalid_request_error", f"{trouble.HEADER}: KIND or KIND*N of {kinds}") from error

    def _beyond_quota(self, wait_s: int) -> Response:
        assert self._quota is not None
        error = ApiError(429, trouble.ERROR_TYPES[Trouble.RATE_LIMITED], "the quota of this rehearsal is used up")
        more = {**self._quota.headers, "retry-after": str(wait_s), "x-should-retry": "true"}
        return json_response(error.body("req_limited"), "req_limited", status=error.status, more=more)

    def _error(self, struck: Trouble, reply: Reply) -> Response:
        error = ApiError(int(struck), trouble.ERROR_TYPES[struck], "asked for in rehearsal")
        more = {"x-should-retry": "true"}
        if struck is Trouble.RATE_LIMITED:
            more["retry-after"] = str(self._settings.retry_after_s)
        return json_response(error.body(reply.request_id), reply.request_id, status=error.status, more=more)


def _delivered(reply: Reply, request: Request, struck: Trouble | None, quota: Mapping[str, str]) -> Response:
    headers = delivery.headers(reply.request_id) | dict(quota)
    if struck is Trouble.HANG:
        return Hanging()
    if request.stream and struck is None:
        return Events(delivery.events(reply), headers)
    body = b"".join(delivery.events(reply)) if request.stream else orjson.dumps(delivery.message(reply))
    kind = Events.media_type if request.stream else "application/json"
    if struck is Trouble.CUT:
        return Broken(body, headers=headers, media_type=kind)
    return Response(body[: len(body) // 2] if struck is Trouble.HALF else body, headers=headers, media_type=kind)


async def _refused(_: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return json_response(error.body("req_refused"), "req_refused", status=error.status)


async def _not_found(http: HttpRequest, _: Exception) -> Response:
    error = ApiError(404, "not_found_error", f"{http.method} {http.url.path} is not served by the rehearsal model")
    return json_response(error.body("req_refused"), "req_refused", status=404)


def application(settings: Settings, clock: Clock) -> Starlette:
    """The ASGI application. Opens the truth file, if there is one."""
    rehearsal = Rehearsal(settings, clock, open_truth(settings.truth) if settings.truth else None)
    batches = Batches(rehearsal.entry, clock, latency_ms=settings.batch_ms)
    return Starlette(
        routes=[
            Route("/v1/messages", rehearsal.messages, methods=["POST"]),
            Route("/v1/messages/count_tokens", rehearsal.count_tokens, methods=["POST"]),
            Route("/v1/messages/batches", batches.create, methods=["POST"]),
            Route("/v1/messages/batches", batches.listed, methods=["GET"]),
            Route("/v1/messages/batches/{batch}", batches.retrieve, methods=["GET"]),
            Route("/v1/messages/batches/{batch}/results", batches.results, methods=["GET"]),
            Route("/v1/messages/batches/{batch}/cancel", batches.cancel, methods=["POST"]),
            Route("/v1/models", rehearsal.models, methods=["GET"]),
        ],
        exception_handlers={ApiError: _refused, 404: _not_found, 405: _not_found},
    )
