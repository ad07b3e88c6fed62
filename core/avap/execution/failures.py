"""How a run can go wrong: a failure that `try()` catches, and a limit that nothing catches."""

from __future__ import annotations

from enum import StrEnum


class ErrorKind(StrEnum):
    """What sort of error ended a program."""

    NAME = "name"
    """A variable, function or module that is not there."""
    TYPE = "type"
    """An operation on values that do not support it."""
    VALUE = "value"
    """The right type with a content that does not do: a conversion, an index, a pattern, a format."""
    ARITHMETIC = "arithmetic"
    REQUEST = "request"
    """An HTTP request or connector call: no reply was given, or the reply was a failure."""
    TABLE = "table"
    LIMIT = "limit"


class Limit(StrEnum):
    """The bounds of a run."""

    STEPS = "steps"
    DEPTH = "depth"
    MEMORY = "memory"
    OUTPUT = "output"


class Failure(Exception):  # never leaves core.avap.execution
    """An error of the program that runs."""

    def __init__(self, text: str, kind: ErrorKind = ErrorKind.VALUE) -> None:
        super().__init__(text)
        self.text = text
        self.kind = kind


class LimitReached(Exception):  # never leaves core.avap.execution
    """The program asked for more than it may have."""

    def __init__(self, limit: Limit, text: str) -> None:
        super().__init__(text)
        self.limit = limit
        self.text = text


class Uncaught(Exception):  # never leaves core.avap.execution
    """A failure that no `try()` caught, with the line it happened on."""

    def __init__(self, failure: Failure, line: int) -> None:
        super().__init__(failure.text)
        self.failure = failure
        self.line = line
