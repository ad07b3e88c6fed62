"""Texts that occur again and again, kept once: rows of one question share most of what their judges said."""

from __future__ import annotations


class TextPool:
    """Every distinct text gets a number, in the order in which it was first seen."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The number of `text`, from 0."""
        return self._numbers.setdefault(text, len(self._numbers))

    def texts(self) -> tuple[str, ...]:
        """All texts, by number."""
        return tuple(self._numbers)
