"""The open blocks of a program: what closes what, and what is told when nothing does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from core.avap import tree
from core.avap.diagnostics import Fault, at, quoted
from core.avap.tokens import BLOCK_OPEN, Token
from core.avap.tree import Expression, Statement
from core.model.syntax import Category

MAX_BLOCKS: Final = 200


class Block(Enum):
    """The kinds of block; the value is how a message names one."""

    IF = "if(...)"
    LOOP = "startLoop(...)"
    TRY = "try()"
    FUNCTION = "function"
    GO_ASYNC = "go_async(...)"
    BRACE = "{"
    """A brace of another language: already told, closed in silence."""


CLOSERS: Final = {Block.IF: "end()", Block.LOOP: "endLoop()", Block.TRY: "end()", Block.FUNCTION: "}"}


@dataclass(slots=True)
class Header:
    """What the opening line of a block said; only the fields of its kind are set."""

    condition: tree.Compare | tree.Evaluate | None = None
    variable: str = ""
    start: Expression | None = None
    stop: Expression | None = None
    parameters: tuple[str, ...] = ()
    braced: bool = True


@dataclass(slots=True)
class _Frame:
    block: Block
    opener: Token
    header: Header
    body: list[Statement]
    turn: Token | None = None
    """The `else()` or `exception(...)` that divides it."""
    turn_variable: str | None = None
    first_body: list[Statement] = field(default_factory=list)


class LimitReached(Exception):  # never leaves core.avap
    """Reading on is pointless."""


class Blocks:
    """A stack of open blocks over the statements read so far."""

    def __init__(self, report: Callable[[Fault], None]) -> None:
        self.body: list[Statement] = []
        """Where the next statement goes."""
        self.owed = 0
        """Closers that foreign openers without a brace may still bring; they are forgiven."""
        self._program = self.body
        self._stack: list[_Frame] = []
        self._report = report

    def open(self, block: Block, opener: Token, header: Header | None = None) -> None:
        """Begin a block. Raises LimitReached at the block that is one too deep."""
        if len(self._stack) >= MAX_BLOCKS:
            self._report(at(opener, Category.SYNTAX_ERROR, f"more than {MAX_BLOCKS} levels of blocks"))
            raise LimitReached
        keeps_statements = block not in {Block.BRACE, Block.GO_ASYNC}
        self._stack.append(_Frame(block, opener, header or Header(), [] if keeps_statements else self.body))
        self.body = self._stack[-1].body

    def accept_brace(self, token: Token) -> bool:
        """Whether `token` is the brace that a function's header, already told, has left to the next line."""
        frame = self._stack[-1] if self._stack else None
        if frame is None or token.kind is not BLOCK_OPEN or frame.header.braced or frame.body:
            return False
        frame.header.braced = True
        return True

    @property
    def in_function(self) -> bool:
        """Whether a function is open."""
        return any(frame.block is Block.FUNCTION for frame in self._stack)

    def end(self, token: Token, last: Token) -> None:
        """`end()`, from `token` to `last`: closes if, try and, with a fault, a loop."""
        frame = self._stack[-1] if self._stack else None
        if frame is None or (frame.block is Block.FUNCTION and frame.header.braced):
            self._stray(token, "end() closes nothing: no if(...) or try() is open here")
            return
        if frame.block is Block.LOOP:
            self._misplaced(token, "a loop is closed by endLoop(), not by end()", "endLoop()")
        elif frame.block is Block.TRY and frame.turn is None:
            self._misplaced(token, "try() is closed without an exception(...)", "exception(error)")
        self._pop(last)

    def end_loop(self, token: Token, last: Token) -> None:
        """`endLoop()`, from `token` to `last`: closes the innermost loop; what is still open inside it is a fault."""
        if self._unwind(lambda frame: frame.block is Block.LOOP, Block.FUNCTION):
            self._pop(last)
            return
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.block in {Block.IF, Block.TRY} and not self.owed:
            self._misplaced(token, f"{frame.block.value} is closed by end(), not by endLoop()", "end()")
            self._pop(last)
        elif frame is not None and frame.block is Block.BRACE:
            self._pop(last)
        else:
            self._stray(token, "endLoop() closes nothing: no startLoop(...) is open here")

    def close_brace(self, token: Token) -> Block | None:
        """`}`: closes the innermost function or foreign brace and returns its kind; None when it closes nothing."""
        if not self._unwind(lambda frame: frame.block is Block.FUNCTION or frame.block is Block.BRACE, None):
            return None
        block = self._stack[-1].block
        self._pop(token)
        return block

    def otherwise(self, token: Token) -> None:
        """`else()`."""
        if self._unwind(lambda frame: frame.block is Block.IF and frame.turn is None, Block.FUNCTION):
            self._turn(token, None)
        elif not self._in_brace():
            second = bool(self._stack) and self._stack[-1].block is Block.IF
            self._misplaced(token, "a second else() in one if(...)" if second else "else() without its if(...)", None)

    def exception(self, token: Token, variable: str | None) -> None:
        """`exception(variable)`."""
        if self._unwind(lambda frame: frame.block is Block.TRY and frame.turn is None, Block.FUNCTION):
            self._turn(token, variable)
        elif not self._in_brace():
            second = bool(self._stack) and self._stack[-1].block is Block.TRY
            self._misplaced(
                token, "a second exception(...) in one try()" if second else "exception(...) without its try()", None
            )

    def finish(self) -> tuple[Statement, ...]:
        """The end of the program: what is still open is told at its opener."""
        while self._stack:
            self._unclosed(self._stack[-1])
            self._pop(self._stack[-1].opener)
        return tuple(self._program)

    def _in_brace(self) -> bool:
        return bool(self._stack) and self._stack[-1].block is Block.BRACE

    def _unwind(self, wanted: Callable[[_Frame], bool], barrier: Block | None) -> bool:
        """Close, as faults, the blocks above the innermost wanted one; touches nothing when there is none."""
        for place in range(len(self._stack) - 1, -1, -1):
            if wanted(self._stack[place]):
                while len(self._stack) > place + 1:
                    self._unclosed(self._stack[-1])
                    self._pop(self._stack[-1].opener)
                return True
            if self._stack[place].block is barrier:
                return False
        return False

    def _unclosed(self, frame: _Frame) -> None:
        closer = CLOSERS.get(frame.block)
        if closer is not None and (frame.block is not Block.FUNCTION or frame.header.braced):
            self._misplaced(frame.opener, f"{quoted(frame.opener.text)} is never closed: {closer} is missing", closer)

    def _stray(self, token: Token, message: str) -> None:
        if self.owed:
            self.owed -= 1
        else:
            self._misplaced(token, message, None)

    def _misplaced(self, token: Token, message: str, suggestion: str | None) -> None:
        self._report(at(token, Category.UNEXPECTED_CONSTRUCT, message, suggestion))

    def _turn(self, token: Token, variable: str | None) -> None:
        frame = self._stack[-1]
        frame.turn, frame.turn_variable = token, variable
        frame.first_body, frame.body = frame.body, []
        self.body = frame.body

    def _pop(self, closer: Token) -> None:
        frame = self._stack.pop()
        self.body = self._stack[-1].body if self._stack else self._program
        build = _BUILD.get(frame.block)
        if build is not None:
            self.body.append(build(frame, closer))


def _if(frame: _Frame, closer: Token) -> Statement:
    body = tuple(frame.first_body if frame.turn else frame.body)
    turned = tree.Else(frame.turn, closer, tuple(frame.body)) if frame.turn else None
    return tree.If(frame.opener, closer, frame.header.condition, body, turned)


def _try(frame: _Frame, closer: Token) -> Statement:
    body = tuple(frame.first_body if frame.turn else frame.body)
    turned = tree.Handler(frame.turn, closer, frame.turn_variable, tuple(frame.body)) if frame.turn else None
    return tree.Try(frame.opener, closer, body, turned)


def _loop(frame: _Frame, closer: Token) -> Statement:
    header = frame.header
    return tree.Loop(frame.opener, closer, header.variable, header.start, header.stop, tuple(frame.body))


def _function(frame: _Frame, closer: Token) -> Statement:
    header = frame.header
    return tree.Function(frame.opener, closer, header.variable, header.parameters, tuple(frame.body))


_BUILD: Final[dict[Block, Callable[[_Frame, Token], Statement]]] = {
    Block.IF: _if,
    Block.LOOP: _loop,
    Block.TRY: _try,
    Block.FUNCTION: _function,
}
