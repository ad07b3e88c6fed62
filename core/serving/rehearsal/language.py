"""English or Spanish: telling them apart, and the fixed phrases of the model in both."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from core.serving.rehearsal import text
from core.serving.rehearsal.glossary import ENGLISH_STOP_WORDS, SPANISH_STOP_WORDS
from core.serving.rehearsal.reading import Section


class Language(StrEnum):
    """A language that the model answers in, as ISO 639-1."""

    ENGLISH = "en"
    SPANISH = "es"


NOT_COVERED = {
    Language.ENGLISH: "The documentation does not cover this question, so it cannot be answered from the context.",
    Language.SPANISH: "La documentación no cubre esta pregunta, así que no se puede responder a partir del contexto.",
}
UNKNOWN = {
    Language.ENGLISH: "I do not know AVAP well enough to answer this without its documentation.",
    Language.SPANISH: "No conozco AVAP lo bastante para responder a esto sin su documentación.",
}
"""What an honest model says when no documentation is at hand."""
FROM_MEMORY = {
    Language.ENGLISH: "This is how I would write it, without having looked anything up.",
    Language.SPANISH: "Así lo escribiría yo, sin haber consultado nada.",
}
QUOTING = {Language.ENGLISH: "The documentation says:", Language.SPANISH: "Según dice la documentación:"}
CODE_FOLLOWS = {Language.ENGLISH: "A complete program:", Language.SPANISH: "Un programa completo:"}

CODE_CLAIM = {Language.ENGLISH: "The code calls ", Language.SPANISH: "El código llama a "}
"""How a claim about a code block begins; the names it calls follow."""

_SOURCES = r"documentation|context|manual|reference|passages?|material|documentaci[oó]n|contexto|referencia|pasajes?"
_REFUSAL = re.compile(
    rf"\b({_SOURCES})\b[^.]{{0,60}}\b(not|no|nothing|\w+n't)\b"
    rf"|\b(not|no|nothing|\w+n't)\b[^.]{{0,60}}\b({_SOURCES})\b"
    r"|\b(i|we) (do not|don't|cannot|can't) (know|answer|say)\b|\bno (lo )?s[eé]\b|\bno (se )?pued[eo] responder",
    re.IGNORECASE,
)
_SPANISH_ONLY = re.compile(r"[¿¡ñáéíóú]", re.IGNORECASE)


def of_section(section: Section) -> Language:
    """The language a section declares, or else the one its text is in."""
    declared = section.attributes.get("language", "")[:2].lower()
    return Language(declared) if declared in list(Language) else of_text(section.text)


@lru_cache(maxsize=8192)
def of_text(prose: str) -> Language:
    """The language most of whose small words occur in `prose`; English when there is nothing to tell by."""
    heard = [text.plain(word) for word in text.words(prose)]
    spanish = sum(word in SPANISH_STOP_WORDS for word in heard) + len(_SPANISH_ONLY.findall(prose))
    english = sum(word in ENGLISH_STOP_WORDS for word in heard)
    return Language.SPANISH if spanish > english else Language.ENGLISH


def of_answer(answer: str) -> Language:
    """The language of an answer: of the first paragraph of its prose, since what follows may be quoted in another."""
    first, _, _ = text.without_code(answer).strip().partition("\n\n")
    return of_text(first)


def refuses(sentence: str) -> bool:
    """Whether a sentence says that the documentation has no answer, instead of giving one."""
    return bool(_REFUSAL.search(sentence))
