"""A request as it will be sent, and the address its reply is recorded under."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ConfigDict, TypeAdapter

from core.errors import LlmRefused
from core.model.frozen import canonical_json, canonical_object, digest_of

_BODY = TypeAdapter(dict[str, Any], config=ConfigDict(ser_json_inf_nan="constants"))
"""Writes a body five times as fast as json does. What has no JSON form, the key has refused before."""


@dataclass(frozen=True)
class Surface:
    """Which program speaks which version of which protocol."""

    sdk: str
    """Name and version, as `anthropic 2.12.0`."""
    api_version: str


@dataclass(frozen=True)
class Request:
    """One call, ready to be sent any number of times."""

    name: str
    """The prompt's name and version: for records and logs, never sent."""
    surface: Surface
    body: Mapping[str, Any]
    """The whole JSON body; nothing is added to it on the way."""
    max_tokens: int
    repeat: int

    @cached_property
    def key(self) -> str:
        """Content address of the reply: model, SDK and API version, the whole body, and the repetition."""
        return digest_of(
            canonical_object(
                {
                    "model": canonical_json(self.body["model"]),
                    "sdk": canonical_json(self.surface.sdk),
                    "api_version": canonical_json(self.surface.api_version),
                    "body": self._canonical_body,
                    "repeat": canonical_json(self.repeat),
                }
            )
        )

    @property
    def body_sha256(self) -> str:
        """Digest of the body."""
        return digest_of(self._canonical_body)

    @cached_property
    def _canonical_body(self) -> str:
        return canonical_json(self.body)

    @cached_property
    def content(self) -> bytes:
        """The body in UTF-8, in the order it was made: a model writes the fields of a schema in theirs.

        Raises LlmRefused for text that has no UTF-8 form (half a surrogate pair).
        """
        try:
            return _BODY.dump_json(dict(self.body))
        except ValueError as error:
            raise LlmRefused(
                f"prompt {self.name} holds a lone surrogate, which cannot be sent",
                remedy="repair the text that the prompt was made of",
            ) from error

    @property
    def most_input_tokens(self) -> int:
        """An upper bound: no tokenizer makes more tokens than bytes."""
        return len(self.content)

    @property
    def headers(self) -> Mapping[str, str]:
        """What every caller adds: a deterministic server varies its replies over repetitions by this alone."""
        return {"assay-repeat": str(self.repeat)}
