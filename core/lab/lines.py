"""Rows as lines of JSON: which of some bytes are whole rows, and where an interrupted write begins."""

from __future__ import annotations

import json
from collections.abc import Iterator

from core.errors import StoreError


def recover(content: bytes, *, file: str = "") -> tuple[dict[str, str], int]:
    """The rows in `content` by id, in order, and how many of its bytes they take.

    What follows the last whole row is the torn end of an interrupted write. Raises StoreError when whole rows follow a
    broken one (damage that no interruption explains) and when two rows have one id.
    """
    rows: dict[str, str] = {}
    taken = broken = 0
    for number, (line, end) in enumerate(_lines(content), start=1):
        row_id = id_of(line)
        if row_id is None:
            broken = broken or number
        elif broken:
            raise damage(f"line {broken} is damaged and whole rows follow it", file, broken)
        elif row_id in rows:
            raise damage(f"line {number} repeats row {row_id!r}", file, number)
        else:
            rows[row_id] = line.decode("utf-8")
            taken = end
    return rows, taken


def id_of(line: bytes) -> str | None:
    """The id of a whole row; None for anything else."""
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    found = row.get("id") if isinstance(row, dict) else None
    return found if isinstance(found, str) else None


def damage(what: str, file: str, line: int = 0) -> StoreError:
    """The fault of a file that holds what no driver wrote there."""
    remedy = "restore the file from a copy, or run again with --fresh (the old run is kept aside)"
    return StoreError(f"{file}:{line}: {what}" if line else f"{file}: {what}", file=file, line=line, remedy=remedy)


def _lines(content: bytes) -> Iterator[tuple[bytes, int]]:
    """Each line without its newline, and where it ends in `content`, newline included."""
    end = 0
    for line in content.split(b"\n"):
        end = min(end + len(line) + 1, len(content))
        if line:
            yield line, end
