"""What a run comes to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.avap.execution.failures import ErrorKind, Limit
from core.model.frozen import Frozen


class RunError(Frozen):
    """Why a program did not come to its end."""

    line: int
    """From 1; the line that failed, inside the function that failed."""
    text: str
    kind: ErrorKind


class Execution(Frozen):
    """The outcome of one run; all values are plain JSON."""

    variables: Mapping[str, Any]
    """Global variables in the order of their first assignment."""
    results: Mapping[str, Any]
    """What was published, in the order of `addResult`; after an error, what was published before it."""
    status: int
    """HTTP status: 200, what `_status` says, or 500 after an error that nothing caught."""
    error: RunError | None = None
    limit: Limit | None = None
    """The limit that ended the program; `error` then has its words."""
    executed_lines: tuple[int, ...]
    """Distinct statement lines that were reached, ascending."""
    statement_lines: tuple[int, ...]
    """All lines that count for coverage, ascending."""
    trace: tuple[int, ...] = ()
    """The first executed lines in the order of their execution, as many as the limits keep."""
