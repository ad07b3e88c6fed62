"""A request to a language model and its reply, free of any provider's types."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from core.model.frozen import Frozen


class Role(StrEnum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"


class Effort(StrEnum):
    """How hard a model that can be told should think."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Turn(Frozen):
    """One message."""

    role: Role
    text: str


class Prompt(Frozen):
    """Everything a reply depends on. Two prompts that compare equal may share a recorded reply."""

    name: str
    """Which prompt and version, as `generate@1`: for records and logs, never sent."""
    model: str
    system: str
    turns: tuple[Turn, ...]
    max_tokens: int = 2048
    output_schema: dict[str, Any] | None = None
    """JSON schema of a structured reply; None for free text."""
    effort: Effort | None = None
    temperature: float | None = None
    """As asked for. What was sent is in the record: current APIs refuse it."""
    repeat: int = 0
    """Which repetition of an otherwise equal request this is; repetitions never share a recorded reply."""


class StopReason(StrEnum):
    """Why the model stopped; anything but END is an incomplete answer."""

    END = "end_turn"
    MAX_TOKENS = "max_tokens"
    REFUSAL = "refusal"
    OTHER = "other"


class Usage(Frozen):
    """Tokens as the provider counted them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
        )


class Completion(Frozen):
    """A reply."""

    text: str
    stop: StopReason
    usage: Usage
    model: str
    """As the server named it."""
    message_id: str
    key: str
    """Content address of the recording."""
    cost_usd: float = 0.0
    replayed: bool = False
    """True when it came from a recording: nothing was sent or spent."""
