"""Steps while an operator is wanted."""

from __future__ import annotations

from typing import Final

from core.avap import tokens as t
from core.avap import tree
from core.avap.closing import add_index_part, close, end_of_pair
from core.avap.diagnostics import Mistake, malformed, quoted
from core.avap.foreign import OBJECTS, fault_of
from core.avap.frames import CallSite, Frame, Level, reduce, settle
from core.avap.reader import Reader, Step, no_operator, stop
from core.avap.tokens import END, Token

_BINARY: Final = {
    "or": Level.OR,
    "and": Level.AND,
    **dict.fromkeys(("==", "!=", "<", ">", "<=", ">=", "in"), Level.COMPARE),
    **dict.fromkeys(("+", "-"), Level.ADD),
    **dict.fromkeys(("*", "/", "//", "%"), Level.MULTIPLY),
    "**": Level.POWER,
}
_NEVER_CALLED: Final = (tree.Number, tree.String, tree.Template, tree.Constant, tree.ListDisplay, tree.DictDisplay)


def _binary(reader: Reader, token: Token) -> None:
    _push(reader, _BINARY[token.text], token.text, token)


def _push(reader: Reader, level: int, text: str, token: Token) -> None:
    frame = reader.frame
    if frame.trailers:
        settle(frame)
    if frame.operators:
        reduce(frame, level)
    frame.hold(level, text, token)
    reader.wanting = True


def _is(reader: Reader, token: Token) -> None:
    negated = reader.tokens[reader.index].kind == "not"
    reader.index += negated
    _push(reader, Level.COMPARE, "is not" if negated else "is", token)


def _not_in(reader: Reader, token: Token) -> None:
    if reader.tokens[reader.index].kind != "in":
        raise malformed(token, "'not' between two values: only 'not in' compares")
    reader.index += 1
    _push(reader, Level.COMPARE, "not in", token)


def _if(reader: Reader, token: Token) -> None:
    frame = reader.frame
    if frame.role == "for":
        frame.clauses[-1][2].append(reader.finish())
        reader.wanting = True
        return
    _push(reader, Level.TERNARY, "if", token)
    if len(frame.operators) > 1 and frame.operators[-2][1] == "if":
        raise malformed(token, "a condition inside a condition needs brackets")


def _else(reader: Reader, token: Token) -> None:
    frame = reader.frame
    if frame.trailers:
        settle(frame)
    reduce(frame, Level.TERNARY)
    if not frame.operators or frame.operators[-1][1] != "if":
        raise malformed(token, "'else' without its 'if'")
    frame.operators[-1] = (Level.TERNARY, "else", token)
    reader.wanting = True


def _dot(reader: Reader, token: Token) -> None:
    name = reader.tokens[reader.index]
    _may_have_trailer(reader.frame, token)
    if name.kind is not t.NAME:
        raise malformed(token, "a name must follow the dot")
    base = reader.frame.values[-1]
    if isinstance(base, tree.Name) and base.id in OBJECTS and not reader.frame.trailers:
        raise Mistake(fault_of(base.first, OBJECTS[base.id]))
    reader.index += 1
    reader.frame.ask(tree.Attribute(token, name, name.text))


def _may_have_trailer(frame: Frame, token: Token) -> None:
    if not frame.trailers and isinstance(frame.values[-1], (tree.Number, tree.Constant)):
        raise malformed(token, f"{quoted(token.text)} cannot follow {quoted(frame.values[-1].last.text)}")


def _open_index(reader: Reader, token: Token) -> None:
    _may_have_trailer(reader.frame, token)
    reader.open(token, "index")


def _open_call(reader: Reader, token: Token) -> None:
    frame = reader.frame
    base = frame.values[-1]
    site: CallSite | None = None
    if not frame.trailers:
        if isinstance(base, _NEVER_CALLED):
            raise malformed(token, "only a name or a method can be called")
        if isinstance(base, tree.Name):
            site = CallSite(base.first)
            reader.calls.append(site)
    reader.open(token, "call").call = site


def _comma(reader: Reader, token: Token) -> None:
    frame = reader.frame
    if frame.role == "top":
        stop(reader, token)
    elif frame.role in {"index", "for"}:
        raise malformed(token, "a comma has no place here")
    elif frame.role == "{":
        end_of_pair(reader)
        reader.wanting = True
    else:
        frame.items.append(reader.finish())
        reader.wanting = True


def _colon(reader: Reader, token: Token) -> None:
    frame = reader.frame
    if frame.role == "index":
        add_index_part(frame, reader.finish(), token)
    elif frame.role == "{" and len(frame.items) % 2 == 0:
        frame.items.append(reader.finish())
    else:
        no_operator(reader, token)
    reader.wanting = True


def _for(reader: Reader, token: Token) -> None:
    frame = reader.frame
    if frame.role == "for":
        frame.clauses[-1][2].append(reader.finish())
    elif frame.role == "[" and not frame.items:
        frame.items.append(reader.finish())
        frame.role = "for"
        frame.clauses = []
    elif frame.role == "{":
        raise malformed(token, "AVAP has list comprehensions only, not dict or set comprehensions", "[... for ...]")
    else:
        raise malformed(token, "a comprehension stands in square brackets", "[... for ...]")
    frame.clauses.append((token, _comprehension_names(reader, token), []))
    reader.wanting = True


def _comprehension_names(reader: Reader, token: Token) -> tuple[Token, ...]:
    names: list[Token] = []
    while True:
        name, after = reader.tokens[reader.index], reader.tokens[min(reader.index + 1, len(reader.tokens) - 1)]
        if name.kind is not t.NAME or after.kind not in {",", "in"}:
            raise malformed(token, "'for' in a comprehension needs 'name in list'")
        names.append(name)
        reader.index += 2
        if after.kind == "in":
            return tuple(names)


OPERATOR: Final[dict[str, Step]] = {
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys((")", "]", "}"), close),
    "is": _is,
    "not": _not_in,
    "if": _if,
    "else": _else,
    "for": _for,
    ".": _dot,
    "[": _open_index,
    "(": _open_call,
    ",": _comma,
    ":": _colon,
    END: stop,
}
