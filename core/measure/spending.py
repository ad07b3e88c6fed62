"""What the replies behind some rows cost, each reply once however many rows stand on it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import attrgetter
from typing import Protocol

from core.model.evaluation import Spend
from core.model.judged import Call
from core.model.prompt import Usage


class RowWithCalls(Protocol):
    """Any experiment's row that stands on replies."""

    @property
    def id(self) -> str:
        """The question's id."""

    @property
    def suite(self) -> str:
        """Which suite it belongs to."""

    @property
    def run(self) -> int:
        """Which repetition."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """The replies."""


def spend(rows: Iterable[RowWithCalls]) -> Spend:
    """Calls, tokens and US dollars in all and by role.

    The cost of a reply is what it cost when it was made: taking it from a recording changes nothing, so a resumed run
    reports what an uninterrupted one does.
    """
    calls = _distinct(rows)
    roles = sorted({call.role for call in calls})
    by_role = {role: _sum([call for call in calls if call.role == role]) for role in roles}
    return _sum(calls).model_copy(update={"by_role": by_role})


def _distinct(rows: Iterable[RowWithCalls]) -> list[Call]:
    ordered = sorted(rows, key=lambda row: (row.suite, row.run, row.id))
    found: dict[tuple[str, str], Call] = {}
    for row in ordered:
        for call in row.calls:
            found.setdefault((call.role, call.key), call)
    return list(found.values())


def _sum(calls: list[Call]) -> Spend:
    usages = [call.usage for call in calls]
    usage = Usage(**{count: sum(map(attrgetter(count), usages)) for count in Usage.model_fields})
    return Spend(calls=len(calls), usage=usage, usd=math.fsum(call.cost_usd for call in calls))
