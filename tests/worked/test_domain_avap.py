"""The AVAP domain proves itself: its programs are valid, its references resolve, nothing golden leaks into the pool."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.adapters.domain import leaked, load_examples, load_golden
from core.adapters.ingest import read_corpus
from core.adapters.languages import load_vocabulary
from core.avap import check
from core.measure.likeness import alike, similarity, token_grams
from core.model.sample import Example, GoldenQuestion, Passage, QueryType
from core.model.specs import ChunkingSpec
from core.model.syntax import Dialect, ParseResult, Validity

DOMAIN = Path(__file__).parents[2] / "configs/domains/avap"
KNOWLEDGE = DOMAIN / "knowledge"
PIPELINES = ("avap_markdown@1", "avap_samples@1")
VOCABULARY = load_vocabulary("lrm-2026.04")
GOLDEN = load_golden(DOMAIN / "golden.yaml")
POOL = load_examples(DOMAIN / "examples")
PASSAGES = read_corpus(KNOWLEDGE, PIPELINES, ChunkingSpec()).passages

_FENCE = re.compile(r"^```(\w*)\s*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)


def fences(text: str, label: str = "avap") -> list[str]:
    """The fenced blocks of `text` that carry `label`."""
    return [code for found, code in _FENCE.findall(text) if found == label]


def parsed(code: str) -> ParseResult:
    """The strict verdict in the vocabulary of every evaluation."""
    return check(code, VOCABULARY, Dialect.STRICT)


def likeness(left: str, right: str) -> float:
    """Jaccard index of the sets of 5-grams of tokens of two programs."""
    return similarity(token_grams(left), token_grams(right))


def _documents() -> Iterator[tuple[str, str]]:
    for file in sorted((KNOWLEDGE / "reference").glob("*.md")):
        for number, code in enumerate(fences(file.read_text("utf-8")), start=1):
            yield f"{file.stem}-{number}", code
    for file in sorted((KNOWLEDGE / "samples").glob("*.avap")):
        yield file.stem, file.read_text("utf-8")


def _golden_programs() -> Iterator[tuple[str, str]]:
    for question in GOLDEN:
        for number, code in enumerate(fences(question.ground_truth), start=1):
            yield f"{question.id}-{number}", code


def _named(programs: Iterator[tuple[str, str]]) -> list[object]:
    return [pytest.param(code, id=name) for name, code in programs]


@pytest.mark.parametrize("code", _named(_documents()))
def test_every_program_of_the_corpus_is_valid(code: str) -> None:
    assert parsed(code).trace == ()


@pytest.mark.parametrize("code", _named(_golden_programs()))
def test_every_program_of_a_golden_answer_is_valid(code: str) -> None:
    assert parsed(code).trace == ()


@pytest.mark.parametrize("example", POOL, ids=lambda example: example.id)
def test_every_example_is_valid_and_lists_its_constructs(example: Example) -> None:
    result = parsed(example.code)
    assert result.trace == ()
    assert set(example.constructs) == set(result.node_types)
    assert len(example.constructs) == len(set(example.constructs))


def test_the_corpus_has_the_agreed_size_and_cuts_no_section() -> None:
    assert 150 <= len(PASSAGES) <= 250
    assert not [passage.id for passage in PASSAGES if "~" in passage.id]


def test_reference_sections_are_short_enough_to_retrieve_and_long_enough_to_answer() -> None:
    words = {passage.id: _prose_words(passage) for passage in PASSAGES if passage.id.startswith("reference/")}
    assert {name: count for name, count in words.items() if not 45 <= count <= 180} == {}


def _prose_words(passage: Passage) -> int:
    return len(_FENCE.sub("", passage.text).split())


def test_fences_of_the_reference_are_avap_or_plain_text() -> None:
    labels = Counter(
        label for file in (KNOWLEDGE / "reference").glob("*.md") for label, _ in _FENCE.findall(file.read_text("utf-8"))
    )
    assert set(labels) == {"avap", "text"}


def test_illustrations_that_are_not_avap_are_invalid() -> None:
    """A `text` fence holding code shows a fault: were it valid, it should be an `avap` fence."""
    blocks = [block for passage in PASSAGES for block in fences(passage.text, "text")]
    assert blocks
    assert {block for block in blocks if parsed(block).verdict is Validity.VALID} == set()


def test_there_are_fifty_questions_with_ids_by_kind() -> None:
    assert len(GOLDEN) == 50
    for question in GOLDEN:
        kind = "C" if question.type is QueryType.CODE_GENERATION else "V"
        assert re.fullmatch(rf"GD-{kind}-\d{{3}}", question.id), question.id
    assert {question.type for question in GOLDEN} == {QueryType.RETRIEVAL, QueryType.CODE_GENERATION}


def test_gold_passages_exist_exactly_for_answerable_questions() -> None:
    known = {passage.id for passage in PASSAGES}
    assert {name for question in GOLDEN for name in question.gold_passages} <= known
    for question in GOLDEN:
        assert bool(question.gold_passages) is question.answerable, question.id
        assert len(set(question.gold_passages)) == len(question.gold_passages), question.id
    assert 4 <= sum(not question.answerable for question in GOLDEN) <= 5


def test_a_question_that_cannot_be_answered_has_a_refusal_for_an_answer() -> None:
    for question in GOLDEN:
        if not question.answerable:
            assert re.search("documentation does not cover|documentación no cubre", question.ground_truth)
            assert not fences(question.ground_truth)
            assert not question.constructs


def test_code_questions_carry_one_program_with_exactly_their_constructs() -> None:
    for question in _code_questions():
        (code,) = fences(question.ground_truth)
        assert set(question.constructs) == set(parsed(code).node_types), question.id


def _code_questions() -> list[GoldenQuestion]:
    return [question for question in GOLDEN if question.answerable and question.type is QueryType.CODE_GENERATION]


def test_constructs_of_questions_are_node_types() -> None:
    assert {name for question in GOLDEN for name in question.constructs} <= set(VOCABULARY.node_types)


def test_spanish_questions_have_spanish_passages_to_stand_on() -> None:
    for question in GOLDEN:
        if question.language == "es" and question.answerable:
            stems = [name.partition("/")[2] for name in question.gold_passages]
            assert any(stem.startswith(("es-", "es_")) for stem in stems), question.id


@pytest.mark.parametrize("items", [GOLDEN, POOL], ids=["golden", "pool"])
def test_a_third_is_spanish(items: tuple[GoldenQuestion | Example, ...]) -> None:
    languages = Counter(item.language for item in items)
    assert set(languages) == {"en", "es"}
    assert 0.25 <= languages["es"] / len(items) <= 0.45


def test_the_questions_of_the_april_campaign_keep_their_ids() -> None:
    questions = {question.id: question for question in GOLDEN}
    assert {"go", "gather"} <= set(questions["GD-V-009"].constructs)
    assert "itemFromList" in questions["GD-V-007"].constructs
    assert {"startLoop", "AddVariableToJSON"} <= set(questions["GD-C-003"].constructs)
    assert "in" in fences(questions["GD-C-004"].ground_truth)[0]


def test_the_pool_is_numbered() -> None:
    assert sorted(example.id for example in POOL) == [f"FS-{number:03}" for number in range(1, len(POOL) + 1)]


def test_no_golden_answer_is_in_the_pool() -> None:
    assert leaked(POOL, GOLDEN) == frozenset()
    close = [
        (name, example.id)
        for name, code in _golden_programs()
        for example in POOL
        if likeness(code, example.code) >= 0.8
    ]
    assert close == []


def test_examples_are_not_variants_of_each_other() -> None:
    assert list(alike({example.id: example.code for example in POOL}, more_than=0.5)) == []
    assert len({example.description for example in POOL}) == len(POOL)
