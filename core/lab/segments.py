"""A file of rows on an object store, where nothing can be appended to: numbered segments, made one file when complete.

    samples.jsonl                  absent while the cell is filled; afterwards all rows
    samples.parts/00000001.jsonl   the rows of one flush; put only where there is no such object

Two writers that believe in the same next number cannot both have it: the second is told, and stops.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path

from core.disk import objects
from core.errors import StoreError
from core.lab.lines import damage, recover

SUFFIX = ".jsonl"


def parts_of(file: Path) -> Path:
    """The folder of the segments of `file`."""
    return file.with_suffix(".parts")


def content(file: Path) -> bytes:
    """Everything durable of `file` as one: what is in it, then the rows that only segments hold, in order.

    Raises StoreError for a missing, damaged or repeating segment.
    """
    return _read(file)[0]


def compact(file: Path) -> bytes:
    """Make `file` one object that holds all rows, which are returned, and remove its segments. Raises StoreError.

    A kill at any moment leaves every row in one place at least; doing it again finishes it.
    """
    whole, numbers = _read(file)
    if numbers:
        objects.put(file, whole)
        objects.remove([_segment(file, number) for number in numbers])
    return whole


class SegmentTail:
    """core.lab.journal.Tail over an object store: one object per batch."""

    def __init__(self, file: Path) -> None:
        """Find the rows and the next free number. Raises StoreError."""
        whole, numbers = _read(file)
        self._file = file
        self._next = count(numbers[-1] + 1 if numbers else 1)
        self.rows: Mapping[str, str] = recover(whole, file=str(file))[0]

    def append(self, batch: bytes) -> None:
        """Put `batch` as the next segment. Raises StoreError, also when another writer has put one there."""
        segment = _segment(self._file, next(self._next))
        try:
            objects.create(segment, batch)
        except FileExistsError as error:
            # The reply to our own first attempt may have been lost, and the client repeats what was not answered.
            if objects.read(segment) != batch:
                raise StoreError(
                    f"{segment} was written by another driver",
                    file=str(segment),
                    remedy="see which other machine runs this; its rows are safe. Stop one, then `assay resume`",
                ) from error

    def close(self) -> None:
        """Nothing is open."""


def _read(file: Path) -> tuple[bytes, list[int]]:
    """The rows of `file` as lines, and the numbers of its segments.

    A row of the file itself outranks a segment's: a driver that was cut off may put its last segment after another one
    has finished the cell.
    """
    there = objects.listing(file.parent)
    # Segments first: those that vanish meanwhile were made part of the file before, which is read after.
    segments = objects.read_all(parts_of(file), SUFFIX) if parts_of(file).name in there else {}
    whole = objects.read(file) if segments or file.name in there else None
    rows, taken = recover(whole or b"", file=str(file))
    numbers = [_number(file, name) for name in segments]
    if whole is None and numbers != list(range(1, len(numbers) + 1)):
        raise damage(f"of the segments 1 to {numbers[-1]} only {len(numbers)} are there", str(parts_of(file)))
    lines = [whole[:taken] if whole else b""]
    if lines[0] and not lines[0].endswith(b"\n"):
        lines.append(b"\n")
    lines += [f"{row}\n".encode() for row in _of_segments(file, segments, known=rows).values()]
    return b"".join(lines), numbers


def _of_segments(file: Path, segments: Mapping[str, bytes], known: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, batch in segments.items():
        segment = str(parts_of(file) / name)
        rows, taken = recover(batch, file=segment)
        if taken < len(batch):
            raise damage("a segment must hold whole rows", segment)
        for row_id, row in rows.items():
            if row_id in found:
                raise damage(f"repeats row {row_id!r}", segment)
            if row_id not in known:
                found[row_id] = row
    return found


def _segment(file: Path, number: int) -> Path:
    return parts_of(file) / f"{number:08}{SUFFIX}"


def _number(file: Path, name: str) -> int:
    digits = name.removesuffix(SUFFIX)
    if not digits.isdecimal():
        raise damage("is no segment of a journal", str(parts_of(file) / name))
    return int(digits)
