"""Whether two programs mean the same to the letter: equal trees, where their tokens stand apart."""

from __future__ import annotations

from dataclasses import fields

from core.avap.tokens import Token
from core.avap.tree import Node, Program


def same_tree(left: Program, right: Program) -> bool:
    """Whether both programs have the same statements. Comments, lines and positions do not count."""
    waiting: list[tuple[object, object]] = [(left.body, right.body)]
    while waiting:
        one, other = waiting.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, Token) and isinstance(other, Token):
            if one.text != other.text:
                return False
        elif isinstance(one, Node):
            names = [field.name for field in fields(one) if field.name not in {"first", "last"}]
            waiting.extend((getattr(one, name), getattr(other, name)) for name in names)
        elif isinstance(one, tuple) and isinstance(other, tuple):
            if len(one) != len(other):
                return False
            waiting.extend(zip(one, other, strict=True))
        elif one != other:
            return False
    return True
