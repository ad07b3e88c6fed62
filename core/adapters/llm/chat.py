"""OpenAI's chat-completions protocol on httpx, as Ollama and vLLM serve it. Temperature and seed are really sent."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from typing import Any

import httpx
from pydantic import BaseModel, Field

from core.adapters.llm.reply import Body, Reply, lost, printable, read, said
from core.adapters.llm.request import Request, Surface
from core.adapters.llm.sampling import temperature_for
from core.adapters.llm.wire import CONNECTIONS, PATIENCE, is_loopback
from core.errors import LlmRefused
from core.model.prompt import Prompt, StopReason, Usage
from core.model.specs import ModelSpec
from core.policy.retry import Charge, Failure, from_response

API_KEY = "OPENAI_API_KEY"
"""Environment variable of the bearer token; self-hosted servers usually want none."""

CHAT_SURFACE = Surface(sdk=f"httpx {httpx.__version__}", api_version="v1/chat/completions")
"""The HTTP client; the protocol has no version but its path."""

_STOPS = {"stop": StopReason.END, "length": StopReason.MAX_TOKENS, "content_filter": StopReason.REFUSAL}


class _Text(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Text
    finish_reason: str | None = None


class _Cached(BaseModel):
    cached_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    prompt_tokens_details: _Cached = _Cached()

    def usage(self) -> Usage:
        """Cached tokens apart, as everywhere in Assay; here they come as a part of the prompt's."""
        cached = min(self.prompt_tokens_details.cached_tokens or 0, self.prompt_tokens)
        return Usage(
            input_tokens=self.prompt_tokens - cached, output_tokens=self.completion_tokens, cache_read_tokens=cached
        )


class _Completion(Body):
    id: str
    model: str
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage

    def reply(self) -> Reply:
        """The first choice, without its protocol."""
        choice = self.choices[0]
        refusal = choice.message.refusal
        return Reply(
            text=printable(choice.message.content or refusal or ""),
            stop=StopReason.REFUSAL if refusal else _STOPS.get(choice.finish_reason or "", StopReason.OTHER),
            usage=self.usage.usage(),
            served_model=printable(self.model),
            message_id=printable(self.id),
        )


class ChatWire:
    """core.adapters.llm.wire.Wire for OpenAI-compatible servers. `base_url` is taken with or without `/v1`."""

    def __init__(self, spec: ModelSpec, base_url: str) -> None:
        self._spec = spec
        self._base_url = base_url.rstrip("/").removesuffix("/v1")
        self._client: httpx.AsyncClient | None = None

    @property
    def endpoint(self) -> str:
        """Where it sends to, for messages."""
        return self._base_url

    def request(self, prompt: Prompt) -> Request:
        """Phrase `prompt`, with the repetition as seed. Raises LlmRefused for an effort, which has no place here."""
        if prompt.effort is not None:
            raise LlmRefused(
                f"prompt {prompt.name} asks for an effort, which chat completions cannot carry",
                remedy="remove effort from the model's config",
            )
        optional = {
            "temperature": temperature_for(prompt.temperature, self._spec),
            "response_format": _response_format(prompt),
        }
        system = [{"role": "system", "content": prompt.system}] if prompt.system else []
        body: dict[str, Any] = {
            "model": prompt.model,
            "max_tokens": prompt.max_tokens,
            "messages": [*system, *({"role": turn.role.value, "content": turn.text} for turn in prompt.turns)],
            "seed": prompt.repeat,
        } | {field: value for field, value in optional.items() if value is not None}
        return Request(prompt.name, CHAT_SURFACE, body, prompt.max_tokens, prompt.repeat)

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Open the connection pool."""
        key = os.environ.get(API_KEY)
        async with httpx.AsyncClient(
            headers={"authorization": f"Bearer {key}"} if key else {},
            trust_env=not is_loopback(self._base_url),
            limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
        ) as client:
            self._client = client
            try:
                yield
            finally:
                self._client = None

    @property
    def patience(self) -> float:
        """As for any connection."""
        return PATIENCE

    def sent_before(self, request: Request) -> bool:  # noqa: ARG002 - of the protocol
        """A connection does not outlive its process."""
        return False

    async def send(self, request: Request, *, timeout_s: float, now: str) -> Reply | Failure:
        """One attempt."""
        try:
            response = await self._post(request, timeout_s)
            if not response.is_success:
                status = response.status_code
                return from_response(status, response.headers, said(response.content, status), now=now)
            return read(_Completion, response.content)
        except httpx.HTTPError as error:
            return _lost(error)

    async def _post(self, request: Request, timeout_s: float) -> httpx.Response:
        assert self._client is not None, "send is called while connected"
        return await self._client.post(
            f"{self._base_url}/v1/chat/completions",
            content=request.content,
            headers={"content-type": "application/json", **request.headers},
            timeout=timeout_s,
        )


def _response_format(prompt: Prompt) -> dict[str, Any] | None:
    if prompt.output_schema is None:
        return None
    schema = {"name": "reply", "schema": prompt.output_schema, "strict": True}
    return {"type": "json_schema", "json_schema": schema}


def _lost(error: httpx.HTTPError) -> Failure:
    """Nothing was billed when no connection was ever made."""
    unsent = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
    return lost(error, charge=Charge.NONE if unsent else Charge.POSSIBLE)
