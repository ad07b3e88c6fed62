"""What one recorded reply holds, and its one spelling on disk, which notices every missing or changed byte."""

from __future__ import annotations

import hashlib
from typing import Any

from pydantic import ValidationError

from core.model.frozen import Frozen
from core.model.prompt import Completion, StopReason, Usage

FORMAT = 1


class Recording(Frozen):
    """A reply with everything its completion is rebuilt from, and the request it answers, for audit."""

    format: int = FORMAT
    key: str
    """Content address of the request: see Request.key in core.adapters.llm.request."""
    name: str
    """The prompt and its version, as `generate@1`."""
    model: str
    """As asked for."""
    sdk: str
    api_version: str
    repeat: int
    request_sha256: str
    """Digest of `request`, the body as it was sent."""
    request: dict[str, Any]
    text: str
    stop: StopReason
    usage: Usage
    served_model: str
    """As the server named it."""
    message_id: str
    cost_usd: float
    prices: str
    """Version of the price table that `cost_usd` was computed with."""
    role: str = ""
    """What the model was asked as: `generator`, `judge`; empty in recordings of before roles were kept."""

    def completion(self, *, replayed: bool) -> Completion:
        """The reply as its caller sees it. Its cost is what it once cost, also when nothing was sent this time."""
        return Completion(
            text=self.text,
            stop=self.stop,
            usage=self.usage,
            model=self.served_model,
            message_id=self.message_id,
            key=self.key,
            cost_usd=self.cost_usd,
            replayed=replayed,
        )


class DamagedRecording(ValueError):
    """Bytes that are not a recording, or not the one that was written; says why."""


_HEAD, _MIDDLE, _TAIL = b'{"recording":', b',"sha256":"', b'"}'
_BEFORE_KEY = b'%s{"format":%d,"key":"' % (_HEAD, FORMAT)
_AFTER = len(_MIDDLE) + len(_TAIL) + 2 * hashlib.sha256().digest_size


def encode(recording: Recording) -> bytes:
    """One JSON object, `{"recording": ..., "sha256": digest of its bytes}`, in UTF-8, ending with its brace.

    No strict prefix of it is JSON, so a cut anywhere shows; the digest shows every other change.
    """
    return _sealed(recording.model_dump_json().encode())


def decode(content: bytes, key: str) -> Recording:
    """The recording in `content`, which must be that of `key`. Raises DamagedRecording."""
    body = content[len(_HEAD) : -_AFTER]
    if content != _sealed(body):
        raise DamagedRecording("its digest does not match its content")
    try:
        recording = Recording.model_validate_json(body)
    except ValueError as error:
        raise DamagedRecording(f"not a recording: {_brief(error)}") from error
    if recording.key != key:
        raise DamagedRecording(f"it belongs to the key {recording.key[:12]}")
    return recording


def key_in(content: bytes) -> str:
    """The key of the recording in `content`, which is read no further: whether it is whole, decode() says.

    Where damage hides it, what stands in its place.
    """
    start = len(_BEFORE_KEY)
    return content[start : content.find(b'"', start)].decode("utf-8", "replace")


def _sealed(body: bytes) -> bytes:
    return b"".join((_HEAD, body, _MIDDLE, hashlib.sha256(body).hexdigest().encode(), _TAIL))


def _brief(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return f"{type(error).__name__}: {error}"
