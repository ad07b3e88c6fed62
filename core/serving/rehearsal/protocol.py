"""The Messages protocol: what a request must hold, and messages, errors and headers in the API's shapes."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from core.serving.rehearsal.schema import Shape, shape

MODEL_PREFIX = "rehearsal"
"""Every model whose name begins so is served; any other is not found."""
SAMPLING_REFUSED_SINCE = "2026-10-21"
SAMPLING = ("temperature", "top_p", "top_k")
CHARS_PER_TOKEN = 4
"""Tokens are counted as characters / 4, rounded up."""
EFFORTS = ("low", "medium", "high", "xhigh", "max")
KNOWN_FIELDS = frozenset(
    (
        "model", "messages", "max_tokens", "system", "stream", "metadata", "output_config", "stop_sequences",
        "thinking", "cache_control", "service_tier", "inference_geo", "speed", *SAMPLING,
    )
)  # fmt: skip
UNLIKE_THE_REPLY = ("stream", "metadata")
"""Fields that say how a reply is delivered, not what it is."""


class ApiError(Exception):
    """A request that is answered with an error: HTTP status, the API's error type, a message."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind

    def body(self, request_id: str) -> dict[str, Any]:
        """As the API writes it."""
        return {"type": "error", "error": {"type": self.kind, "message": str(self)}, "request_id": request_id}


@dataclass(frozen=True)
class Request:
    """A request that passed validation."""

    identity: str
    """Digest of seed, repeat and body: all that the reply depends on."""
    model: str
    system: str
    user: str
    """Text of the user's turns."""
    input_tokens: int
    max_tokens: int
    stream: bool
    shape: Shape | None
    """What the reply must fit, for structured outputs."""
    stop_sequences: tuple[str, ...]


def parse(body: bytes, headers: Mapping[str, str], *, seed: int, counting: bool = False) -> Request:
    """Read a request. `counting` is for count_tokens, which needs no max_tokens. Raises ApiError as the API would."""
    _check_headers(headers)
    data = _object(body)
    _check_fields(data, headers["anthropic-version"], counting=counting)
    system = _text_of(data.get("system") or "", "system")
    turns = [_turn(turn, number) for number, turn in enumerate(data["messages"])]
    asked = [text for text, turn in zip(turns, data["messages"], strict=True) if turn["role"] == "user"]
    if data["messages"][-1]["role"] != "user":
        raise _invalid("messages: the last turn must be the user's; this model does not continue a prefilled reply")
    return Request(
        identity=identity(data, seed=seed, repeat=headers.get("assay-repeat", "0")),
        model=data["model"],
        system=system,
        user="\n".join(asked),
        input_tokens=tokens(system, *turns),
        max_tokens=data.get("max_tokens", 1),
        stream=data.get("stream") is True,
        shape=_shape(data.get("output_config")),
        stop_sequences=tuple(data.get("stop_sequences") or ()),
    )


def identity(data: Mapping[str, Any], *, seed: int, repeat: str) -> str:
    """sha256, in hex, of seed, repeat and the body's fields save those that only say how to deliver."""
    matter = {name: value for name, value in data.items() if name not in UNLIKE_THE_REPLY}
    return hashlib.sha256(orjson.dumps([seed, repeat, matter], option=orjson.OPT_SORT_KEYS)).hexdigest()


def tokens(*texts: str) -> int:
    """How many tokens `texts` count for, together; at least one."""
    return max(1, math.ceil(sum(map(len, texts)) / CHARS_PER_TOKEN))


def _invalid(message: str) -> ApiError:
    return ApiError(400, "invalid_request_error", message)


def _check_headers(headers: Mapping[str, str]) -> None:
    if not (headers.get("x-api-key") or headers.get("authorization")):
        raise ApiError(401, "authentication_error", "x-api-key or authorization header is required (any value will do)")
    if not headers.get("anthropic-version"):
        raise _invalid("anthropic-version: header is required")


def _object(body: bytes) -> dict[str, Any]:
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _invalid(f"The request body is not valid JSON: {error}") from error
    if not isinstance(data, dict):
        raise _invalid("The request body must be a JSON object")
    return data


def _check_fields(data: Mapping[str, Any], version: str, *, counting: bool) -> None:
    required = ("model", "messages") if counting else ("model", "max_tokens", "messages")
    for name in required:
        if data.get(name) is None:
            raise _invalid(f"{name}: Field required")
    if not isinstance(data["model"], str) or not data["model"].startswith(MODEL_PREFIX):
        raise ApiError(404, "not_found_error", f"model: {data['model']}")
    for name in data:
        if name not in KNOWN_FIELDS:
            raise _invalid(f"{name}: Extra inputs are not permitted")
        if name in SAMPLING and version >= SAMPLING_REFUSED_SINCE:
            raise _invalid(f"{name}: not supported since anthropic-version {SAMPLING_REFUSED_SINCE}")
    limit = data.get("max_tokens", 1)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise _invalid("max_tokens: Input should be an integer greater than or equal to 1")
    _check_stops(data.get("stop_sequences") or ())
    if not isinstance(data["messages"], list) or not data["messages"]:
        raise _invalid("messages: at least one message is required")


def _check_stops(stops: object) -> None:
    if not isinstance(stops, Sequence) or not all(isinstance(stop, str) and stop.strip() for stop in stops):
        raise _invalid("stop_sequences: each stop sequence must be text with something besides white space")


def _turn(turn: object, number: int) -> str:
    if not isinstance(turn, dict) or turn.get("role") not in ("user", "assistant"):
        raise _invalid(f"messages.{number}.role: Input should be 'user' or 'assistant'")
    if number == 0 and turn["role"] != "user":
        raise _invalid("messages: first message must use the 'user' role")
    text = _text_of(turn.get("content"), f"messages.{number}.content")
    if not text:
        raise _invalid(f"messages.{number}: text content must be non-empty")
    return text


def _text_of(content: object, where: str) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise _invalid(f"{where}: Input should be a string or a list of blocks")
    return "\n".join(_block_text(block, f"{where}.{number}") for number, block in enumerate(content))


def _block_text(block: object, where: str) -> str:
    if not isinstance(block, dict) or block.get("type") != "text" or not isinstance(block.get("text"), str):
        raise _invalid(f"{where}: the rehearsal model reads text blocks only")
    text: str = block["text"]
    return text


def _shape(config: object) -> Shape | None:
    if config is None:
        return None
    if not isinstance(config, dict):
        raise _invalid("output_config: Input should be an object")
    if config.get("effort") not in (None, *EFFORTS):
        raise _invalid(f"output_config.effort: Input should be one of {', '.join(EFFORTS)}")
    wanted = config.get("format")
    if wanted is None:
        return None
    if (
        not isinstance(wanted, dict)
        or wanted.get("type") != "json_schema"
        or not isinstance(wanted.get("schema"), dict)
    ):
        raise _invalid("output_config.format: Input should be {'type': 'json_schema', 'schema': {...}}")
    found = shape(orjson.dumps(wanted["schema"]))
    if found.refusal:
        raise _invalid(f"output_config.format.schema: {found.refusal}")
    return found
