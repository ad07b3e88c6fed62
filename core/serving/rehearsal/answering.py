"""Extractive answers: the best sentences of the context, and for code one program copied from the prompt."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
CARRY = 0.4
"""How much of a sentence's score the next one inherits: what follows a good sentence often completes it."""

_WANTS_CODE = re.compile(
    r"\b(how (do|can|to|would|should)|example|show|write|snippet|code)\b"
    r"|\b(c[oó]mo|ejemplo|mu[eé]stra\w*|escrib\w+|c[oó]digo)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Answer:
    """An answer before it is laid out; `code` is empty when there is none."""

    language: Language
    prose: str
    code: str = ""
    refused: bool = False

    def markdown(self, code: str) -> str:
        """The answer as text, with `code` in place of its own."""
        if not code:
            return self.prose
        return f"{self.prose}\n\n{language.CODE_FOLLOWS[self.language]}\n\n```avap\n{code}\n```"


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
        return Answer(spoken, language.NOT_COVERED[spoken], refused=True)
    sentences = _best_sentences(asked, passages, weights, draws)
    if not sentences:
        return Answer(spoken, language.NOT_COVERED[spoken], refused=True)
    return Answer(spoken, _prose(sentences, spoken), _code(reading, asked, passages, weights, draws))


def _prose(sentences: list[Sentence], spoken: Language) -> str:
    quoted = " ".join(sentence.text for sentence in sentences)
    return quoted if language.of_text(quoted) is spoken else f"{language.QUOTING[spoken]}\n\n{quoted}"


def _best_sentences(asked: frozenset[str], passages: list[Document], weights: Weights, draws: Draws) -> list[Sentence]:
    """Two to four sentences, best first by score, in the order of the context; near-ties fall by draw."""
    scored: dict[str, tuple[float, int, Sentence]] = {}
    for place, passage in enumerate(passages):
        title = relevance(asked, text.stems(" ".join(passage.titles)), weights) if passage.titles else 0.0
        for sentence in passage.sentences:
            score = relevance(asked, sentence.stems, weights)
            if score > 0 and sentence.text.endswith((".", "!", "?", ")")):
                pulled = (score + TITLE_PULL * title) * (1 - RANK_PULL * place)
                jittered = pulled * (1 - (1 - NEAR_TIE) * draws.share("sentence", sentence.text))
                scored.setdefault(sentence.text, (jittered, len(scored), sentence))
    count = 2 + draws.below(3, "sentences")
    best = sorted(scored.values(), key=lambda found: (-found[0], found[1]))[:count]
    return [sentence for _, _, sentence in sorted(best, key=lambda found: found[1])]


def _code(reading: Reading, asked: frozenset[str], passages: list[Document], weights: Weights, draws: Draws) -> str:
    generating = reading.one("route").text.strip() == "CODE_GENERATION"
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
