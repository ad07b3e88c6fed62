"""How much of a program its test inputs execute: ECS, the Execution Coverage Score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.avap.execution.inputs import Inputs
from core.avap.execution.limits import Limits
from core.avap.execution.outcome import Execution
from core.avap.execution.running import execute
from core.avap.parser import Parsed
from core.model.frozen import Frozen
from core.model.syntax import Validity

ECS: Final = "ecs@1"


class Coverage(Frozen):
    """The lines that count, and which of them were executed under at least one test input."""

    metric: str = ECS
    score: float
    """Executed lines / lines that count, from 0 to 1; 0 when the program does not parse or run."""
    statement_lines: tuple[int, ...]
    executed_lines: tuple[int, ...]
    reason: str | None = None
    """Why the score is 0: the first fault, or the first error that ended a run."""


def ecs(parsed: Parsed, inputs: Sequence[Inputs], limits: Limits | None = None) -> Coverage:
    """The coverage of a program over all `inputs`; without any it runs once on nothing.

    A program does not run when one of its test inputs ends in an error that it does not catch, or in a limit.
    """
    result = parsed.result
    if result.verdict is Validity.INVALID:
        return Coverage(score=0, statement_lines=(), executed_lines=(), reason=result.trace[0])
    return covered([execute(parsed.tree, given, limits, dialect=result.dialect) for given in inputs or (Inputs(),)])


def covered(executions: Sequence[Execution]) -> Coverage:
    """The coverage of the runs of one program, at least one."""
    lines = executions[0].statement_lines
    reached = {line for execution in executions for line in execution.executed_lines}
    executed = tuple(line for line in lines if line in reached)
    error = next((execution.error for execution in executions if execution.error is not None), None)
    return Coverage(
        score=0 if error is not None else len(executed) / len(lines),
        statement_lines=lines,
        executed_lines=executed,
        reason=None if error is None else f"Line {error.line}: {error.text}",
    )
