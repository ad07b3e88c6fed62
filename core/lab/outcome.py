"""How a run stands: what the last driver left behind, and what it tells the shell."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from enum import StrEnum

from core.errors import AssayError, BudgetExhausted, ExitCode
from core.lab.experiment import Conclusion
from core.model.frozen import Frozen


class Status(StrEnum):
    """Where a run is."""

    RUNNING = "running"
    """A driver holds its lock."""
    INTERRUPTED = "interrupted"
    """Stopped or killed; `assay resume` goes on."""
    PARTIAL = "partial"
    """Ended with rows missing, the report marked so; `assay resume` goes on."""
    COMPLETE = "complete"


class CellDone(Frozen):
    """Written beside the rows of a cell once all are there."""

    rows: int
    sha256: str
    """Of samples.jsonl."""


class Outcome(Frozen):
    """The end of a driver's work on a run."""

    status: Status
    exit_code: ExitCode
    rows: int
    expected: int
    finished_at: str
    reason: str = ""
    """Why the run stopped early or failed its gates; empty for a plain success."""
    remedy: str = ""
    gates_failed: tuple[str, ...] = ()
    summary: tuple[str, ...] = ()
    binding_faults: tuple[str, ...] = ()
    """As the report has them; beside those of the record, what only the rows can show."""
    files: Mapping[str, str] = {}
    """Report file -> sha256 of its content."""


def concluded(
    conclusion: Conclusion | None, trouble: Sequence[AssayError], *, rows: int, expected: int, now: str
) -> Outcome:
    """The outcome of a drive that got to its report, `trouble` being the errors that cost it rows.

    Without a conclusion there was nothing to report on. A run whose rows hold no evidence is never a success.
    """
    usable = conclusion.usable if conclusion else 0
    gates = conclusion.gates_failed if conclusion else ()
    complete = rows == expected and usable > 0
    if complete:
        reasons, code = list(gates), ExitCode.GATE_FAILED if gates else ExitCode.OK
    else:
        reasons, code = [_lack(rows, expected), *map(str, trouble)], ExitCode.INCOMPLETE
    if any(isinstance(error, BudgetExhausted) for error in trouble):
        code = ExitCode.BUDGET
    return Outcome(
        status=Status.COMPLETE if complete else Status.PARTIAL,
        exit_code=code,
        rows=rows,
        expected=expected,
        finished_at=now,
        reason="; ".join(dict.fromkeys(reasons)),
        remedy=next((error.remedy for error in trouble if error.remedy), ""),
        gates_failed=gates,
        summary=conclusion.summary if conclusion else (),
        binding_faults=conclusion.binding_faults if conclusion else (),
        files={n: hashlib.sha256(c).hexdigest() for n, c in conclusion.files.items()} if conclusion else {},
    )


def interrupted(error: BaseException, *, rows: int, expected: int, now: str) -> Outcome:
    """The outcome of a drive that `error` ended before its report."""
    known = error if isinstance(error, AssayError) else AssayError(f"stopped by {type(error).__name__}")
    return Outcome(
        status=Status.INTERRUPTED,
        exit_code=known.exit_code,
        rows=rows,
        expected=expected,
        finished_at=now,
        reason=str(known),
        remedy=known.remedy,
    )


def _lack(rows: int, expected: int) -> str:
    if rows < expected:
        return f"{expected - rows} of {expected} rows are missing"
    return f"none of the {rows} rows holds any evidence"
