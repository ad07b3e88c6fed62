"""Lines that are no statement: what is wrong with them, and the plain form that was probably meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from core.avap import tokens as t
from core.avap import tree
from core.avap.diagnostics import Mistake, malformed, quoted
from core.avap.refusals import refused
from core.avap.tokens import Token
from core.avap.vocabulary import KEYWORDS, Vocabulary

AUGMENTED: Final = frozenset({"+=", "-=", "*=", "/=", "%=", "**="})
VALUE_ALONE: Final = "a value alone is no statement"
_ONE_TARGET: Final = "one assignment per line, to one name"
_OPERANDS: Final = frozenset({t.NAME, t.NUMBER, t.STRING, t.GLOBAL, t.TEMPLATE, t.CONSTANT})
_BEGIN_STATEMENTS: Final = frozenset({t.NAME, t.GLOBAL, t.STRING, "if", "else"})

Between = Callable[[Token, Token], str]
"""The source text from one token to another."""


def value_alone(value: tree.Expression, written: str, vocabulary: Vocabulary) -> Mistake:
    """A line that is nothing but an expression."""
    if isinstance(value, tree.Name) and (value.id in KEYWORDS or value.id in vocabulary.spellings):
        return malformed(value.first, f"{quoted(value.id)} needs its brackets", f"{value.id}()")
    return malformed(value.first, VALUE_ALONE, f"name = {written}")


def increment(tokens: Sequence[Token]) -> Mistake | None:
    """The mistake of `x++` and `x--`; None for any other line."""
    if len(tokens) != 4 or tokens[1].kind != tokens[2].kind or tokens[1].kind not in {"+", "-"}:
        return None
    name, sign = tokens[0].text, tokens[1].kind
    return malformed(tokens[1], f"{quoted(2 * sign)} is no assignment of AVAP", f"{name} = {name} {sign} 1")


def after_call(token: Token) -> Mistake:
    """What is wrong with `token`, which follows the closing bracket of a statement."""
    return malformed(token, "one statement per line") if token.kind in _BEGIN_STATEMENTS else refused(token)


def after_value(tokens: Sequence[Token], index: int, between: Between) -> Mistake:
    """What is wrong with a line whose leading expression ends before `index`, and the line does not."""
    first, before, token = tokens[0], tokens[index - 1], tokens[index]
    written = between(first, before)
    if token.kind in AUGMENTED:
        plain = f"{written} = {written} {token.text[:-1]} {between(tokens[index + 1], tokens[-1])}"
        return malformed(token, f"{quoted(token.text)} is no assignment of AVAP", plain)
    if token.kind == "=":
        return _odd_target(tokens, index, between)
    if token.kind == "," and any(other.kind == "=" for other in tokens):
        return malformed(token, _ONE_TARGET)
    if token.kind is t.STRING and before.kind is t.NAME:
        return malformed(before, "AVAP has no prefixed strings: a template stands in back-ticks", "`...${name}...`")
    if token.kind in _OPERANDS and index == 1 and first.kind is t.NAME:
        return malformed(first, "a call needs its brackets", f"{written}({between(token, tokens[-1])})")
    return refused(token)


def _odd_target(tokens: Sequence[Token], index: int, between: Between) -> Mistake:
    """An assignment to something that is not a plain name."""
    first, value = tokens[0], between(tokens[index + 1], tokens[-1])
    if tokens[1].kind == "=" and index > 1:
        return malformed(tokens[index], _ONE_TARGET)
    if first.kind is t.GLOBAL and index == 1:
        return malformed(first, "a variable is assigned by its plain name", f"{first.text[1:]} = {value}")
    if first.kind is t.NAME and tokens[1].kind in {"[", "."}:
        last = tokens[index - 1]
        key = between(tokens[2], tokens[index - 2]) if last.kind == "]" else f'"{last.text}"'
        return malformed(
            first, "only a plain name can be assigned to", f"AddVariableToJSON({key}, {value}, {first.text})"
        )
    return malformed(first, "only a plain name can be assigned to", f"name = {value}")
