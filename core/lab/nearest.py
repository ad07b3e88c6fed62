"""The word that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean X? ` when some known word is close to `word`, else nothing; ready to stand before more text."""
    close = difflib.get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}? " if close else ""
