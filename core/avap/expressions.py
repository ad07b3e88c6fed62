"""Expressions: operator precedence over an explicit stack of brackets, so that no input can exhaust Python's own stack.

The reader alternates between two states, wanting an operand and wanting an operator; each state has a table from the
kind of a token to the step it takes. A bracket opens a frame with its own operands and operators; operators of one
precedence wait until a looser one arrives and become one flat node, which keeps reading linear and trees shallow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from core.avap import tokens as t
from core.avap import tree
from core.avap.diagnostics import Mistake, malformed, misplaced, quoted
from core.avap.foreign import OBJECTS, fault_of
from core.avap.texts import string_value, template_parts
from core.avap.tokens import Token
from core.model.syntax import Category

MAX_BRACKETS: Final = 200
END: Final = "end of statement"

_TERNARY, _OR, _AND, _NOT, _COMPARE, _ADD, _MULTIPLY, _SIGN, _POWER = range(1, 10)
_BINARY: Final = {
    "or": _OR,
    "and": _AND,
    **dict.fromkeys(("==", "!=", "<", ">", "<=", ">=", "in"), _COMPARE),
    **dict.fromkeys(("+", "-"), _ADD),
    **dict.fromkeys(("*", "/", "//", "%"), _MULTIPLY),
    "**": _POWER,
}
_CLOSER: Final = {"(": ")", "[": "]", "{": "}"}
_VALUES: Final = frozenset({t.NAME, t.NUMBER, t.STRING, t.GLOBAL, t.TEMPLATE, t.CONSTANT})
_SWALLOWS_THE_REST: Final = frozenset({t.OPEN_STRING, t.OPEN_TEMPLATE, t.HASH, t.FENCE})
_NEVER_CALLED: Final = (tree.Number, tree.String, tree.Template, tree.Constant, tree.ListDisplay, tree.DictDisplay)


@dataclass(slots=True)
class CallSite:
    """A name that an expression calls, to be resolved once all functions are known."""

    token: Token
    arguments: int | None = None
    """None while the call has not been read to its end."""


class _Frame:
    """An open bracket: `role` is `(`, `[`, `{`, `call`, `index`, `for` (a comprehension) or `top`."""

    __slots__ = ("call", "clauses", "items", "opener", "operators", "parts", "role", "trailers", "values")

    def __init__(self, opener: Token, role: str) -> None:
        self.opener = opener
        self.role = role
        self.values: list[tree.Expression] = []
        self.operators: list[tuple[int, str, Token]] = []
        self.trailers: list[tree.Trailer] = []
        """What has been asked of the last value."""
        self.items: list[tree.Expression] = []
        """What has been separated off; of a dict keys and values in turn."""
        self.parts: tuple[tree.Expression | None, ...] = ()
        """Of an index: what stood before each colon."""
        self.clauses: tuple[tuple[Token, tuple[Token, ...], list[tree.Expression]], ...] = ()
        self.call: CallSite | None = None


def end_token(tokens: Sequence[Token]) -> Token:
    """The sentinel that must end every list of tokens handed to this module."""
    last = tokens[-1]
    return Token(END, "", last.line, last.end_column)


def read_expression(tokens: Sequence[Token], start: int, calls: list[CallSite]) -> tuple[tree.Expression, int]:
    """The longest expression from `start`, and the index after it. Names it calls are added to `calls`.

    Raises Mistake; `calls` then holds what had been seen.
    """
    reader = _Reader(tokens, start, _Frame(tokens[start], "top"), calls)
    reader.read()
    return reader.result, reader.index


def read_arguments(
    tokens: Sequence[Token], start: int, calls: list[CallSite]
) -> tuple[tuple[tree.Expression, ...], int]:
    """The arguments of the call whose `(` is at `start`, and the index after its `)`. Raises Mistake."""
    reader = _Reader(tokens, start + 1, _Frame(tokens[start], "call"), calls)
    reader.read()
    return tuple(reader.arguments), reader.index


class _Reader:
    __slots__ = ("arguments", "calls", "done", "frame", "frames", "index", "result", "tokens", "wanting")

    def __init__(self, tokens: Sequence[Token], start: int, frame: _Frame, calls: list[CallSite]) -> None:
        self.tokens = tokens
        self.index = start
        self.frame = frame
        self.frames = [frame]
        self.calls = calls
        self.wanting = True
        self.done = False
        self.result: tree.Expression
        self.arguments: list[tree.Expression] = []

    def run(self) -> None:
        tokens = self.tokens
        operand, operator = _OPERAND.get, _OPERATOR.get
        while not self.done:
            token = tokens[self.index]
            self.index += 1
            if self.wanting:
                operand(token.kind, _no_operand)(self, token)
            else:
                operator(token.kind, _no_operator)(self, token)

    def open(self, token: Token, role: str) -> _Frame:
        """Begin a bracket. Raises Mistake beyond MAX_BRACKETS."""
        if len(self.frames) - (self.frames[0].role == "top") >= MAX_BRACKETS:
            raise malformed(token, f"more than {MAX_BRACKETS} levels of brackets")
        self.frame = _Frame(token, role)
        self.frames.append(self.frame)
        self.wanting = True
        return self.frame

    def close(self, value: tree.Expression) -> None:
        """End the innermost bracket, whose value becomes an operand of the one around it."""
        self.frames.pop()
        self.frame = self.frames[-1]
        self.frame.values.append(value)
        self.wanting = False

    def read(self) -> None:
        """Run to the end. Raises the Mistake furthest to the left: where a bracket is never closed, that one."""
        try:
            self.run()
        except Mistake as mistake:
            if mistake.fault.category is not Category.FOREIGN_KEYWORD and self._stays_open():
                raise self.unclosed() from mistake
            raise

    def _stays_open(self) -> bool:
        """Whether no token from here on closes the outermost bracket."""
        depth = sum(frame.role != "top" for frame in self.frames)
        if not depth:
            return False
        for token in self.tokens[self.index - 1 :]:
            if token.kind in _SWALLOWS_THE_REST:
                return False
            depth += (token.kind in _CLOSER) - (token.kind in _CLOSER.values())
            if depth <= 0:
                return False
        return True

    def unclosed(self) -> Mistake:
        opener = next(frame.opener for frame in self.frames if frame.role != "top")
        return malformed(opener, f"{quoted(opener.text)} is never closed", _CLOSER[opener.text])

    def finish(self) -> tree.Expression:
        """The expression that the innermost bracket holds since its last separator."""
        frame = self.frame
        if frame.trailers:
            _settle(frame)
        if frame.operators:
            _reduce(frame, 0)
        return frame.values.pop()


def _settle(frame: _Frame) -> None:
    base = frame.values[-1]
    last = frame.trailers[-1].last
    frame.values[-1] = tree.Access(base.first, last, base, tuple(frame.trailers))
    frame.trailers.clear()


def _reduce(frame: _Frame, floor: int) -> None:
    """Turn waiting operators tighter than `floor` into nodes."""
    operators, values = frame.operators, frame.values
    while operators and operators[-1][0] > floor:
        level = operators[-1][0]
        start = len(operators) - 1
        while start and operators[start - 1][0] == level:
            start -= 1
        run = operators[start:]
        del operators[start:]
        if level in {_NOT, _SIGN}:
            operand = values.pop()
            values.append(tree.Unary(run[0][2], operand.last, tuple(text for _, text, _ in run), operand))
            continue
        operands = values[-_operand_count(level, run) :]
        del values[-len(operands) :]
        values.append(_joined(level, run, operands))


def _operand_count(level: int, run: list[tuple[int, str, Token]]) -> int:
    return 2 * len(run) + 1 if level == _TERNARY else len(run) + 1


def _joined(level: int, run: list[tuple[int, str, Token]], operands: list[tree.Expression]) -> tree.Expression:
    first, last = operands[0].first, operands[-1].last
    names = tuple(text for _, text, _ in run)
    if level == _COMPARE:
        return tree.Comparison(first, last, tuple(operands), names)
    if level in {_AND, _OR}:
        return tree.Boolean(first, last, names[0], tuple(operands))
    if level == _TERNARY:
        if run[-1][1] == "if":
            raise malformed(run[-1][2], "'if' inside an expression needs its 'else'")
        branches = tuple(zip(operands[:-1:2], operands[1::2], strict=True))
        return tree.Conditional(first, last, branches, operands[-1])
    return tree.Arithmetic(first, last, tuple(operands), names)


# Steps while an operand is wanted


def _name(reader: _Reader, token: Token) -> None:
    reader.frame.values.append(tree.Name(token, token, token.text))
    reader.wanting = False


def _number(reader: _Reader, token: Token) -> None:
    reader.frame.values.append(tree.Number(token, token, token.text))
    reader.wanting = False


def _string(reader: _Reader, token: Token) -> None:
    reader.frame.values.append(tree.String(token, token, string_value(token.text)))
    reader.wanting = False


def _template(reader: _Reader, token: Token) -> None:
    reader.frame.values.append(tree.Template(token, token, template_parts(token)))
    reader.wanting = False


def _constant(reader: _Reader, token: Token) -> None:
    value = None if token.text == "None" else token.text == "True"
    reader.frame.values.append(tree.Constant(token, token, value))
    reader.wanting = False


def _global(reader: _Reader, token: Token) -> None:
    reader.frame.values.append(tree.Global(token, token, token.text.strip("${}")))
    reader.wanting = False


def _open_display(reader: _Reader, token: Token) -> None:
    reader.open(token, token.text)


def _sign(reader: _Reader, token: Token) -> None:
    reader.frame.operators.append((_SIGN, token.text, token))


def _not(reader: _Reader, token: Token) -> None:
    operators = reader.frame.operators
    if operators and operators[-1][0] > _NOT:
        raise malformed(token, "'not' after an operator needs brackets")
    operators.append((_NOT, "not", token))


def _colon_without_operand(reader: _Reader, token: Token) -> None:
    frame = reader.frame
    if frame.role != "index" or frame.operators:
        _no_operand(reader, token)
    _add_index_part(frame, None, token)


def _close_without_operand(reader: _Reader, token: Token) -> None:
    frame = reader.frame
    if frame.role in {"top", "for"} or frame.operators or _CLOSER[frame.opener.text] != token.text:
        _no_operand(reader, token)
    if frame.role == "call" and frame.items:
        raise malformed(token, f"argument {len(frame.items) + 1} is empty")
    if frame.role == "index":
        if not frame.parts:
            raise malformed(token, "the index is empty")
        _close_index(reader, token, None)
    elif frame.role == "{" and len(frame.items) % 2:
        raise malformed(token, "the value of the last key is missing")
    else:
        _END_OF_FRAME[frame.role](reader, token)


def _comma_without_operand(reader: _Reader, token: Token) -> None:
    frame = reader.frame
    if frame.role == "call" and not frame.operators:
        raise malformed(token, f"argument {len(frame.items) + 1} is empty")
    _no_operand(reader, token)


# Steps while an operator is wanted


def _binary(reader: _Reader, token: Token) -> None:
    _push(reader, _BINARY[token.text], token.text, token)


def _push(reader: _Reader, level: int, text: str, token: Token) -> None:
    frame = reader.frame
    if frame.trailers:
        _settle(frame)
    if frame.operators:
        _reduce(frame, level)
    frame.operators.append((level, text, token))
    reader.wanting = True


def _is(reader: _Reader, token: Token) -> None:
    negated = reader.tokens[reader.index].kind == "not"
    reader.index += negated
    _push(reader, _COMPARE, "is not" if negated else "is", token)


def _not_in(reader: _Reader, token: Token) -> None:
    if reader.tokens[reader.index].kind != "in":
        raise malformed(token, "'not' between two values: only 'not in' compares")
    reader.index += 1
    _push(reader, _COMPARE, "not in", token)


def _if(reader: _Reader, token: Token) -> None:
    frame = reader.frame
    if frame.role == "for":
        frame.clauses[-1][2].append(reader.finish())
        reader.wanting = True
        return
    _push(reader, _TERNARY, "if", token)
    if len(frame.operators) > 1 and frame.operators[-2][1] == "if":
        raise malformed(token, "a condition inside a condition needs brackets")


def _else(reader: _Reader, token: Token) -> None:
    frame = reader.frame
    if frame.trailers:
        _settle(frame)
    _reduce(frame, _TERNARY)
    if not frame.operators or frame.operators[-1][1] != "if":
        raise malformed(token, "'else' without its 'if'")
    frame.operators[-1] = (_TERNARY, "else", token)
    reader.wanting = True


def _dot(reader: _Reader, token: Token) -> None:
    name = reader.tokens[reader.index]
    _may_have_trailer(reader.frame, token)
    if name.kind is not t.NAME:
        raise malformed(token, "a name must follow the dot")
    base = reader.frame.values[-1]
    if isinstance(base, tree.Name) and base.id in OBJECTS and not reader.frame.trailers:
        raise Mistake(fault_of(base.first, OBJECTS[base.id]))
    reader.index += 1
    reader.frame.trailers.append(tree.Attribute(token, name, name.text))


def _may_have_trailer(frame: _Frame, token: Token) -> None:
    if not frame.trailers and isinstance(frame.values[-1], (tree.Number, tree.Constant)):
        raise malformed(token, f"{quoted(token.text)} cannot follow {quoted(frame.values[-1].last.text)}")


def _open_index(reader: _Reader, token: Token) -> None:
    _may_have_trailer(reader.frame, token)
    reader.open(token, "index")


def _open_call(reader: _Reader, token: Token) -> None:
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


def _comma(reader: _Reader, token: Token) -> None:
    frame = reader.frame
    if frame.role == "top":
        _stop(reader, token)
    elif frame.role in {"index", "for"}:
        raise malformed(token, "a comma has no place here")
    elif frame.role == "{":
        _end_of_pair(reader)
        reader.wanting = True
    else:
        frame.items.append(reader.finish())
        reader.wanting = True


def _colon(reader: _Reader, token: Token) -> None:
    frame = reader.frame
    if frame.role == "index":
        _add_index_part(frame, reader.finish(), token)
    elif frame.role == "{" and len(frame.items) % 2 == 0:
        frame.items.append(reader.finish())
    else:
        _no_operator(reader, token)
    reader.wanting = True


def _add_index_part(frame: _Frame, part: tree.Expression | None, token: Token) -> None:
    if len(frame.parts) == 2:
        raise malformed(token, "a slice has at most two colons")
    frame.parts += (part,)


def _end_of_pair(reader: _Reader) -> None:
    frame = reader.frame
    frame.items.append(reader.finish())
    if len(frame.items) % 2:
        raise malformed(frame.opener, "AVAP has dicts but no sets: every key needs ': value'", "[...]")


def _for(reader: _Reader, token: Token) -> None:
    frame = reader.frame
    if frame.role == "for":
        frame.clauses[-1][2].append(reader.finish())
    elif frame.role == "[" and not frame.items:
        frame.items.append(reader.finish())
        frame.role = "for"
    elif frame.role == "{":
        raise malformed(token, "AVAP has list comprehensions only, not dict or set comprehensions", "[... for ...]")
    else:
        raise malformed(token, "a comprehension stands in square brackets", "[... for ...]")
    frame.clauses += ((token, _comprehension_names(reader, token), []),)
    reader.wanting = True


def _comprehension_names(reader: _Reader, token: Token) -> tuple[Token, ...]:
    names: list[Token] = []
    while True:
        name, after = reader.tokens[reader.index], reader.tokens[min(reader.index + 1, len(reader.tokens) - 1)]
        if name.kind is not t.NAME or after.kind not in {",", "in"}:
            raise malformed(token, "'for' in a comprehension needs 'name in list'")
        names.append(name)
        reader.index += 2
        if after.kind == "in":
            return tuple(names)


def _close(reader: _Reader, token: Token) -> None:
    frame = reader.frame
    if frame.role == "top":
        _stop(reader, token)
    elif _CLOSER[frame.opener.text] != token.text:
        raise malformed(frame.opener, f"{quoted(frame.opener.text)} is never closed", _CLOSER[frame.opener.text])
    elif frame.role == "index":
        _close_index(reader, token, reader.finish())
    elif frame.role == "{":
        _end_of_pair(reader)
        _close_dict(reader, token)
    elif frame.role == "for":
        frame.clauses[-1][2].append(reader.finish())
        _close_comprehension(reader, token)
    elif frame.role == "(" and not frame.items:
        reader.close(tree.Group(frame.opener, token, reader.finish()))
    else:
        frame.items.append(reader.finish())
        _END_OF_FRAME[frame.role](reader, token)


def _close_tuple(reader: _Reader, token: Token) -> None:
    reader.close(tree.TupleDisplay(reader.frame.opener, token, tuple(reader.frame.items)))


def _close_list(reader: _Reader, token: Token) -> None:
    reader.close(tree.ListDisplay(reader.frame.opener, token, tuple(reader.frame.items)))


def _close_dict(reader: _Reader, token: Token) -> None:
    items = reader.frame.items
    reader.close(tree.DictDisplay(reader.frame.opener, token, tuple(zip(items[::2], items[1::2], strict=True))))


def _close_comprehension(reader: _Reader, token: Token) -> None:
    frame = reader.frame
    clauses = tuple(
        tree.Clause(first, parts[-1].last, names, parts[0], tuple(parts[1:])) for first, names, parts in frame.clauses
    )
    reader.close(tree.Comprehension(frame.opener, token, frame.items[0], clauses))


def _close_call(reader: _Reader, token: Token) -> None:
    frame = reader.frame
    if frame.call is not None:
        frame.call.arguments = len(frame.items)
    reader.frames.pop()
    if not reader.frames:
        reader.arguments = frame.items
        reader.done = True
        return
    reader.frame = reader.frames[-1]
    reader.frame.trailers.append(tree.Call(frame.opener, token, tuple(frame.items)))
    reader.wanting = False


def _close_index(reader: _Reader, token: Token, last: tree.Expression | None) -> None:
    opener, parts = reader.frame.opener, reader.frame.parts
    trailer: tree.Trailer
    if parts:
        start, stop, step = ([*parts, last, None])[:3]
        trailer = tree.Slice(opener, token, start, stop, step)
    else:
        assert last is not None
        trailer = tree.Index(opener, token, last)
    reader.frames.pop()
    reader.frame = reader.frames[-1]
    reader.frame.trailers.append(trailer)
    reader.wanting = False


def _stop(reader: _Reader, token: Token) -> None:
    """End an expression that stands in no bracket at a token that cannot go on with it."""
    if reader.frame.role != "top":
        raise _mistake_in_bracket(reader, token)
    reader.index -= 1
    reader.result = reader.finish()
    reader.done = True


def _mistake_in_bracket(reader: _Reader, token: Token) -> Mistake:
    before = reader.tokens[reader.index - 2]
    if token.kind == END:
        return reader.unclosed()
    if token.kind == "=":
        if reader.frame.role == "call" and before.kind is t.NAME:
            return malformed(token, "arguments are given by position, not by name")
        return malformed(token, "a single '=' compares nothing here", "==")
    if token.kind is t.STRING and before.kind is t.NAME:
        return malformed(before, "AVAP has no prefixed strings: a template stands in back-ticks", "`...${name}...`")
    if token.kind in _VALUES:
        return malformed(token, f"a comma or an operator is missing before {quoted(token.text)}")
    return refused(token)


def _no_operator(reader: _Reader, token: Token) -> None:
    if reader.frame.role == "top" and token.kind not in _REFUSED:
        _stop(reader, token)
        return
    raise _mistake_in_bracket(reader, token) if reader.frame.role != "top" else refused(token)


def _no_operand(reader: _Reader, token: Token) -> None:
    if token.kind == END and any(frame.role != "top" for frame in reader.frames):
        raise reader.unclosed()
    if token.kind in {"*", "**"}:
        raise malformed(token, "AVAP has no star arguments")
    if token.kind == END:
        raise malformed(reader.tokens[reader.index - 2], "the expression ends too early")
    raise refused(token)


_NO_OPERATOR_OF_OURS: Final = {
    "===": "==",
    "!==": "!=",
    "<>": "!=",
    "&&": "and",
    "||": "or",
    "!": "not",
}
_REFUSED: Final = {
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
    message = _REFUSED.get(token.kind, "{text} has no place here").format(text=quoted(token.text))
    if token.kind in _NO_OPERATOR_OF_OURS:
        return misplaced(token, message, _NO_OPERATOR_OF_OURS[token.kind])
    if token.kind == ";":
        message = "one statement per line: ';' may only end it"
    if token.kind == END:
        message = "the statement ends too early"
    return malformed(token, message, _SUGGESTED.get(token.kind))


_Step = Callable[[_Reader, Token], None]

_END_OF_FRAME: Final[dict[str, _Step]] = {
    "(": _close_tuple,
    "[": _close_list,
    "{": _close_dict,
    "call": _close_call,
}
_OPERAND: Final[dict[str, _Step]] = {
    t.NAME: _name,
    t.NUMBER: _number,
    t.STRING: _string,
    t.TEMPLATE: _template,
    t.CONSTANT: _constant,
    t.GLOBAL: _global,
    **dict.fromkeys(("(", "[", "{"), _open_display),
    **dict.fromkeys(("+", "-"), _sign),
    **dict.fromkeys((")", "]", "}"), _close_without_operand),
    "not": _not,
    ":": _colon_without_operand,
    ",": _comma_without_operand,
}
_OPERATOR: Final[dict[str, _Step]] = {
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys((")", "]", "}"), _close),
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
    END: _stop,
}
