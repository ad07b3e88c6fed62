"""A corpus: the files that its pipelines read, their hash, and the passages that come out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.adapters.ingest.documents import read_document
from core.adapters.ingest.pipelines import pipeline
from core.errors import ConfigError
from core.model.sample import Passage
from core.model.specs import ChunkingSpec


@dataclass(frozen=True)
class Corpus:
    """An ingested corpus."""

    sha256: str
    """Over the sorted relative paths and contents of the files that were read."""
    passages: tuple[Passage, ...]
    """Sorted by id."""


def corpus_files(folder: Path, pipelines: Sequence[str]) -> tuple[Path, ...]:
    """The files below `folder` that the pipelines read, sorted; hidden ones are left out.

    Raises ConfigError for an unknown pipeline, an absent folder, and a pipeline that finds nothing to read.
    """
    if not folder.is_dir():
        raise ConfigError(
            f"the corpus {folder} is not a folder", file=str(folder), path="index.corpus",
            remedy="name a folder below the configs root",
        )  # fmt: skip
    if not pipelines:
        raise ConfigError("no ingestion pipeline is named", path="index.pipelines", remedy="name at least one")
    found = {name: _files(folder, pipeline(name).suffix) for name in pipelines}
    for name, files in found.items():
        if not files:
            raise ConfigError(
                f"{folder} holds no *{pipeline(name).suffix} for {name}", file=str(folder), path="index.pipelines",
                remedy="remove the pipeline, or add documents",
            )  # fmt: skip
    return tuple(sorted({file for files in found.values() for file in files}))


def read_corpus(folder: Path, pipelines: Sequence[str], chunking: ChunkingSpec) -> Corpus:
    """Ingest the documents below `folder` and hash them. Raises ConfigError as `corpus_files` and `ingest` do."""
    files = corpus_files(folder, pipelines)
    return Corpus(_sha256(folder, files), ingest(folder, pipelines, chunking))


def ingest(folder: Path, pipelines: Sequence[str], chunking: ChunkingSpec) -> tuple[Passage, ...]:
    """The passages of a corpus, sorted by id.

    Raises ConfigError, with file and line where there is one, for documents that a pipeline refuses, for a chunking
    that cannot be, and for an id that two documents share.
    """
    if chunking.overlap_words >= chunking.max_words:
        raise ConfigError(
            f"overlap_words is {chunking.overlap_words}, max_words {chunking.max_words}: nothing new would fit",
            path="index.chunking.overlap_words", remedy="make the overlap smaller than the chunk",
        )  # fmt: skip
    corpus_files(folder, pipelines)
    passages: dict[str, Passage] = {}
    for name in dict.fromkeys(pipelines):
        for file in _files(folder, pipeline(name).suffix):
            document = read_document(file, folder)
            for passage in pipeline(name).passages(document, chunking):
                if passage.id in passages:
                    raise document.fault(1, f"the id {passage.id!r} is used by two documents", "rename one of them")
                passages[passage.id] = passage
    return tuple(passage for _, passage in sorted(passages.items()))


def _files(folder: Path, suffix: str) -> list[Path]:
    paths = (path for path in folder.rglob(f"*{suffix}") if path.is_file())
    return sorted(path for path in paths if not any(part.startswith(".") for part in path.relative_to(folder).parts))


def _sha256(folder: Path, files: Sequence[Path]) -> str:
    total = hashlib.sha256()
    for file in sorted(files, key=lambda path: path.relative_to(folder).as_posix()):
        for part in (file.relative_to(folder).as_posix().encode(), file.read_bytes()):
            total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()
