"""Tokens that stand where nothing of their kind can: what the fault says and suggests."""

from __future__ import annotations

from typing import Final

from core.avap import tokens as t
from core.avap.diagnostics import Mistake, malformed, misplaced, quoted
from core.avap.tokens import END, Token

_NO_OPERATOR_OF_OURS: Final = {
    "===": "==",
    "!==": "!=",
    "<>": "!=",
    "&&": "and",
    "||": "or",
    "!": "not",
}
REFUSED: Final = {
    t.OPEN_STRING: "the text is not closed on its line",
    t.OPEN_TEMPLATE: "the back-tick text is not closed on its line",
    t.OPEN_COMMENT: "the comment is never closed",
    t.BAD_NUMBER: "numbers are digits with an optional decimal part: {text} is not one",
    t.BAD_CHARACTER: "the sign {text} has no place here",
    t.HASH: "'#' begins no comment: comments start with '//'",
    t.FENCE: "a Markdown fence is not part of a program: send only the code inside it",
    t.PHP_TAG: "{text} has no place here",
    **dict.fromkeys(_NO_OPERATOR_OF_OURS, "{text} is no operator of AVAP"),
}
_SUGGESTED: Final = {t.HASH: "//", **_NO_OPERATOR_OF_OURS}


def refused(token: Token) -> Mistake:
    """The mistake of a token that stands where nothing of its kind can."""
    message = REFUSED.get(token.kind, "{text} has no place here").format(text=quoted(token.text))
    if token.kind in _NO_OPERATOR_OF_OURS:
        return misplaced(token, message, _NO_OPERATOR_OF_OURS[token.kind])
    if token.kind == ";":
        message = "one statement per line: ';' may only end it"
    if token.kind == END:
        message = "the statement ends too early"
    return malformed(token, message, _SUGGESTED.get(token.kind))
