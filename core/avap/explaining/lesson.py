"""A lesson: why one kind of fault is a fault, and how AVAP says it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from core.model.syntax import Category, Diagnostic


@dataclass(frozen=True)
class Lesson:
    """One kind of fault, explained for people and for models. The texts are data; tests hold both programs to it."""

    id: str
    category: Category
    matches: str
    """Pattern that the message of a fault holds; the empty one holds for all of its category."""
    what: str
    why: str
    way: str
    instead_of: str
    """A program with this fault."""
    example: str
    """A valid program that says it the AVAP way."""

    def fits(self, fault: Diagnostic) -> bool:
        """Whether this lesson is about `fault`."""
        return fault.category is self.category and self._pattern.search(fault.message) is not None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.matches)
