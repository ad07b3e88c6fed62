"""Expressions to pieces, over an explicit stack: brackets may nest more deeply than Python's own stack would bear."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from core.avap import tree
from core.avap.formatting.comments import Comments, Inner, Place, one_line
from core.avap.formatting.pieces import Close, Open, Piece, Split
from core.avap.tokens import Token

Part = tree.Node | Piece


class Item(NamedTuple):
    """What stands between two commas of a bracket."""

    parts: Sequence[Part]
    first: Token
    last: Token


def pieces_of(parts: Sequence[Part], comments: Comments) -> list[Piece]:
    """The pieces of `parts`, nodes printed in their place; comments inside their brackets are taken."""
    pieces: list[Piece] = []
    waiting: list[Part] = list(reversed(parts))
    while waiting:
        part = waiting.pop()
        if isinstance(part, tree.Node):
            waiting.extend(reversed(_PARTS[type(part)](part, comments)))
        else:
            pieces.append(part)
    return pieces


def item(node: tree.Node) -> Item:
    """An item that is one expression."""
    return Item([node], node.first, node.last)


def bracketed(
    opener: Token, closer: str, items: Sequence[Item], comments: Comments, *, last_comma: bool = False
) -> list[Part]:
    """`items` in the bracket that begins at `opener`, with the comments among them."""
    inner = comments.take(opener)
    if not items and not inner:
        return [opener.text + closer]
    if not items:
        return [Open(opener.text, own=tuple(found.comment.text for found in inner)), Close(closer)]
    groups = _between(inner, [each.first for each in items])
    own = tuple(_texts(groups[0], Place.OWN_LINE, Place.TRAILING, Place.AFTER_ITEM))
    parts: list[Part] = [Open(opener.text, items[0].first.line > opener.line, own)]
    for number, here in enumerate(items):
        after, is_last = groups[number + 1], number + 1 == len(items)
        parts += [f"{text} " for text in _texts(groups[number], Place.BEFORE_ITEM)]
        parts += here.parts
        parts += [f" {text}" for text in _texts(after, Place.AFTER_ITEM, Place.BEFORE_ITEM if is_last else None)]
        parts += [","] if last_comma and is_last else []
        parts.append(Close(closer, *_at_line_end(after)) if is_last else Split(*_at_line_end(after)))
    return parts


def _between(inner: Sequence[Inner], starts: Sequence[Token]) -> list[list[Inner]]:
    """The comments before the first start, before the second, ..., and after the last one."""
    groups: list[list[Inner]] = [[]]
    waiting = iter(starts)
    start = next(waiting, None)
    for found in inner:
        while start is not None and found.position > (start.line, start.column):
            groups.append([])
            start = next(waiting, None)
        groups[-1].append(found)
    groups.extend([] for _ in range(len(starts) + 1 - len(groups)))
    return groups


def _texts(group: Sequence[Inner], *places: Place | None) -> Iterator[str]:
    return (found.comment.text for found in group if found.place in places)


def _at_line_end(group: Sequence[Inner]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The comments at the end of an item's line, and those on lines of their own after it."""
    trailing = tuple(_texts(group, Place.TRAILING))
    kept = tuple(one_line(trailing))
    return kept, (*trailing[len(kept) :], *_texts(group, Place.OWN_LINE))


# One function per kind of node


def _as_written(node: tree.Node, _: Comments) -> list[Part]:
    return [node.first.text]


def _list(node: tree.ListDisplay, comments: Comments) -> list[Part]:
    return bracketed(node.first, "]", [item(each) for each in node.items], comments)


def _tuple(node: tree.TupleDisplay, comments: Comments) -> list[Part]:
    items = [item(each) for each in node.items]
    return bracketed(node.first, ")", items, comments, last_comma=len(items) == 1)


def _dict(node: tree.DictDisplay, comments: Comments) -> list[Part]:
    items = [Item([key, ": ", value], key.first, value.last) for key, value in node.items]
    return bracketed(node.first, "}", items, comments)


def _group(node: tree.Group, comments: Comments) -> list[Part]:
    return bracketed(node.first, ")", [item(node.inner)], comments)


def _comprehension(node: tree.Comprehension, comments: Comments) -> list[Part]:
    parts: list[Part] = [node.element]
    for clause in node.clauses:
        names = ", ".join(token.text for token in clause.names)
        parts += [f" for {names} in ", clause.source]
        for condition in clause.conditions:
            parts += [" if ", condition]
    return bracketed(node.first, "]", [Item(parts, node.element.first, node.clauses[-1].last)], comments)


def _unary(node: tree.Unary, _: Comments) -> list[Part]:
    return ["".join("not " if operator == "not" else operator for operator in node.operators), node.operand]


def _chain(node: tree.Arithmetic | tree.Comparison, _: Comments) -> list[Part]:
    return _joined(node.operands, [f" {operator} " for operator in node.operators])


def _boolean(node: tree.Boolean, _: Comments) -> list[Part]:
    return _joined(node.operands, [f" {node.operator} "] * (len(node.operands) - 1))


def _conditional(node: tree.Conditional, _: Comments) -> list[Part]:
    operands = [operand for branch in node.branches for operand in branch]
    return _joined([*operands, node.otherwise], [" if ", " else "] * len(node.branches))


def _joined(operands: Sequence[tree.Expression], signs: Sequence[str]) -> list[Part]:
    """The operands with a sign between each two."""
    parts: list[Part] = [operands[0]]
    for sign, operand in zip(signs, operands[1:], strict=True):
        parts += [sign, operand]
    return parts


def _access(node: tree.Access, _: Comments) -> list[Part]:
    return [node.base, *node.trailers]


def _attribute(node: tree.Attribute, _: Comments) -> list[Part]:
    return [f".{node.name}"]


def _index(node: tree.Index, comments: Comments) -> list[Part]:
    return bracketed(node.first, "]", [item(node.key)], comments)


def _slice(node: tree.Slice, comments: Comments) -> list[Part]:
    parts: list[Part] = []
    for number, bound in enumerate((node.start, node.stop, node.step)):
        parts += [":"] if number == 1 or (number and bound) else []
        parts += [bound] if bound else []
    return bracketed(node.first, "]", [Item(parts, node.first, node.last)], comments)


def _call(node: tree.Call, comments: Comments) -> list[Part]:
    return bracketed(node.first, ")", [item(each) for each in node.arguments], comments)


def _nothing(_: tree.Node, __: Comments) -> list[Part]:
    return []


_PARTS: Final[Mapping[type, Callable[[Any, Comments], list[Part]]]] = MappingProxyType(
    {
        **dict.fromkeys((tree.Name, tree.Global, tree.Constant, tree.Number, tree.String, tree.Template), _as_written),
        tree.BareText: _as_written,
        tree.Missing: _nothing,
        tree.ListDisplay: _list,
        tree.TupleDisplay: _tuple,
        tree.DictDisplay: _dict,
        tree.Group: _group,
        tree.Comprehension: _comprehension,
        tree.Unary: _unary,
        tree.Arithmetic: _chain,
        tree.Comparison: _chain,
        tree.Boolean: _boolean,
        tree.Conditional: _conditional,
        tree.Access: _access,
        tree.Attribute: _attribute,
        tree.Index: _index,
        tree.Slice: _slice,
        tree.Call: _call,
    }
)
