"""Statements to lines-to-be: each knows its pieces, its depth, and which text of the source it stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Final

from core.avap import tokens as t
from core.avap import tree
from core.avap.formatting.comments import Comments
from core.avap.formatting.expressions import Item, Part, bracketed, item, pieces_of
from core.avap.formatting.pieces import Piece, flat
from core.avap.tokens import Token


class Role(Enum):
    """What a line does to the blocks around it."""

    PLAIN = "nothing"
    OPENER = "begins a block"
    TURN = "ends one half of a block and begins the other"
    CLOSER = "ends a block"


@dataclass(frozen=True, slots=True)
class Row:
    """A statement, or the opening, dividing or closing line of a block."""

    role: Role
    depth: int
    pieces: Sequence[Piece]
    first: Token
    last: Token
    bare: bool = False
    """Whether it has text that only the lenient dialect takes: what looks like a comment inside it is none."""


class Tokens:
    """The logical lines of a program, to look up what the tree does not keep: the brackets of a statement."""

    def __init__(self, lines: Iterable[Sequence[Token]]) -> None:
        self._places = {(token.line, token.column): (line, at) for line in lines for at, token in enumerate(line)}

    def opener(self, first: Token) -> Token:
        """The first `(` from `first` on; `first` itself when there is none."""
        return next((token for token in self._from(first) if token.kind == "("), first)

    def header_end(self, first: Token) -> Token:
        """The `)` that ends the header that begins at `first`, or the brace of a function."""
        wanted = t.BLOCK_OPEN if first.text == "function" else ")"
        depth = 0
        for token in self._from(first):
            depth += (token.kind == "(") - (token.kind == ")")
            if token.kind == wanted and depth == 0:
                return token
        return first

    def parameters(self, first: Token) -> list[Token]:
        """The parameters in the header of the function that begins at `first`."""
        names: list[Token] = []
        for token in self._from(first):
            if token.kind is t.BLOCK_OPEN:
                break
            names.append(token)
        return [token for token in names[2:] if token.kind is t.NAME]

    def _from(self, first: Token) -> Iterator[Token]:
        line, at = self._places.get((first.line, first.column), ((), 0))
        return (line[place] for place in range(at, len(line)))


@dataclass(frozen=True, slots=True)
class _Scene:
    """What printing a statement needs to know besides the statement."""

    tokens: Tokens
    comments: Comments


_Step = tuple[tree.Statement | Row, int]


def rows(program: tree.Program, tokens: Tokens, comments: Comments) -> Iterator[Row]:
    """The lines-to-be of `program` in order; comments inside their brackets are taken."""
    scene = _Scene(tokens, comments)
    waiting: list[_Step] = [(statement, 0) for statement in reversed(program.body)]
    while waiting:
        step, depth = waiting.pop()
        if isinstance(step, Row):
            yield step
        elif isinstance(step, (tree.If, tree.Loop, tree.Try, tree.Function)):
            waiting.extend(reversed(list(_block(step, depth, scene))))
        else:
            yield _plain(step, depth, scene)


def _plain(statement: tree.Statement, depth: int, scene: _Scene) -> Row:
    pieces: Sequence[Piece] = pieces_of(_PARTS[type(statement)](statement, scene), scene.comments)
    arguments = statement.arguments if isinstance(statement, tree.Command) else ()
    bare = any(isinstance(argument, (tree.BareText, tree.Missing)) for argument in arguments)
    if bare:
        # A bare text ends with its line.
        pieces = [flat(pieces)]
    return Row(Role.PLAIN, depth, pieces, statement.first, statement.last, bare)


def _block(block: tree.If | tree.Loop | tree.Try | tree.Function, depth: int, scene: _Scene) -> Iterator[_Step]:
    yield _headed(Role.OPENER, block.first, _HEADERS[type(block)](block, scene), depth, scene)
    yield from ((statement, depth + 1) for statement in block.body)
    turn = block.otherwise if isinstance(block, tree.If) else block.handler if isinstance(block, tree.Try) else None
    if turn is not None:
        variable = turn.variable if isinstance(turn, tree.Handler) else None
        yield _headed(Role.TURN, turn.first, [f"{turn.first.text}({variable or ''})"], depth, scene)
        yield from ((statement, depth + 1) for statement in turn.body)
    closer = "}" if isinstance(block, tree.Function) else "endLoop()" if isinstance(block, tree.Loop) else "end()"
    yield Row(Role.CLOSER, depth, [closer], block.last, block.last), depth


def _headed(role: Role, first: Token, parts: Sequence[Part], depth: int, scene: _Scene) -> _Step:
    end = scene.tokens.header_end(first)
    return Row(role, depth, pieces_of(parts, scene.comments), first, end), depth


# Headers of blocks


def _if(node: tree.If, scene: _Scene) -> list[Part]:
    condition = node.condition
    assert condition is not None
    if isinstance(condition, tree.Evaluate):
        return [f"if(None, None, {condition.first.text})"]
    operator = Item([condition.last.text], condition.last, condition.last)
    items = [item(condition.left), item(condition.right), operator]
    return ["if", *bracketed(scene.tokens.opener(node.first), ")", items, scene.comments)]


def _loop(node: tree.Loop, scene: _Scene) -> list[Part]:
    assert node.start is not None
    assert node.stop is not None
    opener = scene.tokens.opener(node.first)
    variable = Item([node.variable], opener, opener)
    return ["startLoop", *bracketed(opener, ")", [variable, item(node.start), item(node.stop)], scene.comments)]


def _try(_: tree.Try, __: _Scene) -> list[Part]:
    return ["try()"]


def _function(node: tree.Function, scene: _Scene) -> list[Part]:
    parameters = [Item([token.text], token, token) for token in scene.tokens.parameters(node.first)]
    opener = scene.tokens.opener(node.first)
    return [f"function {node.name}", *bracketed(opener, ")", parameters, scene.comments), "{"]


_HEADERS: Final[Mapping[type, Callable[[Any, _Scene], list[Part]]]] = MappingProxyType(
    {tree.If: _if, tree.Loop: _loop, tree.Try: _try, tree.Function: _function}
)


# Plain statements


def _assign(node: tree.Assign, _: _Scene) -> list[Part]:
    return [f"{node.target} = ", node.value]


def _command(node: tree.Command, scene: _Scene) -> list[Part]:
    name = node.name if node.target is None else f"{node.target} = {node.name}"
    return _called(name, node, scene)


def _function_call(node: tree.FunctionCall, scene: _Scene) -> list[Part]:
    return _called(node.name, node, scene)


def _connector_call(node: tree.ConnectorCall, scene: _Scene) -> list[Part]:
    call = f"{node.connector.first.text}.{node.method}"
    return _called(call if node.target is None else f"{node.target} = {call}", node, scene)


def _called(name: str, node: tree.Command | tree.FunctionCall | tree.ConnectorCall, scene: _Scene) -> list[Part]:
    items = [item(argument) for argument in node.arguments]
    return [name, *bracketed(scene.tokens.opener(node.first), ")", items, scene.comments)]


def _return(node: tree.Return, _: _Scene) -> list[Part]:
    if node.value is None:
        return ["return()"]
    return ["return" if isinstance(node.value, tree.Group) else "return ", node.value]


def _module(node: tree.Module, _: _Scene) -> list[Part]:
    bracketed_name = node.last.text == ">"
    return [f"{node.keyword} <{node.target}>" if bracketed_name else f"{node.keyword} {node.last.text}"]


_PARTS: Final[Mapping[type, Callable[[Any, _Scene], list[Part]]]] = MappingProxyType(
    {
        tree.Assign: _assign,
        tree.Command: _command,
        tree.FunctionCall: _function_call,
        tree.ConnectorCall: _connector_call,
        tree.Return: _return,
        tree.Module: _module,
    }
)
