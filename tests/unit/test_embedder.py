"""Caching embedders over encoders that need no model."""

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy
import pytest

from core.adapters.embed import open_embedder
from core.adapters.embed.cache import VectorCache
from core.adapters.embed.embedder import REMEMBERED, CachingEmbedder
from core.adapters.embed.hashing import HashingEncoder
from core.errors import ConfigError, EmbedderUnavailable
from core.model.retrieval import TextKind
from core.model.specs import EmbedderSpec
from core.ports import Matrix

Batches = Iterator[tuple[Sequence[int], Matrix]]

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class CountingEncoder(HashingEncoder):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(16)
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str], kind: TextKind) -> Batches:
        self.asked += [f"{kind.value}:{text}" for text in texts]
        yield from super().encode(texts, kind)


def caching(encoder: HashingEncoder, folder: Path | None, identity: str = "one") -> CachingEmbedder:
    cache = VectorCache(folder / "embeddings.sqlite3") if folder else None
    return CachingEmbedder(encoder, identity=identity, cache=cache)


async def test_a_text_is_encoded_once_and_vectors_come_in_order() -> None:
    encoder = CountingEncoder()
    embedder = caching(encoder, None)
    first = await embedder.embed(["b", "a", "b"], kind=TextKind.QUERY)
    again = await embedder.embed(["a", "c"], kind=TextKind.QUERY)
    assert encoder.asked == ["query:b", "query:a", "query:c"]
    assert first.shape == (3, 16)
    assert first.dtype == numpy.float32
    assert numpy.array_equal(first[1], again[0])
    assert numpy.array_equal(first[0], first[2])


async def test_queries_and_documents_are_kept_apart() -> None:
    encoder = CountingEncoder()
    embedder = caching(encoder, None)
    for kind in TextKind:
        await embedder.embed(["a"], kind=kind)
    assert encoder.asked == ["query:a", "document:a"]


async def test_no_texts_give_no_rows() -> None:
    assert (await caching(CountingEncoder(), None).embed([], kind=TextKind.QUERY)).shape == (0, 16)


async def test_the_next_process_finds_the_vectors(tmp_path: Path) -> None:
    first, second, other = CountingEncoder(), CountingEncoder(), CountingEncoder()
    vectors = await caching(first, tmp_path).embed(["a", "b"], kind=TextKind.DOCUMENT)
    assert numpy.array_equal(await caching(second, tmp_path).embed(["a", "b"], kind=TextKind.DOCUMENT), vectors)
    await caching(other, tmp_path, identity="two").embed(["a"], kind=TextKind.DOCUMENT)
    assert (second.asked, other.asked) == ([], ["document:a"])


async def test_two_embedders_write_one_file_at_once(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(200)]
    embedders = [caching(CountingEncoder(), tmp_path) for _ in range(4)]
    found = await asyncio.gather(
        *(embedder.embed([text], kind=TextKind.QUERY) for embedder in embedders for text in texts[:50]),
        *(embedder.embed(texts, kind=TextKind.QUERY) for embedder in embedders),
    )
    assert all(numpy.array_equal(found[-1], matrix) for matrix in found[-4:])
    fresh = CountingEncoder()
    await caching(fresh, tmp_path).embed(texts, kind=TextKind.QUERY)
    assert fresh.asked == []


async def test_a_damaged_vector_is_made_again(tmp_path: Path) -> None:
    vector = await caching(CountingEncoder(), tmp_path).embed(["a"], kind=TextKind.QUERY)
    with sqlite3.connect(tmp_path / "embeddings.sqlite3") as connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(64)")
    connection.close()
    encoder = CountingEncoder()
    assert numpy.array_equal(await caching(encoder, tmp_path).embed(["a"], kind=TextKind.QUERY), vector)
    assert encoder.asked == ["query:a"]


async def test_a_file_that_is_no_cache_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "embeddings.sqlite3").write_bytes(b"not a database, though long enough to be taken for one" * 20)
    embedder = caching(CountingEncoder(), tmp_path)
    await embedder.embed(["a"], kind=TextKind.QUERY)
    assert (tmp_path / "embeddings.damaged").exists()
    fresh = CountingEncoder()
    await caching(fresh, tmp_path).embed(["a"], kind=TextKind.QUERY)
    assert fresh.asked == []
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


async def test_a_cache_that_cannot_be_written_costs_time_not_results(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "taken").write_text("a file where the folder should be")
    embedder = caching(CountingEncoder(), tmp_path / "taken")
    for text in "ab":
        assert (await embedder.embed([text], kind=TextKind.QUERY)).shape == (1, 16)
    assert len(caplog.records) == 1


async def test_the_event_loop_stays_free_and_one_call_runs_at_a_time() -> None:
    class Waiting(HashingEncoder):
        inside = 0
        worst = 0
        release = threading.Event()

        def encode(self, texts: Sequence[str], kind: TextKind) -> Batches:
            Waiting.inside += 1
            Waiting.worst = max(Waiting.worst, Waiting.inside)
            assert self.release.wait(10)
            Waiting.inside -= 1
            yield from super().encode(texts, kind)

    embedder = caching(Waiting(8), None)
    tasks = [asyncio.ensure_future(embedder.embed([text], kind=TextKind.QUERY)) for text in "abc"]
    Waiting.release.set()
    await asyncio.gather(*tasks)
    assert Waiting.worst == 1


class OneByOne(CountingEncoder):
    """Batches of one text; `between` is called after each."""

    def __init__(self, between: Callable[[], None]) -> None:
        super().__init__()
        self._between = between

    def encode(self, texts: Sequence[str], kind: TextKind) -> Batches:
        for place, text in enumerate(texts):
            for _, matrix in super().encode([text], kind):
                yield [place], matrix
            self._between()


async def test_what_was_embedded_before_a_failure_is_kept(tmp_path: Path) -> None:
    def fail() -> None:
        raise EmbedderUnavailable("gone")

    with pytest.raises(EmbedderUnavailable):
        await caching(OneByOne(fail), tmp_path).embed(["a", "b"], kind=TextKind.DOCUMENT)
    encoder = CountingEncoder()
    await caching(encoder, tmp_path).embed(["a", "b"], kind=TextKind.DOCUMENT)
    assert encoder.asked == ["document:b"]


async def test_a_cancelled_call_ends_with_its_batch() -> None:
    inside, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        assert go_on.wait(10)

    encoder = OneByOne(wait)
    embedder = caching(encoder, None)
    task = asyncio.ensure_future(embedder.embed([str(number) for number in range(100)], kind=TextKind.DOCUMENT))
    await asyncio.to_thread(inside.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    await embedder.embed(["next"], kind=TextKind.QUERY)
    assert len(encoder.asked) == 3


async def test_a_vector_that_is_not_a_number_is_refused() -> None:
    class Broken(HashingEncoder):
        def encode(self, texts: Sequence[str], kind: TextKind) -> Batches:
            for places, matrix in super().encode(texts, kind):
                yield places, matrix * numpy.float32("nan")

    with pytest.raises(EmbedderUnavailable, match="not a number"):
        await caching(Broken(8), None).embed(["a"], kind=TextKind.QUERY)


async def test_memory_is_bounded() -> None:
    embedder = caching(CountingEncoder(), None)
    await embedder.embed([str(number) for number in range(REMEMBERED + 5)], kind=TextKind.DOCUMENT)
    assert len(embedder._memory) == REMEMBERED


async def test_text_that_utf8_cannot_hold_is_embedded_all_the_same() -> None:
    assert (await caching(CountingEncoder(), None).embed(["\ud800 word"], kind=TextKind.QUERY)).any()


async def test_hashed_vectors_are_of_length_one_and_compare_by_shared_words(tmp_path: Path) -> None:
    embedder = open_embedder(EmbedderSpec(model="hash:512"), cache=tmp_path)
    question, near, far = await embedder.embed(
        ["How do I loop over a list?", "loop over a list of words", "hash a password"], kind=TextKind.QUERY
    )
    assert embedder.dimensions == 512
    assert numpy.linalg.norm(question) == pytest.approx(1.0, abs=1e-6)
    assert question @ near > 0.3 > question @ far


@pytest.mark.parametrize(
    ("spec", "path", "words"),
    [
        ({"model": "BAAI/bge-m3"}, "index.embedder.revision", "commit"),
        ({"model": "BAAI/bge-m3", "revision": "main"}, "index.embedder.revision", "branch"),
        ({"model": "minilm"}, "index.embedder.model", "names no embedding model"),
        ({"model": "pypi:minilm"}, "index.embedder.model", "minilm"),
        ({"model": "hash:64", "dimensions": 8}, "index.embedder.dimensions", "already"),
        ({"model": "hash:none"}, "index.embedder.model", "dimensions"),
        ({"model": "./no/such/folder"}, "index.embedder.model", "modules.json"),
    ],
)
def test_a_model_that_is_not_exact_is_refused(spec: dict[str, str | int], path: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        open_embedder(EmbedderSpec.model_validate(spec), cache=None)
    assert caught.value.path == path
    assert caught.value.remedy


def test_a_hub_model_with_its_commit_is_accepted_without_loading_it() -> None:
    open_embedder(EmbedderSpec(model="BAAI/bge-m3", revision=COMMIT), cache=None)
