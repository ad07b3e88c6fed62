"""Anthropic's Messages protocol, with the anthropic SDK: who calls, with what credentials and headers.

The body is posted as it was hashed, with aiohttp and past the SDK's `messages.create`. That has no place for sampling
parameters, warns of models that preflight has judged already, and retries by rules of its own; and its HTTP client
alone doubles the processor time of a call with its recording. Importing this module imports the SDK: a second.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import AsyncIterator, Mapping
from functools import cache
from typing import Any

import aiohttp
import anthropic
import httpx2
from pydantic import BaseModel, Field

from core.adapters.llm.reply import Body, Reply, lost, printable, read, said
from core.adapters.llm.request import Request, Surface
from core.adapters.llm.sampling import temperature_for
from core.adapters.llm.wire import CONNECTIONS, PATIENCE, is_loopback
from core.errors import ConfigError
from core.model.prompt import Prompt, StopReason, Usage
from core.model.specs import ModelSpec, Provider
from core.policy.quota import quotas
from core.policy.retry import Charge, Failure, from_response

_DEFAULT_URL = "https://api.anthropic.com"
_CONNECTING = 0.9
"""Share of an attempt's time for getting a connection."""
_IDLE_S = 4.0
"""An idle connection is closed before its server does so (uvicorn: 5 s), so that no request meets one being closed."""
_UNSENT = (
    anthropic.AnthropicError, httpx2.HTTPError, aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError,
)  # fmt: skip
"""The SDK got no token, or there was no connection: nothing went out that could be billed."""
_STOPS = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.END,
    "max_tokens": StopReason.MAX_TOKENS,
    "model_context_window_exceeded": StopReason.MAX_TOKENS,
    "refusal": StopReason.REFUSAL,
}


class _Block(BaseModel):
    type: str
    text: str = ""


class _Usage(BaseModel):
    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    cache_creation_input_tokens: int | None = Field(default=None, ge=0)
    cache_read_input_tokens: int | None = Field(default=None, ge=0)


class Message(Body):
    """A message of the API, as far as it is read here."""

    id: str
    model: str
    content: list[_Block]
    stop_reason: str | None
    usage: _Usage

    def reply(self) -> Reply:
        """The message without its protocol."""
        return Reply(
            text=printable("".join(block.text for block in self.content if block.type == "text")),
            stop=_STOPS.get(self.stop_reason or "", StopReason.OTHER),
            usage=Usage(
                input_tokens=self.usage.input_tokens,
                output_tokens=self.usage.output_tokens,
                cache_read_tokens=self.usage.cache_read_input_tokens or 0,
                cache_write_tokens=self.usage.cache_creation_input_tokens or 0,
            ),
            served_model=printable(self.model),
            message_id=printable(self.id),
        )


@cache
def messages_surface() -> Surface:
    """The installed SDK, and the API version that it sends unless told otherwise."""
    version = anthropic.AsyncAnthropic(api_key="unused").default_headers["anthropic-version"]
    return Surface(sdk=f"anthropic {anthropic.__version__}", api_version=str(version))


class MessagesWire:
    """core.adapters.llm.wire.Wire for Anthropic, and for the rehearsal server, which speaks its protocol."""

    def __init__(self, spec: ModelSpec, base_url: str | None) -> None:
        self._spec = spec
        self._base_url = base_url
        self._client: anthropic.AsyncAnthropic | None = None
        self._session: aiohttp.ClientSession | None = None
        self._url = ""
        installed = messages_surface()
        self._surface = Surface(installed.sdk, spec.api_version or installed.api_version)

    @property
    def endpoint(self) -> str:
        """Where it sends to, for messages."""
        return self._base_url or _DEFAULT_URL

    def request(self, prompt: Prompt) -> Request:
        """Phrase `prompt`; a temperature goes in only where the API version takes it."""
        optional = {
            "system": prompt.system or None,
            "output_config": self._output_config(prompt) or None,
            "temperature": temperature_for(prompt.temperature, self._spec),
        }
        body: dict[str, Any] = {
            "model": prompt.model,
            "max_tokens": prompt.max_tokens,
            "messages": [{"role": turn.role.value, "content": turn.text} for turn in prompt.turns],
        } | {field: value for field, value in optional.items() if value is not None}
        return Request(prompt.name, self._surface, body, prompt.max_tokens, prompt.repeat)

    def _output_config(self, prompt: Prompt) -> dict[str, Any]:
        effort = prompt.effort or self._spec.effort
        config: dict[str, Any] = {"effort": effort.value} if effort else {}
        if prompt.output_schema is not None:
            config["format"] = {"type": "json_schema", "schema": prompt.output_schema}
        return config

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Open the connection pool. Raises ConfigError when there is no key to send."""
        async with self._open_client() as client, self._open_session(client) as session:
            self._client, self._session = client, session
            self._url = f"{str(client.base_url).rstrip('/')}/v1/messages"
            try:
                yield
            finally:
                self._client = self._session = None

    def _open_client(self) -> anthropic.AsyncAnthropic:
        client = anthropic.AsyncAnthropic(
            api_key="rehearsal" if self._spec.provider is Provider.REHEARSAL else None,
            base_url=self._base_url,
            max_retries=0,
            open_telemetry=False,  # spans could carry prompts
            http_client=anthropic.DefaultAsyncHttpxClient(trust_env=self._trusts_env),
        )
        if not (client.api_key or client.auth_token or client.credentials):
            raise ConfigError(
                f"no API key for {self._spec.model}",
                remedy="set ANTHROPIC_API_KEY, or use the rehearsal model (configs/models/rehearsal.yaml)",
            )
        return client

    def _open_session(self, client: anthropic.AsyncAnthropic) -> aiohttp.ClientSession:
        """A pool that sends what `client` would. httpx's looks at every idle connection at every request."""
        headers = {name: value for name, value in client.default_headers.items() if isinstance(value, str)}
        certificates = httpx2.create_ssl_context(trust_env=self._trusts_env)
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=_IDLE_S, ssl=certificates),
            headers={**headers, "anthropic-version": self._surface.api_version},
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=self._trusts_env,
        )

    @property
    def _trusts_env(self) -> bool:
        """Whether proxies and certificates of the environment count."""
        return not is_loopback(self.endpoint)

    @property
    def patience(self) -> float:
        """As for any connection."""
        return PATIENCE

    def sent_before(self, request: Request) -> bool:  # noqa: ARG002 - of the protocol
        """A connection does not outlive its process."""
        return False

    async def send(self, request: Request, *, timeout_s: float, now: str) -> Reply | Failure:
        """One attempt."""
        assert self._session is not None, "send is called while connected"
        # A connection that never came ends before the attempt does, because it costs nothing.
        patience = aiohttp.ClientTimeout(total=None, sock_connect=timeout_s * _CONNECTING)
        try:
            headers = {**request.headers, **await self._credentials()}
            async with self._session.post(
                self._url, data=request.content, headers=headers, timeout=patience
            ) as response:
                content = await response.read()
        except (*_UNSENT, aiohttp.ClientError) as error:
            return lost(error, charge=Charge.NONE if isinstance(error, _UNSENT) else Charge.POSSIBLE)
        if not response.ok:
            words = said(content, response.status)
            return from_response(response.status, response.headers, words, now=now)
        return dataclasses.replace(read(Message, content), quotas=quotas(response.headers, now=now))

    async def _credentials(self) -> Mapping[str, str]:
        """Headers for a token that the SDK fetches and renews by itself; none where a key is sent."""
        assert self._client is not None, "as the session"
        if self._client.custom_auth is None:
            return {}
        bare, asked = (httpx2.Request("POST", self._url) for _ in range(2))
        [ready] = [request async for request in self._client.custom_auth.async_auth_flow(asked)]
        return {name: value for name, value in ready.headers.items() if name not in bare.headers}
