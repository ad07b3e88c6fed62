"""From a fault to the lesson about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from core.avap.explaining import foreign_keywords, syntax_errors, unexpected_constructs, unknown_tokens
from core.avap.explaining.lesson import Lesson
from core.avap.shapes import usage
from core.avap.vocabulary import Vocabulary
from core.model.frozen import Frozen
from core.model.syntax import Category, Diagnostic, ParseResult

LESSONS: Final[tuple[Lesson, ...]] = (
    *unknown_tokens.LESSONS,
    *unexpected_constructs.LESSONS,
    *foreign_keywords.LESSONS,
    *syntax_errors.LESSONS,
)
"""Every lesson. Within a category the first that fits is told; the last fits every fault of it."""

CATEGORY_HELP: Final[Mapping[Category, str]] = MappingProxyType(
    {
        Category.UNKNOWN_TOKEN: "A name is called that does not exist in this edition of the language.",
        Category.UNEXPECTED_CONSTRUCT: "The words are those of AVAP, but their place, number or shape is not.",
        Category.FOREIGN_KEYWORD: "The line is written as another programming language would have it.",
        Category.SYNTAX_ERROR: "The text cannot be read: brackets, quotes, numbers or the form of an expression.",
    }
)
"""What each category means, in a sentence."""


class Explanation(Frozen):
    """A fault, and everything that helps to mend it."""

    line: int
    column: int
    category: Category
    message: str
    lesson: str
    """Id of the lesson."""
    what: str
    why: str
    way: str
    suggestion: str | None
    usage: str | None
    """How the suggested command is written in the vocabulary at hand; None when no command was suggested."""
    instead_of: str
    """An invalid program with the same kind of fault."""
    example: str
    """A valid program."""


def explain(result: ParseResult, vocabulary: Vocabulary) -> tuple[Explanation, ...]:
    """An explanation for each fault of `result`, in order. `vocabulary` is the one it was judged by."""
    return tuple(_explained(fault, vocabulary) for fault in result.diagnostics)


def lesson_about(fault: Diagnostic) -> Lesson:
    """The first lesson that fits `fault`; the last of its category fits always."""
    return next(lesson for lesson in LESSONS if lesson.fits(fault))


def lessons_of(category: Category) -> Iterator[Lesson]:
    """The lessons of a category, the special ones first."""
    return (lesson for lesson in LESSONS if lesson.category is category)


def _explained(fault: Diagnostic, vocabulary: Vocabulary) -> Explanation:
    lesson = lesson_about(fault)
    command = vocabulary.commands.get(fault.suggestion or "")
    return Explanation(
        line=fault.line,
        column=fault.column,
        category=fault.category,
        message=fault.message,
        lesson=lesson.id,
        what=lesson.what,
        why=lesson.why,
        way=lesson.way,
        suggestion=fault.suggestion,
        usage=None if command is None else usage(command, command.forms),
        instead_of=lesson.instead_of,
        example=lesson.example,
    )
