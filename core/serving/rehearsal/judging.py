"""Verdicts from what the prompt holds, by shared words: strict, repeatable, and blind to syntax as any judge of prose.

A statement is a sentence of the prose; remarks on what the documentation lacks are none. A code block makes one
statement, which names what the code calls. Prose is supported when one passage shares enough of its content words,
code when the context as a whole mentions enough of the names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
"""Share of the names a program calls that the context must mention."""
USEFUL = 0.4
"""Share of the reference's content words that a useful passage holds."""
Documents = Sequence[tuple[str, Document]]

CLOSERS = frozenset({"else", "end", "endLoop"})
"""Calls that say nothing about what a program does."""

_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


def statements(reading: Reading) -> dict[str, Any]:
    """The claims of an answer, numbered from 1: those of its prose, then one for each code block."""
    answer = restored(reading.one("answer").text)
    prose = [sentence for sentence in text.sentences(text.without_code(answer)) if not language.refuses(sentence)]
    spoken = language.of_answer(answer)
    claims = [*prose, *filter(None, (_code_claim(code, spoken) for code in text.blocks(answer)))]
    return {"statements": [{"id": number, "text": claim} for number, claim in enumerate(claims, start=1)]}


def _code_claim(code: str, spoken: Language) -> str:
    names = [name for name in dict.fromkeys(_CALL.findall(code)) if name not in CLOSERS]
    return f"{language.CODE_CLAIM[spoken]}{', '.join(names)}." if names else ""


def support(reading: Reading) -> dict[str, Any]:
    """Whether the context supports each statement."""
    return {"verdicts": _held(reading, "supported")}


def attribution(reading: Reading) -> dict[str, Any]:
    """Whether each statement of the reference answer can be attributed to the context."""
    return {"verdicts": _held(reading, "attributed")}


def _held(reading: Reading, key: str) -> list[dict[str, Any]]:
    passages = reading.items("context", "passage")
    documents = [(p.attributes.get("id", ""), text.document(restored(p.text))) for p in passages]
    return [_verdict(statement, documents, key) for statement in reading.items("statements", "statement")]


def _verdict(statement: Section, documents: Documents, key: str) -> dict[str, Any]:
    claim = restored(statement.text)
    of_code = claim.startswith(tuple(language.CODE_CLAIM.values()))
    place, share = _names_mentioned(claim, documents) if of_code else _best_passage(claim, documents)
    bar = CODE_SUPPORTED if of_code else SUPPORTED
    reason = f"{share:.0%} of it is in {place or 'the context'}; {bar:.0%} are needed"
    return {"id": _number(statement), key: int(share >= bar), "reason": reason}


def _best_passage(claim: str, documents: Documents) -> tuple[str, float]:
    """The passage that holds most of a claim's content words, and their share."""
    claimed = text.stems(claim)
    shares = [(place, overlap(claimed, document.stems)) for place, document in documents]
    return max(shares, key=lambda found: found[1], default=("", 0.0))


def _names_mentioned(claim: str, documents: Documents) -> tuple[str, float]:
    """The share of the names in a claim about code that any passage mentions."""
    opening = next(opening for opening in language.CODE_CLAIM.values() if claim.startswith(opening))
    mentioned = frozenset().union(*(document.words for _, document in documents))
    return "the context", overlap(frozenset(text.words(claim[len(opening) :])), mentioned)


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
    said = text.sentences(answer)
    evasive = int(all(map(language.refuses, said)) if said else 1)
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
