"""Extractive answers: the best sentences of the context, and for code one program copied from the prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from core.model.sample import QueryType
from core.model.specs import LeakSpec
from core.serving.rehearsal import language, text
from core.serving.rehearsal.draws import Draws
from core.serving.rehearsal.language import Language
from core.serving.rehearsal.ranking import Weights, coverage, relevance, weigh
from core.serving.rehearsal.reading import KEPT, Reading, restored
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


Ranked = Sequence[tuple[float, Program]]
"""Programs with how well they fit the question, counting their place."""


class _Candidate(NamedTuple):
    """A sentence that says something about the question; `pull` is what its language leaves of its score."""

    text: str
    score: float
    pull: float


@dataclass(frozen=True)
class _Material:
    """What there is to answer from: all that is settled before the first draw."""

    question: str
    spoken: Language
    generating: bool
    sentences: Sequence[_Candidate]
    """In the order of the context; none where it does not cover the question."""
    examples: Sequence[Program]
    shown: Ranked
    """The first program of each passage."""
    exemplary: Ranked
    """The programs of the examples."""


def answer(reading: Reading, draws: Draws, leaks: LeakSpec = NO_LEAKS) -> Answer:
    """Answer the question of an answer prompt from its context, or say that the documentation does not cover it."""
    material = _material(reading)
    spoken = material.spoken
    if not material.sentences:
        return Answer(spoken, language.NOT_COVERED[spoken])
    program = _program(material, draws, leaks)
    prose = _prose(_best_sentences(material.sentences, draws), spoken)
    if material.generating and program.description and language.of_text(program.description) is spoken:
        prose = f"{program.description}\n\n{prose}"
    return Answer(spoken, prose, program.code, Layout.PROGRAM_FIRST if material.generating else Layout.PROSE_FIRST)


@lru_cache(maxsize=KEPT)
def _material(reading: Reading) -> _Material:
    """Cached: repetitions of a question differ in nothing but their draws."""
    question, spoken = reading.one("question").text, language.of_section(reading.one("question"))
    passages = [text.document(p.restored) for p in reading.items("context", "passage")]
    weights = weigh(tuple(passage.stems for passage in passages))
    asked, generating, examples = text.stems(question), _generating(reading), examples_of(reading)
    covered = _covered(asked, passages, weights, generating=generating) and _familiar(question, examples, weights)
    shown = [Program(code, stems=passage.stems) for passage in passages for code in passage.programs[:1]]
    return _Material(
        question=question,
        spoken=spoken,
        generating=generating,
        sentences=_candidates(asked, passages, weights, spoken) if covered else [],
        examples=examples,
        shown=_ranked(asked, shown, weights),
        exemplary=_ranked(asked, examples, weights),
    )


def _covered(asked: frozenset[str], passages: Sequence[Document], weights: Weights, *, generating: bool) -> bool:
    """Whether one passage is about enough of the question."""
    bar = COVERED_FOR_CODE if generating else COVERED
    return any(coverage(asked, passage.stems, weights) >= bar for passage in passages)


def _familiar(question: str, examples: Sequence[Program], weights: Weights) -> bool:
    """Whether none of the names in the question is strange to all passages and examples."""
    named = text.names(question)
    return all(name in weights.known or any(name in example.stems for example in examples) for name in named)


def _prose(sentences: Sequence[str], spoken: Language) -> str:
    quoted = " ".join(sentences)
    return quoted if language.of_text(quoted) is spoken else f"{language.QUOTING[spoken]}\n\n{quoted}"


def _best_sentences(candidates: Sequence[_Candidate], draws: Draws) -> list[str]:
    """Two to four sentences, near-ties by draw, in the order of the context."""
    scored = [
        (-score * (1 - (1 - NEAR_TIE) * draws.share("sentence", sentence)) * pull, place)
        for place, (sentence, score, pull) in enumerate(candidates)
    ]
    best = sorted(scored)[: 2 + draws.below(3, "sentences")]
    return [candidates[place].text for place in sorted(place for _, place in best)]


def _candidates(
    asked: frozenset[str], passages: Sequence[Document], weights: Weights, spoken: Language
) -> list[_Candidate]:
    """The whole sentences that share something with the question, each once."""
    found: dict[str, _Candidate] = {}
    for place, passage in enumerate(passages):
        for sentence, score in _scores(asked, passage, weights):
            if score > 0 and sentence.text.endswith((".", "!", "?", ")")) and sentence.text not in found:
                pull = 1.0 if language.of_text(sentence.text) is spoken else FOREIGN_PULL
                found[sentence.text] = _Candidate(sentence.text, score * (1 - RANK_PULL * place), pull)
    return list(found.values())


def _scores(asked: frozenset[str], passage: Document, weights: Weights) -> Iterator[tuple[Sentence, float]]:
    """Each sentence of a passage with its own relevance, what its title adds and what the one before it passes on."""
    title = TITLE_PULL * relevance(asked, passage.title_stems, weights)
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
    return [_example(item.text) for item in reading.items("examples", "example")]


def _generating(reading: Reading) -> bool:
    return reading.one("route").text.strip() == QueryType.CODE_GENERATION.value


def _program(material: _Material, draws: Draws, leaks: LeakSpec) -> Program:
    """The program that fits the question best, near-ties by draw; one without code where none is wanted or there."""
    if not material.generating and not _WANTS_CODE.search(material.question):
        return Program()
    if leak := copied(material.examples, draws, leaks):
        return leak
    free = material.generating and leaks.few_shot_copy is None
    scored = [*material.shown, *(material.exemplary if free else ())]
    best = max((score for score, _ in scored), default=0.0)
    ties = [program for score, program in scored if score >= best * NEAR_TIE]
    return draws.pick(ties, "program") if best > 0 else Program()


def _ranked(asked: frozenset[str], programs: Sequence[Program], weights: Weights) -> Ranked:
    return [
        (coverage(asked, program.stems, weights) * (1 - RANK_PULL * place), program)
        for place, program in enumerate(programs)
        if program.code
    ]


@lru_cache(maxsize=2048)
def _example(written: str) -> Program:
    parts = {tag: restored(content) for tag, content in _EXAMPLE_PART.findall(written)}
    code, description = parts.get("code", ""), parts.get("description", "")
    return Program(code, description, text.stems(description) | text.stems(code))


def reformulate(reading: Reading) -> str:
    """A standalone search query: the question's own words in order, without those of no weight."""
    question = " ".join(reading.one("question").text.split())
    kept = [word.strip(_PUNCTUATION) for word in question.split() if text.stems(word)]
    return " ".join(kept) or question
