"""What every Index keeps to, whatever engine holds it. To join, add the engine's name to `ENGINES`."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.adapters.clock import SystemClock
from core.adapters.embed import open_embedder
from core.adapters.index import build, open_index, wanted_manifest
from core.errors import IndexMismatch, IndexUnavailable
from core.model.retrieval import Query, RetrievalMode
from core.model.specs import ChunkingSpec, EmbedderSpec, IndexSpec, RetrievalSpec
from core.ports import Index

ENGINES = ("embedded",)
EMBEDDER = EmbedderSpec(model="hash:128")
SECTIONS = {
    "loops": "Use startLoop to count from one number to another, both included.",
    "lists": "Use itemFromList to read one item of a list by its position.",
    "dates": "Use getDateTime to write the current date in a format.",
    "errors": "Wrap what may fail in try and exception.",
    "functions": "Una función recibe parámetros y devuelve un valor con return.",
    "twin-b": "Exactly the same sentence stands here.",
    "twin-a": "Exactly the same sentence stands here.",
}
Opener = Callable[[RetrievalSpec], Awaitable[Index]]


@pytest.fixture(scope="module", params=ENGINES)
def spec(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[IndexSpec, Path, Path]:
    """An index to build, its configs root and its cache."""
    configs, cache = tmp_path_factory.mktemp("configs"), tmp_path_factory.mktemp("cache")
    (configs / "corpus").mkdir()
    for name, text in SECTIONS.items():
        title = "Twin" if name.startswith("twin") else name.title()
        (configs / f"corpus/{name}.md").write_text(f"## {title} {{#s}}\n\n{text}\n", "utf-8")
    return (
        IndexSpec(
            name="contract", version="v1", engine=request.param, corpus="corpus",
            pipelines=("avap_markdown@1",), chunking=ChunkingSpec(max_words=40), embedder=EMBEDDER,
        ),
        configs,
        cache,
    )  # fmt: skip


@pytest.fixture
def opener(spec: tuple[IndexSpec, Path, Path]) -> Opener:
    """Opens the index, built if need be, with the given ranking."""
    index, configs, cache = spec
    embedder = open_embedder(EMBEDDER, cache=None)

    async def opened(ranking: RetrievalSpec) -> Index:
        folder = await build(index, configs=configs, cache=cache, embedder=embedder, clock=SystemClock())
        return await open_index(folder, wanted_manifest(index, configs), embedder, ranking)

    return opened


@pytest.fixture
async def index(opener: Opener) -> Index:
    return await opener(RetrievalSpec())


@pytest.mark.parametrize("mode", RetrievalMode)
async def test_the_passage_about_the_question_is_first(index: Index, mode: RetrievalMode) -> None:
    found = await index.search(Query(text="read one item of a list by position", mode=mode))
    assert found[0].id == "lists#s"
    assert SECTIONS["lists"] in found[0].text
    assert [passage.score for passage in found] == sorted((passage.score for passage in found), reverse=True)


@pytest.mark.parametrize("mode", RetrievalMode)
@pytest.mark.parametrize("k", [0, 1, 3, 100])
async def test_at_most_k_passages_each_once(index: Index, mode: RetrievalMode, k: int) -> None:
    found = await index.search(Query(text="use the same list of one date", mode=mode, k=k))
    assert len(found) <= min(k, len(SECTIONS))
    assert len({passage.id for passage in found}) == len(found)
    assert found == (await index.search(Query(text="use the same list of one date", mode=mode, k=100)))[:k]


async def test_nearest_neighbours_rank_every_passage(index: Index) -> None:
    found = await index.search(Query(text="nothing of this is in it", mode=RetrievalMode.KNN_ONLY, k=100))
    assert len(found) == len(SECTIONS)


async def test_bm25_leaves_out_what_shares_no_term(index: Index) -> None:
    assert await index.search(Query(text="xylophone", mode=RetrievalMode.BM25_ONLY)) == ()
    found = await index.search(Query(text="startLoop", mode=RetrievalMode.BM25_ONLY))
    assert [passage.id for passage in found] == ["loops#s"]


@pytest.mark.parametrize("text", ["funcion parametros", "FUNCIÓN PARÁMETROS", "¿función?"])
async def test_case_and_accents_do_not_matter_to_bm25(index: Index, text: str) -> None:
    found = await index.search(Query(text=text, mode=RetrievalMode.BM25_ONLY))
    assert [passage.id for passage in found] == ["functions#s"]


@pytest.mark.parametrize("mode", RetrievalMode)
async def test_equal_passages_are_ordered_by_id(index: Index, mode: RetrievalMode) -> None:
    for k in (1, 2):
        found = await index.search(Query(text="exactly the same sentence", mode=mode, k=k))
        assert [passage.id for passage in found] == ["twin-a#s", "twin-b#s"][:k]


async def test_hybrid_scores_are_the_fused_ranks(opener: Opener) -> None:
    index = await opener(RetrievalSpec(rrf_k=10, candidates=2))
    found = await index.search(Query(text=SECTIONS["loops"]))
    assert found[0].id == "loops#s"
    assert found[0].score == pytest.approx(2 / 11, abs=1e-12)


@pytest.mark.parametrize("mode", RetrievalMode)
async def test_a_blank_question_finds_nothing(index: Index, mode: RetrievalMode) -> None:
    assert await index.search(Query(text=" \n", mode=mode)) == ()


@given(text=st.text(max_size=60), mode=st.sampled_from(RetrievalMode))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
async def test_any_characters_may_be_asked(index: Index, text: str, mode: RetrievalMode) -> None:
    assert await index.search(Query(text=text, mode=mode)) == await index.search(Query(text=text, mode=mode))


@pytest.mark.parametrize("text", ['"open', "a AND (b", "title:x^2 -y +z ~", "\\", "[1 TO", "/re(/", "*", "\ud800 list"])
async def test_the_signs_of_query_languages_mean_nothing(index: Index, text: str) -> None:
    for mode in RetrievalMode:
        await index.search(Query(text=text, mode=mode))


async def test_the_manifest_says_what_was_built(index: Index, spec: tuple[IndexSpec, Path, Path]) -> None:
    wanted = wanted_manifest(spec[0], spec[1])
    assert index.manifest.faults_against(wanted) == ()
    assert index.manifest.count == wanted.count == len(SECTIONS)
    assert index.manifest.dimensions == 128
    assert index.manifest.built_at


async def test_an_index_of_another_config_is_refused_field_by_field(
    opener: Opener, spec: tuple[IndexSpec, Path, Path]
) -> None:
    await opener(RetrievalSpec())
    index, configs, cache = spec
    embedder = open_embedder(EMBEDDER, cache=None)
    folder = await build(index, configs=configs, cache=cache, embedder=embedder, clock=SystemClock())
    other = index.model_copy(update={"chunking": ChunkingSpec(max_words=41), "version": "v2"})
    with pytest.raises(IndexMismatch, match="chunking") as caught:
        await open_index(folder, wanted_manifest(other, configs), embedder)
    assert "version: found 'v1', config wants 'v2'" in str(caught.value)
    assert caught.value.remedy


async def test_an_absent_index_is_unavailable(spec: tuple[IndexSpec, Path, Path], tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable, match="no index") as caught:
        await open_index(tmp_path, wanted_manifest(spec[0], spec[1]), open_embedder(EMBEDDER, cache=None))
    assert "build" in caught.value.remedy


async def test_a_manifest_that_was_cut_off_is_unavailable(spec: tuple[IndexSpec, Path, Path], tmp_path: Path) -> None:
    whole = wanted_manifest(spec[0], spec[1]).model_dump_json()
    (tmp_path / "manifest.json").write_text(whole[: len(whole) // 2])
    with pytest.raises(IndexUnavailable, match="cannot be read"):
        await open_index(tmp_path, wanted_manifest(spec[0], spec[1]), open_embedder(EMBEDDER, cache=None))
    (tmp_path / "manifest.json").write_text(json.dumps({"name": "x"}))
    with pytest.raises(IndexUnavailable, match="cannot be read"):
        await open_index(tmp_path, wanted_manifest(spec[0], spec[1]), open_embedder(EMBEDDER, cache=None))
