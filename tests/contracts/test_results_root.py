"""What every kind of results root promises: a folder, an object store in memory, and an S3 server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from object_store import environment, memory_prefix, s3_prefix

from core import disk
from core.errors import ConfigError, StoreError
from core.lab.journal import Journal
from core.lab.lock import is_driven, only_driver
from core.lab.store import RunFolder, find_run, run_folder, runs


def line(row_id: str, text: str = "") -> str:
    return json.dumps({"id": row_id, "text": text}, ensure_ascii=False)


@pytest.fixture(params=["folder", "memory", "s3"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    if request.param == "folder":
        yield tmp_path
    elif request.param == "memory":
        with memory_prefix() as place:
            yield place
    else:
        for name, value in environment().items():
            monkeypatch.setenv(name, value)
        yield s3_prefix()


@pytest.fixture
def run(root: Path) -> RunFolder:
    return run_folder(root, "toy", "it", "a" * 64)


class TestFiles:
    def test_whole_or_absent(self, root: Path) -> None:
        file = root / "deep" / "er" / "file"
        assert disk.read(file) is None
        assert not disk.is_file(file)
        disk.make_folder(file.parent)
        disk.replace(file, b"1")
        disk.replace(file, b"")
        disk.replace(file, b"\x00\xff" * 1000)
        assert disk.read(file) == b"\x00\xff" * 1000
        assert disk.is_file(file)
        assert [name for name, _ in disk.each(file.parent)] == ["file"]
        disk.remove(file)
        disk.remove(file)
        assert disk.read(file) is None

    def test_names_are_told_by_folder_and_ending(self, root: Path) -> None:
        for folder, name in (("a", "2.json"), ("a", "1.json"), ("a", "x.txt"), ("b", "3.json")):
            disk.make_folder(root / folder)
            disk.replace(root / folder / name, name.encode())
        assert list(disk.each(root / "a", ".json")) == [("1.json", b"1.json"), ("2.json", b"2.json")]
        assert list(disk.folders(root)) == [root / "a", root / "b"]
        assert list(disk.each(root / "none")) == []
        assert list(disk.folders(root / "none")) == []
        assert disk.dated(root, 2, ["1.json", "3.json"]).keys() == {root / "a" / "1.json", root / "b" / "3.json"}
        assert disk.dated(root, 1, ["1.json"]) == {}
        assert all(moment > 1e18 for moment in disk.dated(root, 2, ["1.json"]).values())


class TestJournal:
    async def test_rows_are_durable_when_acknowledged_and_in_order(self, run: RunFolder) -> None:
        with run.driven(), run.journal("cell") as journal:
            await journal.append("a", line("a"))
            assert run.rows("cell") == {"a": line("a")}
            await asyncio.gather(*(journal.append(str(n), line(str(n), "ñ")) for n in range(60)))
            assert list(run.rows("cell")) == ["a", *(str(n) for n in range(60))]

    async def test_what_waits_goes_together(self, root: Path, run: RunFolder) -> None:
        with run.driven(), run.journal("cell") as journal:
            await asyncio.gather(*(journal.append(str(n), line(str(n))) for n in range(200)))
        written = [name for name, _ in disk.each(run.path / "cells" / "cell" / "samples.parts")]
        assert len(written) < 100
        assert bool(written) == disk.is_object(root)

    async def test_duplicates_are_refused_before_and_after_reopening(self, run: RunFolder) -> None:
        with run.driven():
            with run.journal("cell") as journal:
                await journal.append("a", line("a"))
                with pytest.raises(StoreError, match="there already"):
                    await journal.append("a", line("a"))
            with run.journal("cell") as journal:
                assert journal.rows == {"a": line("a")}
                with pytest.raises(StoreError, match="there already"):
                    await journal.append("a", line("a"))
                await journal.append("b", line("b"))
            assert list(run.rows("cell")) == ["a", "b"]

    async def test_a_cancelled_waiter_leaves_whole_rows(self, run: RunFolder) -> None:
        with run.driven():
            with run.journal("cell") as journal:
                tasks = [asyncio.create_task(journal.append(str(n), line(str(n)))) for n in range(50)]
                await asyncio.sleep(0)  # noqa: TID251 - one turn of the loop, so that the writes are under way
                for task in tasks[::2]:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            assert {str(n) for n in range(1, 50, 2)} <= run.rows("cell").keys()

    async def test_a_file_from_elsewhere_goes_on_wherever_it_was_torn(self, root: Path) -> None:
        disk.replace(root / "samples.jsonl", f"{line('a')}\n{line('b')}\n{line('c')[:-3]}".encode())
        with Journal(root / "samples.jsonl") as journal:
            assert list(journal.rows) == ["a", "b"]
            await journal.append("c", line("c"))
        with Journal(root / "samples.jsonl") as journal:
            assert list(journal.rows) == ["a", "b", "c"]

    async def test_done_is_one_file_that_may_not_change(self, run: RunFolder) -> None:
        samples = run.path / "cells" / "cell" / "samples.jsonl"
        with run.driven():
            with run.journal("cell") as journal:
                for row in "abc":
                    await journal.append(row, line(row))
            assert not run.is_done("cell")
            run.mark_done("cell")
            run.mark_done("cell")
        assert run.is_done("cell")
        assert disk.read(samples) == "".join(f"{line(row)}\n" for row in "abc").encode()
        assert list(disk.folders(samples.parent)) == []
        disk.replace(samples, f"{line('a')}\n".encode())
        with pytest.raises(StoreError, match="is not what it was"):
            run.is_done("cell")


class TestLock:
    def test_one_driver_and_free_again(self, root: Path) -> None:
        lock = root / "lock"
        assert not is_driven(lock)
        for _ in range(3):
            with only_driver(lock) as held:
                held.check()
                assert is_driven(lock)
                with pytest.raises(StoreError, match=r"another process .*pid "), only_driver(lock):
                    pass
            assert not is_driven(lock)

    def test_a_folder_that_is_taken_away_is_lost(self, run: RunFolder) -> None:
        with run.driven():
            run.write("config.yaml", b"")
            disk.move(run.path, run.path.with_name("elsewhere"), leaving="")
            if disk.is_object(run.path):
                run._held.renew()  # type: ignore[union-attr]
            with pytest.raises(StoreError):
                run.write("record.json", b"")
            with pytest.raises(StoreError):
                run.journal("cell")
        assert not disk.is_file(run.path / "record.json")


class TestRuns:
    def test_found_by_place_name_fingerprint_and_latest(self, root: Path) -> None:
        first, second = (run_folder(root, "toy", name, digit * 64) for name, digit in (("one", "a"), ("two", "b")))
        for folder in (first, second):
            with folder.driven():
                folder.write("config.yaml", b"")
        for wanted in (str(first.path), "toy/one-aaaaaaaaaaaa", "one-aaaaaaaaaaaa", "one", "aaaa"):
            if "memory:" not in wanted:
                assert find_run(root, wanted).path == first.path
        assert {run.path for run in runs(root)} == {first.path, second.path}
        with pytest.raises(ConfigError, match="no run matches"):
            find_run(root, "three")
        assert runs(root / "empty") == ()

    async def test_set_aside_keeps_everything(self, run: RunFolder) -> None:
        assert run.set_aside() is None
        kept = []
        for _ in range(2):
            with run.driven():
                run.write("config.yaml", b"x")
                with run.journal("cell") as journal:
                    await journal.append("a", line("a"))
            kept.append(run.set_aside())
            assert run.set_aside() is None
            assert disk.read(run.path / "config.yaml") is None
        assert [path and path.name for path in kept] == [f"{run.path.name}.before-{n}" for n in (1, 2)]
        for path in kept:
            assert path is not None
            assert RunFolder(path).rows("cell") == {"a": line("a")}
            assert disk.read(path / "config.yaml") == b"x"

    def test_logs_are_local_while_they_grow_and_with_the_run_afterwards(self, run: RunFolder, tmp_path: Path) -> None:
        with run.driven(), run.logging(tmp_path / "cache") as logs:
            assert isinstance(logs, Path)
            logs.mkdir(parents=True)
            (logs / "parser.log").write_bytes(b"said")
        assert disk.read(run.path / "logs" / "parser.log") == b"said"
