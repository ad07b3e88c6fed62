"""A results root that is full, hangs or goes away under a run: said, never waited for, nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core import disk
from core.adapters.clock import SystemClock
from core.adapters.record import recorder
from core.errors import ConfigError, StoreError
from core.lab.journal import Journal
from core.lab.lines import recover
from core.lab.lock import is_driven, only_driver

TESTS = Path(__file__).parent
LONG = 1500
"""Characters of a row's id, so that few rows fill a small disk."""


class Bench:
    """A configs root with long words, and `assay` as a process of its own."""

    def __init__(self, root: Path, results: Path, words: int = 30) -> None:
        self.configs, self.results = root / "configs", results
        (self.configs / "trouble").mkdir(parents=True)
        (self.configs / "words.txt").write_text(" ".join(f"{n:0{LONG}}" for n in range(words)))
        (self.configs / "it.yaml").write_text("experiment: toy\nname: it\nsuites: [{name: a}, {name: b}]\n")

    def start(self, *words: str, before: str = "") -> subprocess.Popen[str]:
        python = [sys.executable, str(TESTS / "toy_lab.py"), *words]
        command = ["bash", "-c", f'{before}; exec "$@"', "bash", *python] if before else python
        paths = os.pathsep.join([str(TESTS), str(TESTS.parent.parent)])
        return subprocess.Popen(
            command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths, "ASSAY_RESULTS": str(self.results),
                 "ASSAY_CONFIGS": str(self.configs), "COLUMNS": "200"},
        )  # fmt: skip

    def type(self, *words: str, before: str = "") -> tuple[int, str]:
        """Exit code and what went to stderr."""
        with self.start(*words, before=before) as child:
            _, said = child.communicate(timeout=60)
        return child.returncode, said

    def run(self, *words: str, before: str = "") -> tuple[int, str]:
        return self.type("run", "it", "--pool", "inline", *words, before=before)

    def calls(self) -> list[str]:
        log = self.configs / "calls.log"
        return log.read_text().split() if log.exists() else []

    def folder(self) -> Path:
        [found] = (self.results / "toy").iterdir()
        return found

    def rows(self) -> dict[str, list[str]]:
        files = sorted(self.folder().glob("cells/*/samples.jsonl"))
        return {file.parent.name: list(recover(file.read_bytes())[0]) for file in files}


def mounted(folder: Path, options: str) -> bool:
    folder.mkdir()
    with contextlib.suppress(OSError):
        return not subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)],
                                  capture_output=True, check=False).returncode  # fmt: skip
    return False


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 128 KiB."""
    folder = tmp_path / "disk"
    if not mounted(folder, "size=128k"):
        pytest.skip("mounting a tmpfs needs rights that this process does not have")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)


class TestFull:
    def goes_on(self, bench: Bench, before: int) -> None:
        kept = bench.rows()
        assert 5 < sum(map(len, kept.values())) < 120
        assert bench.type("resume", "it")[0] == 0
        again = bench.calls()[before:]
        assert len(again) == 120 - sum(map(len, kept.values()))
        assert not {f"{cell}/{row}" for cell, rows in kept.items() for row in rows} & set(again)
        assert {cell: len(rows) for cell, rows in bench.rows().items()} == dict.fromkeys(bench.rows(), 30)

    def test_a_full_disk(self, tmp_path: Path, small_disk: Path) -> None:
        bench = Bench(tmp_path, small_disk)
        code, said = bench.run()
        assert code == 3
        assert "No space left on device" in said
        assert "free some space" in said
        assert not list(small_disk.rglob("*.part"))
        subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
        self.goes_on(bench, len(bench.calls()))

    def test_a_file_that_may_not_grow(self, tmp_path: Path) -> None:
        bench, log = Bench(tmp_path, tmp_path / "results"), tmp_path / "configs" / "calls.log"
        # The limit holds for every file, and this one is the test's own.
        log.symlink_to(os.devnull)
        code, said = bench.run(before="ulimit -f 32")
        log.unlink()
        assert code == 3
        assert "File too large" in said
        assert "ulimit -f" in said
        self.goes_on(bench, len(bench.calls()))


class TestGone:
    def disturbed(self, bench: Bench, disturb: Callable[[], object]) -> str:
        """What a driver says whose results root changes under it once it has a few rows. It must leave with 3."""
        with bench.start("run", "it", "--pool", "inline", "--set", "row_ms=20", "--set", "runtime.cells=2") as child:
            while len(bench.calls()) < 8:
                assert child.poll() is None, child.communicate()
            disturb()
            _, said = child.communicate(timeout=60)
        assert child.returncode == 3, said
        assert "vanished while it was in use" in said
        assert "restore" in said
        return said

    def test_a_folder_that_is_moved_away_and_back(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path, tmp_path / "results")
        self.disturbed(bench, lambda: (tmp_path / "results").rename(tmp_path / "elsewhere"))
        assert not (tmp_path / "results").exists()
        (tmp_path / "elsewhere").rename(tmp_path / "results")
        kept = {f"{cell}/{row}" for cell, rows in bench.rows().items() for row in rows}
        # Rows are asked for one after another in each of two cells: all but the last of a cell were acknowledged.
        before = bench.calls()
        assert len(set(before) - kept) <= 2
        assert bench.type("resume", "it")[0] == 0
        assert not kept & set(bench.calls()[len(before) :])

    def test_a_disk_that_is_unmounted(self, tmp_path: Path, small_disk: Path) -> None:
        subprocess.run(["mount", "-o", "remount,size=4m", str(small_disk)], check=True)
        bench = Bench(tmp_path, small_disk)
        self.disturbed(bench, lambda: subprocess.run(["umount", "-l", str(small_disk)], check=True))
        assert list(small_disk.iterdir()) == []

    def test_recordings_do_not_bring_a_run_folder_back(self, tmp_path: Path) -> None:
        async def opened() -> None:
            async with recorder(tmp_path / "run" / "recordings" / "x", SystemClock(), below=tmp_path / "run"):
                pass

        with pytest.raises(StoreError, match="No such file"):
            asyncio.run(opened())
        assert list(tmp_path.iterdir()) == []


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_RESULTS_DEADLINE_S", "0.2")


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A disk whose syncs do not come back before the test is over."""
    over, sync = threading.Event(), os.fsync

    def hangs(descriptor: int) -> None:
        over.wait()
        with contextlib.suppress(OSError):
            sync(descriptor)

    monkeypatch.setattr(os, "fsync", hangs)
    yield
    over.set()


@pytest.mark.usefixtures("impatient")
class TestHanging:
    @pytest.mark.usefixtures("hanging")
    def test_writing_ends_at_the_deadline(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match=r"did not answer within 0\.2 s") as caught:
            disk.replace(tmp_path / "file", b"")
        assert "ASSAY_RESULTS_DEADLINE_S" in caught.value.remedy
        assert not (tmp_path / "file").exists()
        with pytest.raises(StoreError, match="did not answer"):
            disk.make_folder(tmp_path / "folder")

    @pytest.mark.usefixtures("hanging")
    def test_no_other_driver_is_let_in_while_a_write_may_still_happen(self, tmp_path: Path) -> None:
        with only_driver(tmp_path / "lock"), pytest.raises(StoreError, match="did not answer"):
            disk.replace(tmp_path / "file", b"")
        assert is_driven(tmp_path / "lock")

    async def test_a_row_that_cannot_be_synced_is_not_acknowledged(
        self, tmp_path: Path, request: pytest.FixtureRequest
    ) -> None:
        with Journal(tmp_path / "j") as journal:
            await journal.append("a", '{"id": "a"}')
            request.getfixturevalue("hanging")
            with pytest.raises(StoreError, match="did not answer"):
                await journal.append("b", '{"id": "b"}')
            with pytest.raises(StoreError, match="did not answer"):
                await journal.append("c", '{"id": "c"}')
        assert list(recover((tmp_path / "j").read_bytes())[0])[:1] == ["a"]

    def test_a_run_whose_rows_cannot_be_read_ends_with_its_process(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path, tmp_path / "results", words=3)
        assert bench.run()[0] == 0
        samples = bench.folder() / "cells" / "a.run-01" / "samples.jsonl"
        samples.unlink()
        # Reading a pipe that nobody writes to blocks as a dead mount does, and needs no rights.
        os.mkfifo(samples)
        (bench.folder() / "report.json").unlink()
        code, said = bench.run()
        assert code == 3
        assert "samples.jsonl: the storage did not answer within 0.2 s" in said
        assert bench.type("list")[0] == 0

    def test_a_record_that_cannot_be_read_holds_no_list_up(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path, tmp_path / "results", words=3)
        assert bench.run()[0] == 0
        (bench.folder() / "record.json").unlink()
        os.mkfifo(bench.folder() / "record.json")
        with bench.start("list", "--json") as child:
            out, _ = child.communicate(timeout=60)
        [line] = json.loads(out)["runs"]
        assert "did not answer within 0.2 s" in line["fault"]


@pytest.mark.parametrize("text", ["soon", "0", "-1", "inf", "nan"])
def test_the_deadline_is_a_number_of_seconds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    monkeypatch.setenv("ASSAY_RESULTS_DEADLINE_S", text)
    with pytest.raises(ConfigError, match="is no number of seconds"):
        disk.replace(tmp_path / "file", b"")
