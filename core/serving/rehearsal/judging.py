"""Verdicts from what the prompt holds, by shared words: strict, repeatable, and blind to syntax as any judge of prose.

A statement is a sentence of the prose, or a whole code block with its fence. Prose is supported when one passage
shares enough of its content words; code when enough of its lines stand in the context or call only what it mentions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from core.serving.rehearsal import language, text
from core.serving.rehearsal.draws import Draws
from core.serving.rehearsal.language import Language
from core.serving.rehearsal.ranking import overlap
from core.serving.rehearsal.reading import Reading, Section, restored
from core.serving.rehearsal.text import Document

SUPPORTED = 0.7
"""Share of a statement's content words that one passage must hold."""
CODE_SUPPORTED = 0.8
"""Share of a program's lines that the context must account for."""
USEFUL = 0.4
"""Share of the reference's content words that a useful passage holds."""

_BLOCK = re.compile(r"^```\w*[^\n]*\n.*?^```[ \t]*$", re.DOTALL | re.MULTILINE)
_CALL = re.compile(r"([A-Za-z_]\w*)\s*\(")


def statements(reading: Reading) -> dict[str, Any]:
    """The claims of an answer, numbered from 1: its sentences, then its code blocks."""
    answer = restored(reading.one("answer").text)
    claims = [*text.sentences(text.without_code(answer)), *_BLOCK.findall(answer)]
    return {"statements": [{"id": number, "text": claim} for number, claim in enumerate(claims, start=1)]}


def support(reading: Reading) -> dict[str, Any]:
    """Whether the context supports each statement."""
    return {"verdicts": _held(reading, "supported")}


def attribution(reading: Reading) -> dict[str, Any]:
    """Whether each statement of the reference answer can be attributed to the context."""
    return {"verdicts": _held(reading, "attributed")}


def _held(reading: Reading, key: str) -> list[dict[str, Any]]:
    passages = reading.items("context", "passage")
    documents = [(p.attributes.get("id", ""), text.document(restored(p.text))) for p in passages]
    verdicts = []
    for statement in reading.items("statements", "statement"):
        place, share = _best(restored(statement.text), documents)
        bar = CODE_SUPPORTED if "```" in statement.text else SUPPORTED
        reason = f"{share:.0%} of it is in {place or 'the context'}; {bar:.0%} are needed"
        verdicts.append({"id": _number(statement), key: int(share >= bar), "reason": reason})
    return verdicts


def _best(statement: str, documents: Sequence[tuple[str, Document]]) -> tuple[str, float]:
    """Where a statement is best supported, and how much of it."""
    if "```" in statement:
        return "", _accounted_for(statement, [document for _, document in documents])
    claimed = text.stems(statement)
    shares = [(overlap(claimed, document.stems), place) for place, document in documents]
    share, place = max(shares, key=lambda found: found[0], default=(0.0, ""))
    return place, share


def _accounted_for(block: str, documents: Iterable[Document]) -> float:
    """The share of a block's lines that the context has verbatim, or that call only names it mentions."""
    held = {line.strip() for document in documents for code in document.programs for line in code.splitlines()}
    named = frozenset().union(*(document.words for document in documents))
    lines = [line.strip() for line in block.splitlines()[1:-1] if line.strip() and not line.strip().startswith("//")]
    calls = [(line, _CALL.findall(line)) for line in lines]
    telling = [(line, names) for line, names in calls if names or line in held or len(text.words(line)) > 1]
    good = sum(line in held or (bool(names) and named.issuperset(names)) for line, names in telling)
    return good / len(telling) if telling else 0.0


def usefulness(reading: Reading) -> dict[str, Any]:
    """Whether each passage, in order, helps towards the reference answer."""
    reference = text.stems(restored(reading.one("reference").text))
    verdicts = []
    for passage in reading.items("context", "passage"):
        share = overlap(reference, text.document(restored(passage.text)).stems)
        reason = f"it holds {share:.0%} of the reference's content words; {USEFUL:.0%} are needed"
        verdicts.append({"id": passage.attributes.get("id", ""), "useful": int(share >= USEFUL), "reason": reason})
    return {"verdicts": verdicts}


def _number(statement: Section) -> int | str:
    given = statement.attributes.get("id", "")
    return int(given) if given.isdigit() else given


QUESTIONS = {
    Language.ENGLISH: (
        (
            "What is {0} and how does it relate to {1}?",
            "What does {0} do with {1}?",
            "What is the role of {0} for {1}?",
        ),
        (
            "How do you use {0} with {1} and {2}?",
            "How are {0}, {1} and {2} used in AVAP?",
            "How does {0} work with {2}?",
        ),
        ("What should you know about {0}, {1} and {2}?", "In AVAP, how do {0} and {2} behave?", "When is {0} used?"),
    ),
    Language.SPANISH: (
        ("¿Qué es {0} y qué relación tiene con {1}?", "¿Qué hace {0} con {1}?", "¿Para qué sirve {0} en {1}?"),
        ("¿Cómo se usa {0} con {1} y {2}?", "¿Cómo se usan {0}, {1} y {2} en AVAP?", "¿Cómo funciona {0} con {2}?"),
        ("¿Qué hay que saber de {0}, {1} y {2}?", "En AVAP, ¿cómo se comportan {0} y {2}?", "¿Cuándo se usa {0}?"),
    ),
}
"""Three questions about three key terms, each in three wordings."""


def questions(reading: Reading, draws: Draws) -> dict[str, Any]:
    """Three questions that the answer would answer; all noncommittal when it only refuses."""
    answer = restored(reading.one("answer").text)
    prose = text.without_code(answer)
    evasive = int(language.refuses(prose) and prose.strip() == answer.strip())
    terms = _key_terms(answer)
    asked = [
        draws.pick(wordings, "question", number).format(*terms)
        for number, wordings in enumerate(QUESTIONS[language.of_answer(answer)])
    ]
    return {
        "questions": [
            {"id": number, "question": question, "noncommittal": evasive}
            for number, question in enumerate(asked, start=1)
        ]
    }


def _key_terms(answer: str) -> list[str]:
    """Three terms of the answer: the most frequent content words, the earlier first among equals."""
    spelled: dict[str, str] = {}
    count: dict[str, int] = {}
    for word in text.words(answer):
        if (stem := text.stem(word)) and not stem.isdigit():
            spelled.setdefault(stem, word)
            count[stem] = count.get(stem, 0) + 1
    ranked = sorted(count, key=lambda stem: -count[stem])
    return [*(spelled[stem] for stem in ranked[:3]), *["AVAP"] * 3][:3]
