"""Extractive answers: the best sentences of the context, and for code one program copied from the prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.model.sample import QueryType
from core.model.specs import LeakSpec
from core.serving.rehearsal import language, text
from core.serving.rehearsal.draws import Draws
from core.serving.rehearsal.language import Language
from core.serving.rehearsal.ranking import Weights, coverage, relevance, weigh
from core.serving.rehearsal.reading import Reading, Section, restored
from core.serving.rehearsal.text import Document, Sentence

COVERED = 0.3
"""Share of the question's weight that one passage must hold for an answer to be tried."""
COVERED_FOR_CODE = 0.1
"""The same where a program is asked for, since its story (shops, users, prices) is in no manual."""
NEAR_TIE = 0.85
"""Whatever scores at least this share of the best may be taken in its place."""
RANK_PULL = 0.04
"""How much each place further down its list costs a passage or an example."""
TITLE_PULL = 0.5
"""Weight of a passage's title in the score of its sentences."""
FOREIGN_PULL = 0.35
"""What is left of the score of a sentence that is not in the question's language."""
CARRY = 0.4
"""How much of a sentence's score the next one inherits: what follows a good sentence often completes it."""

_WANTS_CODE = re.compile(
    r"\b(how (do|can|to|would|should)|example|show|write|snippet|code)\b"
    r"|\b(c[oó]mo|ejemplo|mu[eé]stra\w*|escrib\w+|c[oó]digo)\b",
    re.IGNORECASE,
)


NO_LEAKS = LeakSpec()

_PUNCTUATION = "¿?¡!.,;:\"'()"
_EXAMPLE_PART = re.compile(r"<(description|code)>(.*?)</\1>", re.DOTALL)


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
class Program:
    """A program that may be copied, with all that is said of it."""

    code: str = ""
    description: str = ""
    stems: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Material:
    """What there is to answer from."""

    question: str
    asked: frozenset[str]
    generating: bool
    passages: list[Document]
    examples: list[Program]
    weights: Weights


def answer(reading: Reading, draws: Draws, leaks: LeakSpec = NO_LEAKS) -> Answer:
    """Answer the question of an answer prompt from its context, or say that the documentation does not cover it."""
    material = _material(reading)
    spoken = language.of_section(reading.one("question"))
    sentences = _best_sentences(material, spoken, draws) if _covered(material) else []
    if not sentences:
        return Answer(spoken, language.NOT_COVERED[spoken])
    program = _program(material, draws, leaks)
    prose = _prose(sentences, spoken)
    if material.generating and program.description and language.of_text(program.description) is spoken:
        prose = f"{program.description}\n\n{prose}"
    return Answer(spoken, prose, program.code, Layout.PROGRAM_FIRST if material.generating else Layout.PROSE_FIRST)


def _material(reading: Reading) -> _Material:
    question = reading.one("question").text
    passages = [text.document(restored(p.text)) for p in reading.items("context", "passage")]
    return _Material(
        question=question,
        asked=text.stems(question),
        generating=_generating(reading),
        passages=passages,
        examples=examples_of(reading),
        weights=weigh([passage.stems for passage in passages]),
    )


def _covered(material: _Material) -> bool:
    """Whether one passage is about enough of the question, and none of the names in it is strange to all of them."""
    best = max((coverage(material.asked, p.stems, material.weights) for p in material.passages), default=0.0)
    known = frozenset().union(*(passage.stems for passage in material.passages), *(e.stems for e in material.examples))
    bar = COVERED_FOR_CODE if material.generating else COVERED
    return best >= bar and text.names(material.question) <= known


def _prose(sentences: list[Sentence], spoken: Language) -> str:
    quoted = " ".join(sentence.text for sentence in sentences)
    return quoted if language.of_text(quoted) is spoken else f"{language.QUOTING[spoken]}\n\n{quoted}"


def _best_sentences(material: _Material, spoken: Language, draws: Draws) -> list[Sentence]:
    """Two to four sentences, near-ties by draw, in the order of the context."""
    scored: dict[str, tuple[float, int, Sentence]] = {}
    for place, passage in enumerate(material.passages):
        for sentence, score in _scores(material.asked, passage, material.weights):
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


def wants_code(reading: Reading) -> bool:
    """Whether the question of an answer prompt is after code."""
    return _generating(reading) or bool(_WANTS_CODE.search(reading.one("question").text))


def copied(examples: Sequence[Program], draws: Draws, leaks: LeakSpec) -> Program | None:
    """The nearest example where the model is told to copy it this time, else None."""
    share = leaks.few_shot_copy or 0.0
    return examples[0] if examples and draws.share("copy") < share else None


def examples_of(reading: Reading) -> list[Program]:
    """The few-shot examples of an answer prompt, nearest first."""
    return [_example(item) for item in reading.items("examples", "example")]


def _generating(reading: Reading) -> bool:
    return reading.one("route").text.strip() == QueryType.CODE_GENERATION.value


def _program(material: _Material, draws: Draws, leaks: LeakSpec) -> Program:
    """The program that fits the question best, near-ties by draw; one without code where none is wanted or there."""
    if not material.generating and not _WANTS_CODE.search(material.question):
        return Program()
    if leak := copied(material.examples, draws, leaks):
        return leak
    shown = [Program(code, stems=passage.stems) for passage in material.passages for code in passage.programs[:1]]
    free = material.generating and leaks.few_shot_copy is None
    pools = (shown, material.examples if free else [])
    scored = [
        (coverage(material.asked, program.stems, material.weights) * (1 - RANK_PULL * place), program)
        for pool in pools
        for place, program in enumerate(pool)
        if program.code
    ]
    best = max((score for score, _ in scored), default=0.0)
    ties = [program for score, program in scored if score >= best * NEAR_TIE]
    return draws.pick(ties, "program") if best > 0 else Program()


def _example(item: Section) -> Program:
    parts = {tag: restored(content) for tag, content in _EXAMPLE_PART.findall(item.text)}
    code, description = parts.get("code", ""), parts.get("description", "")
    return Program(code, description, text.stems(description) | text.stems(code))


def reformulate(reading: Reading) -> str:
    """A standalone search query: the question's own words in order, without those of no weight."""
    question = " ".join(reading.one("question").text.split())
    kept = [word.strip(_PUNCTUATION) for word in question.split() if text.stems(word)]
    return " ".join(kept) or question
