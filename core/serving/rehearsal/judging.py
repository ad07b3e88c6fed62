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
from core.serving.rehearsal.language import Language
from core.serving.rehearsal.ranking import overlap
from core.serving.rehearsal.reading import Reading, Section
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
    answer = reading.one("answer").restored
    prose = [sentence for sentence in text.sentences(text.without_code(answer)) if not language.refuses(sentence)]
    spoken = language.of_answer(answer)
    claims = [*prose, *filter(None, (_code_claim(code, spoken) for code in text.blocks(answer)))]
    return {"statements": [{"id": number, "text": claim} for number, claim in enumerate(claims, start=1)]}


def _code_claim(code: str, spoken: Language) -> str:
    names = _called(code)
    return f"{language.CODE_CLAIM[spoken]}{', '.join(names)}." if names else ""


def _called(code: str) -> list[str]:
    return [name for name in dict.fromkeys(_CALL.findall(code)) if name not in CLOSERS]


def support(reading: Reading) -> dict[str, Any]:
    """Whether the context supports each statement."""
    return {"verdicts": _held(reading, "supported")}


def attribution(reading: Reading) -> dict[str, Any]:
    """Whether each statement of the reference answer can be attributed to the context."""
    return {"verdicts": _held(reading, "attributed")}


def _held(reading: Reading, key: str) -> list[dict[str, Any]]:
    passages = reading.items("context", "passage")
    documents = [(p.attributes.get("id", ""), text.document(p.restored)) for p in passages]
    return [_verdict(statement, documents, key) for statement in reading.items("statements", "statement")]


def _verdict(statement: Section, documents: Documents, key: str) -> dict[str, Any]:
    claim = statement.restored
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
    named = frozenset(text.words(claim[len(opening) :]))
    mentioned = frozenset(name for name in named if any(name in document.words for _, document in documents))
    return "the context", overlap(named, mentioned)


def usefulness(reading: Reading) -> dict[str, Any]:
    """Whether each passage, in order, helps towards the reference answer."""
    reference = text.stems(reading.one("reference").restored)
    verdicts = []
    for passage in reading.items("context", "passage"):
        share = overlap(reference, text.document(passage.restored).stems)
        reason = f"it holds {share:.0%} of the reference's content words; {USEFUL:.0%} are needed"
        verdicts.append({"id": passage.attributes.get("id", ""), "useful": int(share >= USEFUL), "reason": reason})
    return {"verdicts": verdicts}


def _number(statement: Section) -> int | str:
    given = statement.attributes.get("id", "")
    return int(given) if given.isdigit() else given


WORDINGS = {
    Language.ENGLISH: (
        "What does it mean that {0}?",
        "Is it so that {0}?",
        "How is it that {0}?",
        "Why is it that {0}?",
    ),
    Language.SPANISH: ("¿Qué significa que {0}?", "¿Es cierto que {0}?", "¿Cómo es que {0}?", "¿Por qué {0}?"),
}
TURNS = min(map(len, WORDINGS.values()))
"""Wordings that every language has."""
CODE_WORDING = {
    Language.ENGLISH: "How do you write an AVAP program that calls {0}?",
    Language.SPANISH: "¿Cómo se escribe un programa AVAP que llame a {0}?",
}
QUESTIONS_BACK = 3
SHORTEST_CLAUSE = 6
LONGEST_CLAUSE = 16
"""Words of a sentence that a question repeats."""


def questions(reading: Reading, turn: int) -> dict[str, Any]:
    """Three questions that the answer would answer, worded from `turn` on; all noncommittal when it only refuses."""
    answer = reading.one("answer").restored
    said = text.sentences(text.without_code(answer))
    evasive = int(all(map(language.refuses, said)) and not text.blocks(answer))
    asked = _asked_back(answer, said, turn)
    return {
        "questions": [
            {"id": number, "question": question, "noncommittal": evasive}
            for number, question in enumerate(asked, start=1)
        ]
    }


def _asked_back(answer: str, said: Sequence[str], turn: int) -> list[str]:
    """Questions about what the answer's code calls and what its sentences say, in different wordings."""
    spoken = language.of_answer(answer)
    called = [_called(code) for code in text.blocks(answer)]
    asked = [CODE_WORDING[spoken].format(", ".join(names)) for names in called if names]
    matter = [_clause(sentence) for sentence in said] or ["AVAP"]
    for number in range(QUESTIONS_BACK):
        wording = WORDINGS[spoken][(turn + number) % TURNS]
        asked.append(wording.format(matter[number % len(matter)]))
    return asked[:QUESTIONS_BACK]


def _clause(sentence: str) -> str:
    """The first clause of a sentence that has some length, without its end mark, to be put inside another."""
    kept: list[str] = []
    for word in sentence.rstrip(".!?)").split()[:LONGEST_CLAUSE]:
        kept.append(word)
        if word.endswith((",", ";", ":")) and len(kept) >= SHORTEST_CLAUSE:
            break
    clause = " ".join(kept).rstrip(",;:")
    return clause if text.names(kept[0]) else clause[:1].lower() + clause[1:]
