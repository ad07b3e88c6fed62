"""The state of reading one expression, and the faults that end it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NoReturn

from core.avap import tokens as t
from core.avap import tree
from core.avap.diagnostics import Mistake, malformed, quoted
from core.avap.frames import CallSite, Frame, reduce, settle
from core.avap.refusals import REFUSED, refused
from core.avap.tokens import END, Token
from core.model.syntax import Category

MAX_BRACKETS: Final = 200
CLOSERS: Final = {"(": ")", "[": "]", "{": "}"}
_VALUES: Final = frozenset({t.NAME, t.NUMBER, t.STRING, t.GLOBAL, t.TEMPLATE, t.CONSTANT})
_SWALLOWS_THE_REST: Final = frozenset({t.OPEN_STRING, t.OPEN_TEMPLATE, t.HASH, t.FENCE})


Step = Callable[["Reader", Token], None]
"""Takes in one token. Raises Mistake."""


class Reader:
    """Where reading stands."""

    __slots__ = ("arguments", "calls", "done", "frame", "frames", "index", "most_frames", "result", "tokens", "wanting")

    def __init__(self, tokens: Sequence[Token], start: int, frame: Frame, calls: list[CallSite]) -> None:
        self.tokens = tokens
        self.index = start
        self.frame = frame
        self.frames = [frame]
        self.most_frames = MAX_BRACKETS + (frame.role == "top")
        self.calls = calls
        self.wanting = True
        self.done = False
        self.result: tree.Expression
        self.arguments: list[tree.Expression] = []

    def _run(self, operand_steps: Mapping[str, Step], operator_steps: Mapping[str, Step]) -> None:
        tokens = self.tokens
        operand, operator = operand_steps.get, operator_steps.get
        while not self.done:
            token = tokens[self.index]
            self.index += 1
            if self.wanting:
                operand(token.kind, no_operand)(self, token)
            else:
                operator(token.kind, no_operator)(self, token)

    def open(self, token: Token, role: str) -> Frame:
        """Begin a bracket. Raises Mistake beyond MAX_BRACKETS."""
        if len(self.frames) >= self.most_frames:
            raise malformed(token, f"more than {MAX_BRACKETS} levels of brackets")
        self.frame = Frame(token, role)
        self.frames.append(self.frame)
        self.wanting = True
        return self.frame

    def close(self, value: tree.Expression) -> None:
        """End the innermost bracket, whose value becomes an operand of the one around it."""
        self.frames.pop()
        self.frame = self.frames[-1]
        self.frame.values.append(value)
        self.wanting = False

    def read(self, operand_steps: Mapping[str, Step], operator_steps: Mapping[str, Step]) -> None:
        """Run to the end. Raises the Mistake furthest to the left: where a bracket is never closed, that one."""
        try:
            self._run(operand_steps, operator_steps)
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
            depth += (token.kind in CLOSERS) - (token.kind in CLOSERS.values())
            if depth <= 0:
                return False
        return True

    def unclosed(self) -> Mistake:
        """The fault of the outermost bracket, never closed."""
        opener = next(frame.opener for frame in self.frames if frame.role != "top")
        return malformed(opener, f"{quoted(opener.text)} is never closed", CLOSERS[opener.text])

    def finish(self) -> tree.Expression:
        """The expression that the innermost bracket holds since its last separator."""
        frame = self.frame
        if frame.trailers:
            settle(frame)
        if frame.operators:
            reduce(frame, 0)
        return frame.values.pop()


def stop(reader: Reader, token: Token) -> None:
    """End an expression that stands in no bracket at a token that cannot go on with it."""
    if reader.frame.role != "top":
        raise _mistake_in_bracket(reader, token)
    reader.index -= 1
    reader.result = reader.finish()
    reader.done = True


def _mistake_in_bracket(reader: Reader, token: Token) -> Mistake:
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


def no_operator(reader: Reader, token: Token) -> None:
    """End an expression at a token that is no operator, or raise Mistake where a bracket is still open."""
    if reader.frame.role == "top" and token.kind not in REFUSED:
        stop(reader, token)
        return
    raise _mistake_in_bracket(reader, token) if reader.frame.role != "top" else refused(token)


def no_operand(reader: Reader, token: Token) -> NoReturn:
    """Raise the Mistake of a token that stands where a value is due."""
    if token.kind == END and any(frame.role != "top" for frame in reader.frames):
        raise reader.unclosed()
    if token.kind in {"*", "**"}:
        raise malformed(token, "AVAP has no star arguments")
    if token.kind == END:
        raise malformed(reader.tokens[reader.index - 2], "the expression ends too early")
    raise refused(token)
