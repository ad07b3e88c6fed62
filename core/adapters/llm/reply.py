"""A whole reply, and what to make of one that is not."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from core.model.prompt import StopReason, Usage
from core.policy.quota import Quota
from core.policy.retry import Charge, Failure

_QUOTED = 300


@dataclass(frozen=True)
class Reply:
    """A whole, well-formed reply."""

    text: str
    stop: StopReason
    usage: Usage
    served_model: str
    message_id: str
    quotas: tuple[Quota, ...] = ()
    """What the response said of the provider's quotas."""


class Body(BaseModel, ABC):
    """The JSON of one protocol's reply; fields that nobody here reads are ignored."""

    @abstractmethod
    def reply(self) -> Reply:
        """The reply without its protocol."""


def printable(text: str) -> str:
    """`text` with lone surrogates, which JSON can carry and files cannot, replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def quoted(words: str) -> str:
    """A server's own words, short enough for a message of ours."""
    return printable(words)[:_QUOTED]


def said(content: bytes, status: int) -> str:
    """A server's words in the body of an error: `{"error": {"message": ...}}` or `{"error": "..."}`."""
    try:
        error = json.loads(content)["error"]
        return quoted(error if isinstance(error, str) else str(error["message"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"HTTP {status}"


def read(schema: type[Body], content: bytes) -> Reply | Failure:
    """The reply in the body of a 200, or what is wrong with it: cut off, or not a reply.

    Names only the place of a fault, since the rest is the model's text.
    """
    try:
        return understood(schema, json.loads(content))
    except (ValueError, RecursionError):
        return Failure("the reply is truncated or not JSON", charge=Charge.POSSIBLE)


def understood(schema: type[Body], data: object) -> Reply | Failure:
    """The reply in parsed JSON, or the place of what is wrong with it."""
    try:
        return schema.model_validate(data).reply()
    except ValidationError as error:
        place = ".".join(map(str, error.errors(include_input=False, include_context=False)[0]["loc"]))
        return Failure(f"the reply is malformed at {place or 'its root'}", charge=Charge.POSSIBLE)


def lost(cause: BaseException, *, charge: Charge) -> Failure:
    """No response, or none that ended."""
    return Failure(quoted(f"{type(cause).__name__}: {cause}".rstrip(": ")), charge=charge)
