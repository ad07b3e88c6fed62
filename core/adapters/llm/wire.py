"""What a provider must be able to do for the caller: phrase a prompt as a request, and send it once."""

from __future__ import annotations

import ipaddress
from contextlib import AbstractAsyncContextManager
from typing import Protocol
from urllib.parse import urlsplit

from core.adapters.llm.reply import Reply
from core.adapters.llm.request import Request
from core.model.prompt import Prompt
from core.policy.retry import Failure

CONNECTIONS = 512
"""Size of a connection pool: never what bounds the calls in flight, which is the limiter's part."""


PATIENCE = 0.3
"""Share of the deadline for one attempt on one connection: one that hangs leaves time for two more."""


class Wire(Protocol):
    """One provider's protocol."""

    @property
    def endpoint(self) -> str:
        """Where it sends to, for messages."""

    def request(self, prompt: Prompt) -> Request:
        """Phrase `prompt`. Needs no connection. Raises LlmRefused for what the protocol cannot say."""

    def connected(self) -> AbstractAsyncContextManager[None]:
        """Open the connection pool. Raises ConfigError when credentials are missing."""

    @property
    def patience(self) -> float:
        """Share of a call's deadline that one attempt may take."""

    def sent_before(self, request: Request) -> bool:
        """Whether an earlier process sent `request` and its reply is still to come: `send` then only waits for it."""

    async def send(self, request: Request, *, timeout_s: float, now: str) -> Reply | Failure:
        """One attempt, never repeated here; `now` (UTC, ISO 8601) dates the server's Retry-After."""


def is_loopback(url: str) -> bool:
    """Whether a URL stays on this machine; no proxy of the environment may then get between."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
