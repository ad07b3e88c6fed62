"""Which batches a caller has sent, on disk: what was meant before it is sent, and its name once it has one.

A killed driver finds its batches again by this file. One that was killed between the two lines finds its batch in the
provider's list, by what it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from core.adapters.lines import Lines, texts
from core.errors import StoreError
from core.model.frozen import Frozen


class Meant(Frozen):
    """A batch that is about to be sent."""

    meant: int
    """Its number in this file."""
    at: str
    """UTC in ISO 8601."""
    keys: tuple[str, ...]
    """Of the requests in it, sorted."""


class Made(Frozen):
    """The provider named it."""

    made: int
    id: str


class Void(Frozen):
    """It never came to be, or is nowhere to be found: its requests may be sent again."""

    void: int


Entry = Meant | Made | Void


@dataclass(frozen=True)
class Known:
    """A batch of an earlier driver, or of this one."""

    number: int
    at: str
    keys: tuple[str, ...]
    id: str | None = None
    """None when nobody noted it."""


class BatchFile:
    """The batches of one caller."""

    def __init__(self, lines: Lines, name: str) -> None:
        """Read what earlier drivers wrote. Raises StoreError for lines that they did not."""
        self._lines = lines
        self.earlier = _known([_entry(line, name, number) for number, line in enumerate(texts(lines.found), start=1)])
        """Not void, in the order they were meant."""
        self.names = {known.id for known in self.earlier if known.id}
        """Of every batch whose place is known."""
        self._numbers = max((known.number for known in self.earlier), default=0) + len(lines.found)

    async def mean(self, keys: Sequence[str], now: str) -> Known:
        """Write down that a batch of `keys` is about to be sent; durable on return. Raises StoreError."""
        self._numbers += 1
        known = Known(self._numbers, now, tuple(sorted(keys)))
        await self._lines.append(Meant(meant=known.number, at=now, keys=known.keys).model_dump_json().encode())
        return known

    async def made(self, known: Known, name: str) -> None:
        """Write down what the provider calls it; durable on return. Raises StoreError."""
        self.names.add(name)
        await self._lines.append(Made(made=known.number, id=name).model_dump_json().encode())

    async def void(self, known: Known) -> None:
        """Write down that there is no such batch; durable on return. Raises StoreError."""
        await self._lines.append(Void(void=known.number).model_dump_json().encode())


def _known(entries: Sequence[Entry]) -> tuple[Known, ...]:
    names = {entry.made: entry.id for entry in entries if isinstance(entry, Made)}
    void = {entry.void for entry in entries if isinstance(entry, Void)}
    return tuple(
        Known(entry.meant, entry.at, entry.keys, names.get(entry.meant))
        for entry in entries
        if isinstance(entry, Meant) and entry.meant not in void
    )


def _entry(line: str, name: str, number: int) -> Entry:
    for kind in (Meant, Made, Void):
        try:
            return kind.model_validate_json(line)
        except ValidationError:
            continue
    raise StoreError(
        f"{name}:{number}: no line about a batch",
        file=name,
        line=number,
        remedy="restore the file from a copy: without it batches under way would be paid for twice",
    )
