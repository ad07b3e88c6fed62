"""What stands between quotes and back-ticks: escapes resolved, slots found."""

from __future__ import annotations

import re
from typing import Final

from core.avap.diagnostics import malformed
from core.avap.tokens import Token
from core.avap.tree import Slot

_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}
_SLOT: Final = re.compile(r"(\\.)|\$\{(?:\s*([^\W\d]\w*(?:\.[^\W\d]\w*)*)\s*\})?", re.DOTALL)


def string_value(text: str) -> str:
    """The value of a quoted text; a backslash before a sign without a meaning of its own gives that sign."""
    inner = text[1:-1]
    return _unescaped(inner) if "\\" in inner else inner


def template_parts(token: Token) -> tuple[str | Slot, ...]:
    """The literal pieces and slots of a back-tick text, in order.

    Raises Mistake for a slot that holds anything but a name, dotted or not.
    """
    inner = token.text[1:-1]
    if "${" not in inner:
        return (_unescaped(inner) if "\\" in inner else inner,) if inner else ()
    parts: list[str | Slot] = []
    done = 0
    for match in _SLOT.finditer(inner):
        if match[1]:
            continue
        column = token.column + 1 + match.start()
        if not match[2]:
            at_slot = token._replace(text=inner[match.start() : match.start() + 40], column=column)
            raise malformed(at_slot, "a slot of a template holds one name", "${name}")
        if match.start() > done:
            parts.append(_unescaped(inner[done : match.start()]))
        place = token._replace(text=match[0], column=column)
        parts.append(Slot(place, place, tuple(match[2].split("."))))
        done = match.end()
    if done < len(inner):
        parts.append(_unescaped(inner[done:]))
    return tuple(parts)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text)
