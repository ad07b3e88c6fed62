"""Steps while an operand is wanted."""

from __future__ import annotations

from typing import Final

from core.avap import tokens as t
from core.avap import tree
from core.avap.closing import add_index_part, close_without_operand
from core.avap.diagnostics import malformed
from core.avap.frames import Level
from core.avap.reader import Reader, Step, no_operand
from core.avap.texts import string_value, template_parts
from core.avap.tokens import Token


def _name(reader: Reader, token: Token) -> None:
    reader.frame.values.append(tree.Name(token, token, token.text))
    reader.wanting = False


def _number(reader: Reader, token: Token) -> None:
    reader.frame.values.append(tree.Number(token, token, token.text))
    reader.wanting = False


def _string(reader: Reader, token: Token) -> None:
    reader.frame.values.append(tree.String(token, token, string_value(token.text)))
    reader.wanting = False


def _template(reader: Reader, token: Token) -> None:
    reader.frame.values.append(tree.Template(token, token, template_parts(token)))
    reader.wanting = False


def _constant(reader: Reader, token: Token) -> None:
    value = None if token.text == "None" else token.text == "True"
    reader.frame.values.append(tree.Constant(token, token, value))
    reader.wanting = False


def _global(reader: Reader, token: Token) -> None:
    reader.frame.values.append(tree.Global(token, token, token.text.strip("${}")))
    reader.wanting = False


def _open_display(reader: Reader, token: Token) -> None:
    reader.open(token, token.text)


def _sign(reader: Reader, token: Token) -> None:
    reader.frame.operators.append((Level.SIGN, token.text, token))


def _not(reader: Reader, token: Token) -> None:
    operators = reader.frame.operators
    if operators and operators[-1][0] > Level.NOT:
        raise malformed(token, "'not' after an operator needs brackets")
    operators.append((Level.NOT, "not", token))


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
    t.NAME: _name,
    t.NUMBER: _number,
    t.STRING: _string,
    t.TEMPLATE: _template,
    t.CONSTANT: _constant,
    t.GLOBAL: _global,
    **dict.fromkeys(("(", "[", "{"), _open_display),
    **dict.fromkeys(("+", "-"), _sign),
    **dict.fromkeys((")", "]", "}"), close_without_operand),
    "not": _not,
    ":": _colon_without_operand,
    ",": _comma_without_operand,
}
