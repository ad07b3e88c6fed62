"""The rows of a cell as they are made, in the process that runs the cell: a module that loads little besides."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from core.lab.experiment import Cell, Session
from core.lab.inline import closed_after


async def lines_of(session: Session[Any], cell: Cell, finished: frozenset[str]) -> AsyncIterator[tuple[str, str]]:
    """The id and the JSON of each row, made where the row is: the one driver has those of every worker to write."""
    rows = session.rows(cell, finished)
    async with closed_after(rows):
        async for row in rows:
            yield row.id, row.model_dump_json()
