"""Rows on an object store when something goes wrong between two requests, or another driver is at work."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from object_store import memory_prefix

from core import disk
from core.disk import objects
from core.errors import StoreError
from core.lab.journal import Journal
from core.lab.lines import recover
from core.lab.segments import SegmentTail, compact, content, parts_of


class Killed(BaseException):
    """The process ended before the request was sent."""


def rows(*ids: str) -> bytes:
    return "".join(f"{json.dumps({'id': row, 'text': row * 3})}\n" for row in ids).encode()


def ids(file: Path) -> list[str]:
    return list(recover(content(file))[0])


def put_segments(file: Path, *batches: bytes) -> None:
    for number, batch in enumerate(batches, start=1):
        disk.replace(parts_of(file) / f"{number:08}.jsonl", batch)


@pytest.fixture
def file() -> Iterator[Path]:
    with memory_prefix() as root:
        yield root / "cells" / "a" / "samples.jsonl"


class KilledAfter:
    """Lets a number of changing requests through, and dies at the next."""

    def __init__(self, requests: int) -> None:
        self._left = requests

    def guard(self, real: Any) -> Any:
        def guarded(*arguments: Any) -> Any:
            if not self._left:
                raise Killed
            self._left -= 1
            return real(*arguments)

        return guarded


@given(st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1), st.data())
def test_compaction_killed_anywhere_loses_nothing_and_can_be_done_again(names: list[str], data: st.DataObject) -> None:
    with memory_prefix() as root, pytest.MonkeyPatch.context() as patched:
        file = root / "samples.jsonl"
        put_segments(file, *(rows(name) for name in names))
        whole, killing = content(file), KilledAfter(data.draw(st.integers(0, len(names) + 1)))
        one_by_one = killing.guard(objects.remove)
        patched.setattr(objects, "put", killing.guard(objects.put))
        patched.setattr(objects, "remove", lambda files: [one_by_one([file]) for file in files])
        try:
            compact(file)
        except Killed:
            assert content(file) == whole
            assert list(SegmentTail(file).rows) == names
        patched.undo()
        compact(file)
        assert disk.read(file) == content(file) == whole
        assert list(disk.each(parts_of(file))) == []


class TestDamage:
    def test_a_missing_segment_is_told(self, file: Path) -> None:
        put_segments(file, rows("a"), rows("b"), rows("c"))
        disk.remove(parts_of(file) / "00000002.jsonl")
        with pytest.raises(StoreError, match="of the segments 1 to 3 only 2 are there"):
            content(file)

    @pytest.mark.parametrize("batch", [rows("b")[:-4], b"noise\n", rows("b") + b'{"id"'])
    def test_a_segment_holds_whole_rows_only(self, file: Path, batch: bytes) -> None:
        put_segments(file, rows("a"), batch)
        with pytest.raises(StoreError, match="00000002"):
            content(file)

    def test_a_row_twice_is_told(self, file: Path) -> None:
        put_segments(file, rows("a", "b"), rows("b"))
        with pytest.raises(StoreError, match="repeats row 'b'"):
            content(file)

    def test_a_stranger_among_the_segments_is_told(self, file: Path) -> None:
        disk.replace(parts_of(file) / "notes.jsonl", rows("a"))
        with pytest.raises(StoreError, match="no segment"):
            content(file)

    def test_the_file_outranks_a_segment_that_came_late(self, file: Path) -> None:
        disk.replace(file, rows("a", "b"))
        put_segments(file, rows("b").replace(b"bbb", b"other"))
        assert content(file) == rows("a", "b")
        assert ids(file) == ["a", "b"]


class TestTwoWriters:
    async def test_the_second_is_told_and_writes_nothing(self, file: Path) -> None:
        with Journal(file) as one, Journal(file) as other:
            await one.append("a", rows("a").decode().strip())
            with pytest.raises(StoreError, match="written by another driver"):
                await other.append("b", rows("b").decode().strip())
            with pytest.raises(StoreError, match="written by another driver"):
                await other.append("c", rows("c").decode().strip())
            await one.append("d", rows("d").decode().strip())
        assert ids(file) == ["a", "d"]

    def test_a_put_whose_reply_was_lost_is_known_as_our_own(self, file: Path) -> None:
        tail = SegmentTail(file)
        put_segments(file, rows("a"))
        tail.append(rows("a"))
        tail.append(rows("b"))
        assert ids(file) == ["a", "b"]

    async def test_a_lost_lock_stops_the_journal(self, file: Path) -> None:
        class Lost:
            def check(self) -> None:
                raise StoreError("this driver lost its lease")

        with Journal(file, Lost()) as journal, pytest.raises(StoreError, match="lost its lease"):
            await journal.append("a", rows("a").decode().strip())
        assert ids(file) == []
