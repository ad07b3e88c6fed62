"""Indices on disk: built once, whole or not at all, and found out when damaged."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.adapters.clock import SystemClock
from core.adapters.embed import open_embedder
from core.adapters.index import build, index_folder, open_examples, open_index, read_manifest, wanted_manifest
from core.errors import ConfigError, EmbedderUnavailable, IndexUnavailable, StoreError
from core.model.retrieval import Query, RetrievalMode, TextKind
from core.model.sample import Example
from core.model.specs import EmbedderSpec, IndexSpec
from core.ports import Embedder, Matrix

EMBEDDER = EmbedderSpec(model="hash:64")
SPEC = IndexSpec(name="k", version="v1", corpus="corpus", pipelines=("avap_markdown@1",), embedder=EMBEDDER)
EXAMPLES = tuple(
    Example(id=id_, language="en", description=description, code=f"{id_} = 1", constructs=("assign",))
    for id_, description in (("EX-1", "loop over numbers"), ("EX-2", "add two numbers"), ("EX-3", "hash a password"))
)


class Counting:
    """Counts how often documents are embedded, and fails when told to."""

    def __init__(self, error: Exception | None = None) -> None:
        self._inner: Embedder = open_embedder(EMBEDDER, cache=None)
        self._error = error
        self.documents = 0

    @property
    def dimensions(self) -> int:
        return self._inner.dimensions

    async def embed(self, texts: Sequence[str], *, kind: TextKind) -> Matrix:
        self.documents += kind is TextKind.DOCUMENT
        if self._error:
            raise self._error
        return await self._inner.embed(texts, kind=kind)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A configs root with a corpus."""
    (tmp_path / "corpus").mkdir()
    text = "## Loops {#l}\n\nUse startLoop.\n\n## Sums {#s}\n\nUse a + b,\u2028then print.\n"
    (tmp_path / "corpus/a.md").write_text(text, "utf-8")
    return tmp_path


async def built(root: Path, embedder: Embedder | None = None, spec: IndexSpec = SPEC) -> Path:
    return await build(spec, configs=root, cache=root / "cache", embedder=embedder or Counting(), clock=SystemClock())


def visible(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "cache/indices").iterdir() if not path.name.endswith(".lock"))


async def test_an_index_is_built_once_under_the_name_of_what_it_holds(root: Path) -> None:
    embedder = Counting()
    folder = await built(root, embedder)
    assert folder == await built(root, embedder) == index_folder(root / "cache", wanted_manifest(SPEC, root))
    assert embedder.documents == 1
    assert folder.name.startswith("k-v1-")
    assert visible(root) == [folder.name]


async def test_another_corpus_is_another_index(root: Path) -> None:
    before = await built(root)
    (root / "corpus/a.md").write_text("## Loops {#l}\n\nUse startLoop!\n")
    assert await built(root) != before


async def test_builders_at_once_share_one_build(root: Path) -> None:
    embedder = Counting()
    folders = await asyncio.gather(*(built(root, embedder) for _ in range(4)))
    assert (len(set(folders)), embedder.documents) == (1, 1)


async def test_a_failed_build_leaves_nothing_and_the_next_succeeds(root: Path) -> None:
    with pytest.raises(EmbedderUnavailable):
        await built(root, Counting(EmbedderUnavailable("gone")))
    assert visible(root) == []
    assert await built(root)


async def test_a_killed_builder_leaves_no_index_and_no_lock(root: Path) -> None:
    code = f"""
import asyncio, os, signal
from pathlib import Path
from core.adapters.clock import SystemClock
from core.adapters.embed import open_embedder
from core.adapters.index import build, building
from core.model.specs import IndexSpec
building.write_seal = lambda folder: os.kill(os.getpid(), signal.SIGKILL)
spec = IndexSpec.model_validate_json({SPEC.model_dump_json()!r})
root = Path({str(root)!r})
embedder = open_embedder(spec.embedder, cache=None)
asyncio.run(build(spec, configs=root, cache=root / "cache", embedder=embedder, clock=SystemClock()))
"""
    killed = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code], timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(visible(root)) == 1, "the part that it was writing"
    folder = await built(root)
    assert visible(root) == [folder.name]


@pytest.mark.parametrize("name", ["vectors.npy", "passages.jsonl", "bm25/meta.json", "manifest.json", "files.json"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
async def test_a_damaged_index_is_not_searched_but_built_again(root: Path, name: str, damage: str) -> None:
    embedder = Counting()
    folder = await built(root, embedder)
    file = folder / name
    content = bytearray(file.read_bytes())
    file.unlink()
    if damage != "gone":
        content[len(content) // 2] ^= 0xFF
        file.write_bytes(content[: len(content) // 2] if damage == "cut" else content)
    with pytest.raises(IndexUnavailable) as caught:
        await open_index(folder, wanted_manifest(SPEC, root), embedder)
    assert caught.value.remedy
    assert await built(root, embedder) == folder
    index = await open_index(folder, wanted_manifest(SPEC, root), embedder)
    assert (await index.search(Query(text="startLoop", k=1)))[0].id == "a#l"


async def test_an_index_asked_with_another_embedder_is_unavailable(root: Path) -> None:
    index = await open_index(
        await built(root), wanted_manifest(SPEC, root), open_embedder(EmbedderSpec(model="hash:32"), cache=None)
    )
    with pytest.raises(IndexUnavailable, match="32 dimensions, the index 64"):
        await index.search(Query(text="loops", mode=RetrievalMode.KNN_ONLY))


async def test_a_cache_that_cannot_be_written_is_a_store_error(root: Path) -> None:
    (root / "cache").write_text("a file")
    with pytest.raises(StoreError, match="cannot be written") as caught:
        await built(root)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("change", "path"), [({"engine": "lucene"}, "index.engine"), ({"version": "../v1"}, "index.version")]
)
def test_a_spec_that_cannot_be_built_is_refused(root: Path, change: dict[str, str], path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        wanted_manifest(SPEC.model_copy(update=change), root)
    assert caught.value.path == path


async def test_the_wanted_manifest_is_computed_without_building(root: Path) -> None:
    wanted = wanted_manifest(SPEC, root)
    assert (wanted.engine, wanted.pipeline, wanted.count) == ("embedded@1", "avap_markdown@1", 2)
    assert json.loads(wanted.chunking) == {"max_words": 160, "overlap_words": 0}
    assert not (root / "cache").exists()
    assert read_manifest(await built(root)).faults_against(wanted) == ()


async def test_the_pool_gives_the_nearest_examples_but_never_an_excluded_one() -> None:
    embedder = Counting()
    pool = await open_examples(EXAMPLES, embedder=embedder)
    found = await pool.search(Query(text="add numbers", k=2))
    assert [(passage.id, passage.text, passage.code) for passage in found] == [
        ("EX-2", "add two numbers", "EX-2 = 1"), ("EX-1", "loop over numbers", "EX-1 = 1"),
    ]  # fmt: skip
    strict = await open_examples(EXAMPLES, embedder=embedder, exclude=frozenset({"EX-2"}))
    assert [passage.id for passage in await strict.search(Query(text="add numbers", k=9))] == ["EX-1", "EX-3"]
    assert (strict.manifest.count, pool.manifest.count) == (2, 3)
    assert strict.manifest.corpus_sha256 != pool.manifest.corpus_sha256


async def test_an_empty_pool_is_unavailable() -> None:
    with pytest.raises(IndexUnavailable, match="empty"):
        await open_examples(EXAMPLES[:1], embedder=Counting(), exclude=frozenset({"EX-1"}))
