"""A whole reply, and what to make of one that is not."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from core.model.prompt import StopReason, Usage
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


def printable(text: str) -> str:
    """`text` with lone surrogates, which JSON can carry and files cannot, replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def quoted(words: str) -> str:
    """A server's own words, short enough for a message of ours."""
    return printable(words)[:_QUOTED]


def malformed(error: ValidationError) -> Failure:
    """A 200 whose body is cut off or is no reply; names only the place, since the rest is the model's text."""
    first = error.errors(include_input=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        return Failure("the reply is truncated or not JSON", charge=Charge.POSSIBLE)
    return Failure(f"the reply is malformed at {'.'.join(map(str, first['loc']))}", charge=Charge.POSSIBLE)


def lost(cause: BaseException, *, charge: Charge) -> Failure:
    """No response, or none that ended."""
    return Failure(quoted(f"{type(cause).__name__}: {cause}".rstrip(": ")), charge=charge)
