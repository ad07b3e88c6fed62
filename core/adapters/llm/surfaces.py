"""From a provider to its protocol. The only place that imports the heavy client libraries, and only when asked."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.adapters.llm.request import Surface
from core.errors import ConfigError
from core.model.specs import BatchSpec, ModelSpec, Provider
from core.ports import Clock

if TYPE_CHECKING:
    from core.adapters.llm.wire import Wire

_TALKATIVE = ("anthropic", "httpx2", "httpcore2", "httpx", "httpcore")
"""Their DEBUG lines hold whole requests: prompts, and headers with keys."""


def surface_of(spec: ModelSpec) -> Surface:
    """Which client speaks which version of which protocol to `spec`. Raises ConfigError when it is not installed."""
    try:
        if spec.provider is Provider.OPENAI:
            from core.adapters.llm.chat import CHAT_SURFACE

            return CHAT_SURFACE
        from core.adapters.llm.messages import messages_surface
    except ImportError as error:
        raise _not_installed(error) from error
    installed = messages_surface()
    return Surface(installed.sdk, spec.api_version or installed.api_version)


@dataclass(frozen=True)
class Batching:
    """Requests go in message batches."""

    spec: BatchSpec
    file: Path
    """Where this caller's batches are written down."""
    clock: Clock


def takes_batches(spec: ModelSpec) -> bool:
    """Whether `spec` has message batches."""
    return spec.provider is not Provider.OPENAI


def wire_to(spec: ModelSpec, role: str, base_url: str | None, batching: Batching | None = None) -> Wire:
    """An unconnected wire. Raises ConfigError when its library is not installed, or its server's URL is not known."""
    if base_url is None and spec.provider is not Provider.ANTHROPIC:
        raise ConfigError(
            f"{role}: no URL for {spec.model}, provider {spec.provider.value}",
            path=f"runtime.{role}_url",
            remedy=f"set runtime.{role}_url to the server's URL, as http://localhost:11434/v1",
        )
    try:
        if spec.provider is Provider.OPENAI:
            from core.adapters.llm.chat import ChatWire

            _silence()
            return ChatWire(spec, base_url or "")
        from core.adapters.llm.messages import MessagesWire
    except ImportError as error:
        raise _not_installed(error) from error
    _silence()
    if batching is not None:
        from core.adapters.llm.batches import BatchWire

        return BatchWire(spec, base_url, batching.spec, batching.file, batching.clock)
    return MessagesWire(spec, base_url)


def _silence() -> None:
    """After the import, which would set levels by an environment variable of its own."""
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


def _not_installed(error: ImportError) -> ConfigError:
    return ConfigError(f"the client library {error.name} is not installed", remedy="install assay-lab[llm]")
