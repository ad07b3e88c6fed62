"""Building an index once: beside its place, then renamed into it, with one builder at a time."""

from __future__ import annotations

import asyncio
import fcntl
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import mkdtemp

from core.adapters.index.engines import engine_named
from core.adapters.index.manifest import MANIFEST, index_folder, manifest_of, read_manifest
from core.adapters.index.seal import verify_seal, write_seal
from core.adapters.ingest import Corpus, read_corpus
from core.errors import IndexUnavailable, StoreError
from core.model.retrieval import IndexManifest, TextKind
from core.model.specs import IndexSpec
from core.ports import Clock, Embedder

_POLL_S = 0.1


async def build(spec: IndexSpec, *, configs: Path, cache: Path, embedder: Embedder, clock: Clock) -> Path:
    """The folder of the index that `spec` describes, built unless a whole one is there.

    A second builder, in this process or another, waits for the first and takes its result. A damaged index is
    built again. Raises ConfigError for the corpus, EmbedderUnavailable, and StoreError when `cache` is not writable.
    """
    corpus = await asyncio.to_thread(read_corpus, configs / spec.corpus, spec.pipelines, spec.chunking)
    wanted = manifest_of(spec, corpus)
    folder = index_folder(cache, wanted)
    try:
        async with _alone(folder, clock):
            if not await asyncio.to_thread(_whole, folder, wanted):
                await _build(spec, corpus, wanted, folder, embedder, clock)
    except OSError as error:
        raise StoreError(
            f"the index {folder} cannot be written: {error}", file=str(folder), remedy="make room, or move the cache"
        ) from error
    return folder


async def _build(
    spec: IndexSpec, corpus: Corpus, wanted: IndexManifest, folder: Path, embedder: Embedder, clock: Clock
) -> None:
    for leftover in folder.parent.glob(f".{folder.name}.part-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    part = Path(mkdtemp(prefix=f".{folder.name}.part-", dir=folder.parent))
    try:
        vectors = await embedder.embed([passage.text for passage in corpus.passages], kind=TextKind.DOCUMENT)
        manifest = wanted.model_copy(update={"dimensions": vectors.shape[1], "built_at": clock.now()})
        await engine_named(spec.engine).write(part, manifest, corpus.passages, vectors)
        await asyncio.to_thread(_finish, part, folder, manifest)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _finish(part: Path, folder: Path, manifest: IndexManifest) -> None:
    (part / MANIFEST).write_text(manifest.model_dump_json(indent=1), "utf-8")
    write_seal(part)
    part.chmod(0o755)
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)


def _whole(folder: Path, wanted: IndexManifest) -> bool:
    try:
        faults = read_manifest(folder).faults_against(wanted)
        verify_seal(folder)
    except IndexUnavailable:
        return False
    return not faults


@asynccontextmanager
async def _alone(folder: Path, clock: Clock) -> AsyncIterator[None]:
    """Hold the folder's lock, which the system frees when its holder dies."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("ab") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await clock.sleep(_POLL_S)
        yield
