"""What an index should be, computed without building it; and what an index on disk says it is."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import ValidationError

from core.adapters.embed import embedder_digest
from core.adapters.index.engines import engine_named
from core.adapters.ingest import Corpus, read_corpus
from core.errors import ConfigError, IndexUnavailable
from core.model.frozen import canonical_json, digest
from core.model.retrieval import IndexManifest
from core.model.specs import IndexSpec

MANIFEST = "manifest.json"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def wanted_manifest(spec: IndexSpec, configs: Path) -> IndexManifest:
    """The manifest of the index that `spec` describes, from config and corpus alone.

    `built_at` is empty and `dimensions` 0 unless the spec fixes them. Raises ConfigError for a corpus, pipeline,
    engine or name that cannot be.
    """
    return manifest_of(spec, read_corpus(configs / spec.corpus, spec.pipelines, spec.chunking))


def manifest_of(spec: IndexSpec, corpus: Corpus) -> IndexManifest:
    """As `wanted_manifest`, for a corpus that was read already."""
    for field, value in (("name", spec.name), ("version", spec.version)):
        if not _NAME.fullmatch(value):
            raise ConfigError(
                f"{value!r} cannot be part of a folder's name",
                path=f"index.{field}",
                remedy="use letters, digits, `.`, `_` and `-`",
            )
    return IndexManifest(
        name=spec.name,
        version=spec.version,
        engine=f"{spec.engine}@{engine_named(spec.engine).version}",
        pipeline="+".join(spec.pipelines),
        chunking=canonical_json(spec.chunking),
        embedder=embedder_digest(spec.embedder),
        embedder_name=spec.embedder.model,
        dimensions=spec.embedder.dimensions or 0,
        corpus_sha256=corpus.sha256,
        count=len(corpus.passages),
        built_at="",
    )


def index_folder(cache: Path, wanted: IndexManifest) -> Path:
    """Where below `cache` the wanted index is or will be: `indices/<name>-<version>-<12 digits of its identity>`."""
    identity = wanted.model_dump(mode="json", exclude={"built_at", "count", "dimensions"})
    return cache / "indices" / f"{wanted.name}-{wanted.version}-{digest(identity)[:12]}"


def read_manifest(folder: Path) -> IndexManifest:
    """The manifest of the index in `folder`. Raises IndexUnavailable when there is none that can be read."""
    try:
        return IndexManifest.model_validate_json((folder / MANIFEST).read_bytes())
    except FileNotFoundError as error:
        raise IndexUnavailable(
            f"there is no index in {folder}", endpoint=str(folder), remedy="build it: `assay index build`"
        ) from error
    except (OSError, ValidationError) as error:
        raise IndexUnavailable(
            f"{folder / MANIFEST} cannot be read: {error}", endpoint=str(folder), remedy=f"delete {folder}"
        ) from error
