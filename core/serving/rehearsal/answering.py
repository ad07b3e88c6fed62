"""Extractive answers: the best sentences of the context, and for code one program copied from the prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from core.model.sample import QueryType
from core.serving.rehearsal import language, text
from core.serving.rehearsal.draws import Draws
from core.serving.rehearsal.language import Language
from core.serving.rehearsal.ranking import Weights, coverage, relevance, weigh
from core.serving.rehearsal.reading import Reading, Section, restored
from core.serving.rehearsal.text import Document, Sentence

COVERED = 0.5
"""Share of the question's weight that the context must hold for an answer to be tried at all."""
NEAR_TIE = 0.85
"""Whatever scores at least this share of the best may be taken in its place."""
RANK_PULL = 0.04
"""How much each place further down the context costs a passage's sentences."""
TITLE_PULL = 0.5
"""Weight of a passage's title in the score of its sentences."""
FOREIGN_PULL = 0.6
"""What is left of the score of a sentence that is not in the question's language."""
CARRY = 0.4
"""How much of a sentence's score the next one inherits: what follows a good sentence often completes it."""

_WANTS_CODE = re.compile(
    r"\b(how (do|can|to|would|should)|example|show|write|snippet|code)\b"
    r"|\b(c[oó]mo|ejemplo|mu[eé]stra\w*|escrib\w+|c[oó]digo)\b",
    re.IGNORECASE,
)


class Layout(StrEnum):
    """Where the program stands."""

    PROSE_FIRST = "prose first"
    PROGRAM_FIRST = "program first"


@dataclass(frozen=True)
class Answer:
    """An answer before it is laid out; `code` is empty when there is none."""

    language: Language
    prose: str
    code: str = ""
    layout: Layout = Layout.PROSE_FIRST

    def markdown(self, code: str) -> str:
        """The answer as text, with `code` in place of its own."""
        if not code:
            return self.prose
        block = f"```avap\n{code}\n```"
        if self.layout is Layout.PROGRAM_FIRST:
            return f"{block}\n\n{self.prose}"
        return f"{self.prose}\n\n{language.CODE_FOLLOWS[self.language]}\n\n{block}"


@dataclass(frozen=True)
class _Program:
    code: str
    score: float


def answer(reading: Reading, draws: Draws) -> Answer:
    """Answer the question of an answer prompt from its context, or say that the documentation does not cover it."""
    question = reading.one("question")
    spoken = language.of_section(question)
    asked = text.stems(question.text)
    passages = [text.document(restored(p.text)) for p in reading.items("context", "passage")]
    weights = weigh([passage.stems for passage in passages])
    known = frozenset().union(*(passage.stems for passage in passages))
    if coverage(asked, known, weights) < COVERED:
        return Answer(spoken, language.NOT_COVERED[spoken])
    sentences = _best_sentences(asked, spoken, passages, weights, draws)
    if not sentences:
        return Answer(spoken, language.NOT_COVERED[spoken])
    layout = Layout.PROGRAM_FIRST if _asks_for_a_program(reading) else Layout.PROSE_FIRST
    return Answer(spoken, _prose(sentences, spoken), _code(reading, asked, passages, weights, draws), layout)


def _asks_for_a_program(reading: Reading) -> bool:
    return reading.one("route").text.strip() == QueryType.CODE_GENERATION.value


def _prose(sentences: list[Sentence], spoken: Language) -> str:
    quoted = " ".join(sentence.text for sentence in sentences)
    return quoted if language.of_text(quoted) is spoken else f"{language.QUOTING[spoken]}\n\n{quoted}"


def _best_sentences(
    asked: frozenset[str], spoken: Language, passages: list[Document], weights: Weights, draws: Draws
) -> list[Sentence]:
    """Two to four sentences, near-ties by draw, in the order of the context."""
    scored: dict[str, tuple[float, int, Sentence]] = {}
    for place, passage in enumerate(passages):
        for sentence, score in _scores(asked, passage, weights):
            if score > 0 and sentence.text.endswith((".", "!", "?", ")")):
                pulled = score * (1 - RANK_PULL * place) * (1 - (1 - NEAR_TIE) * draws.share("sentence", sentence.text))
                pulled *= 1.0 if language.of_text(sentence.text) is spoken else FOREIGN_PULL
                scored.setdefault(sentence.text, (pulled, len(scored), sentence))
    best = sorted(scored.values(), key=lambda found: (-found[0], found[1]))[: 2 + draws.below(3, "sentences")]
    return [sentence for _, _, sentence in sorted(best, key=lambda found: found[1])]


def _scores(asked: frozenset[str], passage: Document, weights: Weights) -> Iterator[tuple[Sentence, float]]:
    """Each sentence of a passage with its own relevance, what its title adds and what the one before it passes on."""
    title = TITLE_PULL * relevance(asked, text.stems(" ".join(passage.titles)), weights)
    before = 0.0
    for sentence in passage.sentences:
        own = relevance(asked, sentence.stems, weights)
        yield sentence, own + CARRY * before + (title if own else 0.0)
        before = own


def _code(reading: Reading, asked: frozenset[str], passages: list[Document], weights: Weights, draws: Draws) -> str:
    generating = _asks_for_a_program(reading)
    if not generating and not _WANTS_CODE.search(reading.one("question").text):
        return ""
    found = [
        _Program(code, coverage(asked, passage.stems, weights)) for passage in passages for code in passage.programs[:1]
    ]
    if generating:
        found += [_example(item, asked, weights) for item in reading.items("examples", "example")]
    best = max((program.score for program in found), default=0.0)
    ties = [program for program in found if program.code and program.score >= best * NEAR_TIE]
    return draws.pick(ties, "program").code if ties and best > 0 else ""


def _example(item: Section, asked: frozenset[str], weights: Weights) -> _Program:
    parts = {name: restored(match) for name, match in _EXAMPLE_PART.findall(item.text)}
    code = parts.get("code", "")
    return _Program(code, coverage(asked, text.stems(parts.get("description", "")) | text.stems(code), weights))


_EXAMPLE_PART = re.compile(r"<(description|code)>(.*?)</\1>", re.DOTALL)


def reformulate(reading: Reading) -> str:
    """A standalone search query: the question, and for a Spanish one the manuals' English words for its own."""
    question = reading.one("question")
    query = " ".join(question.text.split())
    added = text.translations(query) if language.of_section(question) is Language.SPANISH else ()
    return " ".join((query, *added))
