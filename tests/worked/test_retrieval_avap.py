"""The shipped index over the shipped corpus: what the golden questions find, with the real packaged model."""

import os
from pathlib import Path
from statistics import fmean

import pytest
import yaml

from core.adapters.clock import SystemClock
from core.adapters.domain import load_golden
from core.adapters.embed import open_embedder
from core.adapters.index import HybridIndex, build, open_index, wanted_manifest
from core.measure.ranking import section_recall
from core.model.retrieval import Query, RetrievalMode
from core.model.sample import GoldenQuestion
from core.model.specs import IndexSpec


async def shipped(configs: Path) -> HybridIndex:
    """Built in the cache that all tests share, so that it is built once."""
    spec = IndexSpec.model_validate(yaml.safe_load((configs / "indices/avap-knowledge.yaml").read_text())["index"])
    cache = Path(os.environ["ASSAY_CACHE"])
    embedder = open_embedder(spec.embedder, cache=cache)
    folder = await build(spec, configs=configs, cache=cache, embedder=embedder, clock=SystemClock())
    return await open_index(folder, wanted_manifest(spec, configs), embedder)


def answerable(configs: Path) -> list[GoldenQuestion]:
    return [question for question in load_golden(configs / "domains/avap/golden.yaml") if question.gold_passages]


async def recalls(index: HybridIndex, mode: RetrievalMode, questions: list[GoldenQuestion]) -> list[float]:
    found = [await index.search(Query(text=question.question, mode=mode)) for question in questions]
    pairs = zip(questions, found, strict=True)
    return [section_recall(one.gold_passages, [hit.id for hit in hits]) or 0.0 for one, hits in pairs]


async def test_the_golden_questions_find_their_sections(configs: Path) -> None:
    index, questions = await shipped(configs), answerable(configs)
    by_mode = {mode: await recalls(index, mode, questions) for mode in RetrievalMode}
    mean = {mode: fmean(values) for mode, values in by_mode.items()}
    assert 150 <= index.manifest.count <= 300
    assert mean[RetrievalMode.HYBRID] >= 0.65
    assert mean[RetrievalMode.HYBRID] >= max(mean[RetrievalMode.KNN_ONLY], mean[RetrievalMode.BM25_ONLY])
    assert fmean(value > 0 for value in by_mode[RetrievalMode.HYBRID]) >= 0.9


@pytest.mark.parametrize(
    ("question", "section"),
    [
        ("How do I register an HTTP endpoint?", "register"),
        ("¿Cómo recorro una lista elemento a elemento?", "list"),
    ],
)
async def test_a_plain_question_finds_its_section_first(configs: Path, question: str, section: str) -> None:
    index = await shipped(configs)
    first = await index.search(Query(text=question, k=3))
    assert any(section in passage.id for passage in first), [passage.id for passage in first]
