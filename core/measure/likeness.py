"""How alike two programs are: the Jaccard index of the sets of their token 5-grams."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Final

_GRAM: Final = 5
_COMMENT: Final = ("//", "/*")
_TOKEN: Final = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\\n]|\\.)*`|//[^\n]*|/\*.*?\*/|\w+|[^\w\s]", re.DOTALL
)

Grams = frozenset[tuple[str, ...]]


def code_tokens(code: str) -> list[str]:
    """The tokens of `code` in any language: words, texts as a whole and single signs; comments are none."""
    return [token for token in _TOKEN.findall(code) if not token.startswith(_COMMENT)]


def token_grams(code: str) -> Grams:
    """The runs of five tokens in `code`; a text is one token, comments are none. Shorter code is one run."""
    tokens = code_tokens(code)
    return frozenset(tuple(tokens[at : at + _GRAM]) for at in range(max(1, len(tokens) - _GRAM + 1)))


def similarity(left: Grams, right: Grams) -> float:
    """Runs that both hold / runs that either holds (Jaccard, 1901), from 0 to 1; at least one run each."""
    return len(left & right) / len(left | right)


def alike(programs: Mapping[str, str], more_than: float) -> Iterator[tuple[str, str, float]]:
    """Each two of `programs` (name -> code) whose similarity is above `more_than`, in the order given."""
    grams = {name: token_grams(code) for name, code in programs.items()}
    for one, other in combinations(grams, 2):
        likeness = similarity(grams[one], grams[other])
        if likeness > more_than:
            yield one, other, likeness
