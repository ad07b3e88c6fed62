"""Steps that close a bracket, and what becomes of what it held."""

from __future__ import annotations

from typing import Final

from core.avap import tree
from core.avap.diagnostics import malformed, quoted
from core.avap.frames import Frame
from core.avap.reader import CLOSERS, Reader, Step, no_operand, stop
from core.avap.tokens import Token


def close(reader: Reader, token: Token) -> None:
    """A closing bracket after a value."""
    frame = reader.frame
    if frame.role == "top":
        stop(reader, token)
    elif CLOSERS[frame.opener.text] != token.text:
        raise malformed(frame.opener, f"{quoted(frame.opener.text)} is never closed", CLOSERS[frame.opener.text])
    elif frame.role == "index":
        _close_index(reader, token, reader.finish())
    elif frame.role == "{":
        end_of_pair(reader)
        _close_dict(reader, token)
    elif frame.role == "for":
        frame.clauses[-1][2].append(reader.finish())
        _close_comprehension(reader, token)
    elif frame.role == "(" and not frame.items:
        reader.close(tree.Group(frame.opener, token, reader.finish()))
    else:
        frame.items.append(reader.finish())
        END_OF_FRAME[frame.role](reader, token)


def close_without_operand(reader: Reader, token: Token) -> None:
    """A closing bracket after an opening one, a separator or a colon."""
    frame = reader.frame
    if frame.role in {"top", "for"} or frame.operators or CLOSERS[frame.opener.text] != token.text:
        no_operand(reader, token)
    if frame.role == "call" and frame.items:
        raise malformed(token, f"argument {len(frame.items) + 1} is empty")
    if frame.role == "index":
        if not frame.parts:
            raise malformed(token, "the index is empty")
        _close_index(reader, token, None)
    elif frame.role == "{" and len(frame.items) % 2:
        raise malformed(token, "the value of the last key is missing")
    else:
        END_OF_FRAME[frame.role](reader, token)


def add_index_part(frame: Frame, part: tree.Expression | None, token: Token) -> None:
    """Keep what stands before a colon of a slice. Raises Mistake at the third colon."""
    if len(frame.parts) == 2:
        raise malformed(token, "a slice has at most two colons")
    frame.parts += (part,)


def end_of_pair(reader: Reader) -> None:
    """Keep the value of a dict's last key. Raises Mistake when it had no key."""
    frame = reader.frame
    frame.items.append(reader.finish())
    if len(frame.items) % 2:
        raise malformed(frame.opener, "AVAP has dicts but no sets: every key needs ': value'", "[...]")


def _close_tuple(reader: Reader, token: Token) -> None:
    reader.close(tree.TupleDisplay(reader.frame.opener, token, tuple(reader.frame.items)))


def _close_list(reader: Reader, token: Token) -> None:
    reader.close(tree.ListDisplay(reader.frame.opener, token, tuple(reader.frame.items)))


def _close_dict(reader: Reader, token: Token) -> None:
    items = reader.frame.items
    reader.close(tree.DictDisplay(reader.frame.opener, token, tuple(zip(items[::2], items[1::2], strict=True))))


def _close_comprehension(reader: Reader, token: Token) -> None:
    frame = reader.frame
    clauses = tuple(
        tree.Clause(first, parts[-1].last, names, parts[0], tuple(parts[1:])) for first, names, parts in frame.clauses
    )
    reader.close(tree.Comprehension(frame.opener, token, frame.items[0], clauses))


def _close_call(reader: Reader, token: Token) -> None:
    frame = reader.frame
    if frame.call is not None:
        frame.call.arguments = len(frame.items)
    reader.frames.pop()
    if not reader.frames:
        reader.arguments = frame.items
        reader.done = True
        return
    reader.frame = reader.frames[-1]
    reader.frame.ask(tree.Call(frame.opener, token, tuple(frame.items)))
    reader.wanting = False


def _close_index(reader: Reader, token: Token, last: tree.Expression | None) -> None:
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
    reader.frame.ask(trailer)
    reader.wanting = False


END_OF_FRAME: Final[dict[str, Step]] = {
    "(": _close_tuple,
    "[": _close_list,
    "{": _close_dict,
    "call": _close_call,
}
