"""Text to search terms, the same for documents and queries, for English, Spanish and AVAP."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 80
"""Longer runs of letters are data, not words."""

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


def terms(text: str) -> list[str]:
    """The terms of `text` in order: words without case or accents, and after a compound name also its parts.

    `registerEndpoint` gives `registerendpoint`, `register`, `endpoint`: a question in words finds the command, and
    the command's own name finds it better.
    """
    found: list[str] = []
    for word in _WORD.findall(_unaccented(text)):
        parts = _PART.findall(word)
        found += [word, *parts] if len(parts) > 1 else [word]
    return [term.casefold() for term in found if len(term) <= LONGEST]


def _unaccented(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))
