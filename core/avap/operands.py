"""Steps while an operand is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from core.avap import tokens as t
from core.avap import tree
from core.avap.closing import add_index_part, close_without_operand
from core.avap.diagnostics import malformed
from core.avap.frames import Level
from core.avap.reader import Reader, Step, no_operand
from core.avap.texts import string_value, template_parts
from core.avap.tokens import Token


def _constant(token: Token) -> tree.Expression:
    return tree.Constant(token, token, None if token.text == "None" else token.text == "True")


LEAVES: Final[Mapping[str, Callable[[Token], tree.Expression]]] = MappingProxyType(
    {
        t.NAME: lambda token: tree.Name(token, token, token.text),
        t.NUMBER: lambda token: tree.Number(token, token, token.text),
        t.STRING: lambda token: tree.String(token, token, string_value(token.text)),
        t.TEMPLATE: lambda token: tree.Template(token, token, template_parts(token)),
        t.CONSTANT: _constant,
        t.GLOBAL: lambda token: tree.Global(token, token, token.text.strip("${}")),
    }
)
"""Kind of token -> the operand that one such token is. May raise Mistake."""


def _leaf(reader: Reader, token: Token) -> None:
    reader.frame.values.append(LEAVES[token.kind](token))
    reader.wanting = False


def _open_display(reader: Reader, token: Token) -> None:
    reader.open(token, token.text)


def _sign(reader: Reader, token: Token) -> None:
    reader.frame.hold(Level.SIGN, token.text, token)


def _not(reader: Reader, token: Token) -> None:
    frame = reader.frame
    operators = frame.operators
    if operators and operators[-1][0] > Level.NOT:
        raise malformed(token, "'not' after an operator needs brackets")
    frame.hold(Level.NOT, "not", token)


def _colon_without_operand(reader: Reader, token: Token) -> None:
    frame = reader.frame
    if frame.role != "index" or frame.operators:
        no_operand(reader, token)
    add_index_part(frame, None, token)


def _comma_without_operand(reader: Reader, token: Token) -> None:
    frame = reader.frame
    if frame.role == "call" and not frame.operators:
        raise malformed(token, f"argument {len(frame.items) + 1} is empty")
    no_operand(reader, token)


OPERAND: Final[dict[str, Step]] = {
    **dict.fromkeys(LEAVES, _leaf),
    **dict.fromkeys(("(", "[", "{"), _open_display),
    **dict.fromkeys(("+", "-"), _sign),
    **dict.fromkeys((")", "]", "}"), close_without_operand),
    "not": _not,
    ":": _colon_without_operand,
    ",": _comma_without_operand,
}
