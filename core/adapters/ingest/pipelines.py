"""The registered ingestion pipelines. Whoever changes what one makes of a document raises its version."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.adapters.ingest.documents import Document
from core.adapters.ingest.markdown import sections
from core.adapters.ingest.samples import sample
from core.errors import ConfigError
from core.model.sample import Passage
from core.model.specs import ChunkingSpec


@dataclass(frozen=True)
class Pipeline:
    """One way to make passages of documents."""

    name: str
    """With its version, as `avap_markdown@1`."""
    suffix: str
    """Of the files that it reads."""
    passages: Callable[[Document, ChunkingSpec], Iterator[Passage]]


PIPELINES: Mapping[str, Pipeline] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            Pipeline("avap_markdown@1", ".md", sections),
            Pipeline("avap_samples@1", ".avap", sample),
        )
    }
)


def pipeline(name: str) -> Pipeline:
    """The pipeline of that name. Raises ConfigError with the nearest name when there is none."""
    if name in PIPELINES:
        return PIPELINES[name]
    close = difflib.get_close_matches(name, sorted(PIPELINES), n=1, cutoff=0.4)
    raise ConfigError(
        f"unknown ingestion pipeline {name!r}; known are {', '.join(sorted(PIPELINES))}",
        path="index.pipelines",
        remedy=f"did you mean {close[0]!r}?" if close else "use a known one, with its version",
    )
