"""HTTP responses that end well, and those that end badly on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from core.serving.rehearsal import delivery


class Broken(Response):
    """Sends `status` and the first half of the body it announced, then closes the connection."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """As a Response, but it stops short."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        half = bytes(self.body)[: len(self.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})


class Hanging(Response):
    """Sends nothing and waits until the client is gone."""

    async def __call__(self, _scope: Scope, receive: Receive, _send: Send) -> None:
        """As a Response that never comes."""
        while (await receive())["type"] != "http.disconnect":
            pass


class Events(Response):
    """Server-sent events, each written as it comes."""

    media_type = "text/event-stream"

    def __init__(self, events: Iterator[bytes], headers: dict[str, str]) -> None:
        super().__init__(headers=headers | {"cache-control": "no-cache"})
        del self.headers["content-length"]
        self._events = events

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Stream."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        for event in self._events:
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def json_response(
    data: object, request_id: str, *, status: int = 200, more: Mapping[str, str] | None = None
) -> Response:
    """`data` with the headers of every reply, and `more`."""
    headers = delivery.headers(request_id) | dict(more or {})
    return Response(orjson.dumps(data), status_code=status, headers=headers, media_type="application/json")
