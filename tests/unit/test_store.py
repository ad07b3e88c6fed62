"""The journal and the run folder under interruption, damage and a full disk."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.disk import replace
from core.errors import ConfigError, StoreError
from core.lab.journal import Journal
from core.lab.lines import recover
from core.lab.lock import is_driven, only_driver
from core.lab.outcome import Status
from core.lab.store import RunFolder, find_run, run_folder, runs

texts = st.text(st.characters(codec="utf-8"), max_size=20)
rows = st.dictionaries(texts.filter(bool), texts, max_size=6)


def line(row_id: str, text: str = "") -> str:
    return json.dumps({"id": row_id, "text": text}, ensure_ascii=False)


def journal_of(content: dict[str, str]) -> bytes:
    return "".join(f"{line(row, text)}\n" for row, text in content.items()).encode()


class TestRecovery:
    @given(rows, st.data())
    def test_any_prefix_holds_exactly_its_whole_rows(self, content: dict[str, str], data: st.DataObject) -> None:
        whole = journal_of(content)
        cut = whole[: data.draw(st.integers(0, len(whole)))]
        found, taken = recover(cut)
        ends = [len(journal_of(dict(list(content.items())[:n]))) for n in range(len(content) + 1)]
        # The newline alone may be missing: the row before it is whole all the same.
        expected = sum(end - 1 <= len(cut) for end in ends[1:])
        assert list(found) == list(content)[:expected]
        assert taken in {ends[expected], ends[expected] - 1}

    @given(rows, st.binary(max_size=30))
    def test_noise_at_the_end_costs_no_row(self, content: dict[str, str], noise: bytes) -> None:
        try:
            extra = recover(noise)[0].keys()
        except StoreError:
            return
        if not extra:
            assert list(recover(journal_of(content) + noise)[0]) == list(content)

    def test_damage_before_whole_rows_is_never_passed_over(self) -> None:
        content = journal_of({"a": "", "b": "", "c": ""}).replace(b'{"id": "b"', b'{"id": XXX')
        with pytest.raises(StoreError) as caught:
            recover(content, file="samples.jsonl")
        assert (caught.value.file, caught.value.line) == ("samples.jsonl", 2)
        assert caught.value.remedy

    def test_one_id_twice_is_damage(self) -> None:
        with pytest.raises(StoreError, match="repeats row 'a'"):
            recover(journal_of({"a": "1"}) + journal_of({"a": "2"}))

    def test_zeros_after_a_power_loss(self) -> None:
        assert list(recover(journal_of({"a": "1"}) + bytes(512))[0]) == ["a"]


class TestJournal:
    @given(rows, st.integers(0, 400))
    def test_append_after_recovery(self, content: dict[str, str], length: int) -> None:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "samples.jsonl"
            file.write_bytes(journal_of(content)[:length])
            kept = list(recover(file.read_bytes())[0])
            asyncio.run(self._append(file, "new"))
            assert list(recover(file.read_bytes())[0]) == [*kept, "new"]
            assert file.read_bytes().endswith(b"\n")

    @staticmethod
    async def _append(file: Path, row_id: str) -> None:
        with Journal(file) as journal:
            if row_id not in journal.rows:
                await journal.append(row_id, line(row_id))

    async def test_rows_of_one_turn_are_all_there_and_in_order(self, tmp_path: Path) -> None:
        with Journal(tmp_path / "j") as journal:
            await asyncio.gather(*(journal.append(str(n), line(str(n))) for n in range(200)))
            assert list(recover((tmp_path / "j").read_bytes())[0]) == [str(n) for n in range(200)]

    async def test_a_row_is_on_disk_when_acknowledged(self, tmp_path: Path) -> None:
        with Journal(tmp_path / "j") as journal:
            await journal.append("a", line("a"))
            assert (tmp_path / "j").read_text() == f"{line('a')}\n"

    async def test_duplicates_are_refused_before_and_after_reopening(self, tmp_path: Path) -> None:
        with Journal(tmp_path / "j") as journal:
            await journal.append("a", line("a"))
            with pytest.raises(StoreError, match="there already"):
                await journal.append("a", line("a", "other"))
        with Journal(tmp_path / "j") as journal:
            assert journal.rows == {"a": line("a")}
            with pytest.raises(StoreError, match="there already"):
                await journal.append("a", line("a"))

    @pytest.mark.parametrize("text", ['{"id": "b"}', '{"id": "a"}\n', "a", "[]", '{"id": 1}', '{"id": "a"'])
    async def test_what_is_no_row_is_refused(self, tmp_path: Path, text: str) -> None:
        with Journal(tmp_path / "j") as journal:
            with pytest.raises(StoreError, match="not one line"):
                await journal.append("a", text)
            await journal.append("a", line("a"))

    async def test_a_cancelled_waiter_leaves_a_whole_file(self, tmp_path: Path) -> None:
        with Journal(tmp_path / "j") as journal:
            tasks = [asyncio.create_task(journal.append(str(n), line(str(n)))) for n in range(50)]
            await asyncio.sleep(0)  # noqa: TID251 - one turn of the loop, so that the writes are under way
            for task in tasks[::2]:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        assert {str(n) for n in range(1, 50, 2)} <= recover((tmp_path / "j").read_bytes())[0].keys()


FULL_DISK = """
import asyncio, json, resource, signal, sys
from pathlib import Path
from core.errors import StoreError
from core.lab.journal import Journal
from core.lab.lines import recover

async def main(file):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    acknowledged = []
    with Journal(file) as journal:
        try:
            for n in range(100):
                await journal.append(str(n), json.dumps({"id": str(n), "text": "x" * 70}))
                acknowledged.append(str(n))
        except StoreError as error:
            assert error.remedy, error
            try:
                await journal.append("small", '{"id": "small"}')
            except StoreError:
                print("refused again")
    assert list(recover(file.read_bytes())[0]) == acknowledged, acknowledged
    assert file.read_bytes().endswith(b"\\n")
    print(len(acknowledged))

asyncio.run(main(Path(sys.argv[1])))
"""


def test_a_full_disk_keeps_exactly_what_was_acknowledged(tmp_path: Path) -> None:
    file = tmp_path / "samples.jsonl"
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(file)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split("\n")[0], done.stderr) == (0, "refused again", "")
    assert 5 < int(done.stdout.split()[-1]) < 15


class TestReplace:
    def test_leaves_nothing_beside_it(self, tmp_path: Path) -> None:
        replace(tmp_path / "f", b"1")
        replace(tmp_path / "f", b"2")
        assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("f", b"2")]

    def test_failure_leaves_the_old(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        replace(tmp_path / "f", b"old")

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(StoreError, match="No space left") as caught:
            replace(tmp_path / "f", b"new")
        assert "free some space" in caught.value.remedy
        assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("f", b"old")]

    def test_missing_folder(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError):
            replace(tmp_path / "no" / "f", b"")


class TestLock:
    def test_one_driver_and_free_again(self, tmp_path: Path) -> None:
        lock = tmp_path / "lock"
        assert not is_driven(lock)
        with only_driver(lock):
            assert is_driven(lock)
            with pytest.raises(StoreError, match="pid "), only_driver(lock):
                pass
        assert not is_driven(lock)

    def test_a_full_disk_is_told_and_leaves_the_lock_free(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patched:
            patched.setattr(os, "pwrite", full)
            with pytest.raises(StoreError, match="No space left") as caught, only_driver(tmp_path / "lock"):
                pass
        assert "free some space" in caught.value.remedy
        assert not is_driven(tmp_path / "lock")

    def test_whoever_lists_the_runs_keeps_no_driver_out(self, tmp_path: Path) -> None:
        lock, stop = tmp_path / "lock", threading.Event()
        lock.touch()

        def look() -> None:
            while not stop.is_set():
                is_driven(lock)

        watching = threading.Thread(target=look)
        watching.start()
        try:
            for _ in range(400):
                with only_driver(lock):
                    pass
        finally:
            stop.set()
            watching.join()

    def test_the_lock_of_a_killed_driver_is_free(self, tmp_path: Path) -> None:
        code = (
            "import sys; from pathlib import Path; from core.lab.lock import only_driver\n"
            "with only_driver(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
        )
        holder = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "lock")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        with holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            assert is_driven(tmp_path / "lock")
            holder.kill()
            holder.wait()
        with only_driver(tmp_path / "lock"):
            assert is_driven(tmp_path / "lock")


class TestRunFolder:
    def test_what_is_absent_is_none_and_what_is_broken_is_an_error(self, tmp_path: Path) -> None:
        folder = RunFolder(tmp_path)
        assert (folder.record, folder.outcome, folder.status) == (None, None, Status.INTERRUPTED)
        (tmp_path / "outcome.json").write_text('{"status": "complete"')
        with pytest.raises(StoreError) as caught:
            _ = folder.outcome
        assert caught.value.file.endswith("outcome.json")

    def test_found_by_folder_name_fingerprint_and_latest(self, tmp_path: Path) -> None:
        first, second = (run_folder(tmp_path, "toy", name, digit * 64) for name, digit in (("one", "a"), ("two", "b")))
        for folder in (first, second):
            with folder.driven():
                folder.write("config.yaml", b"")
        for wanted in (str(first.path), "toy/one-aaaaaaaaaaaa", "one-aaaaaaaaaaaa", "one", "aaaa"):
            assert find_run(tmp_path, wanted).path == first.path
        assert find_run(tmp_path, "latest").path == second.path
        assert [run.path for run in runs(tmp_path)] == [second.path, first.path]

    def test_ambiguous_and_unknown_are_told_apart(self, tmp_path: Path) -> None:
        for digit in "ab":
            with run_folder(tmp_path, "toy", "same", digit * 64).driven():
                run_folder(tmp_path, "toy", "same", digit * 64).write("config.yaml", b"")
        with pytest.raises(ConfigError, match="2 runs match"):
            find_run(tmp_path, "same")
        with pytest.raises(ConfigError, match="no run matches") as caught:
            find_run(tmp_path, "sane")
        assert "did you mean 'same'" in caught.value.remedy

    def test_nothing_is_latest_of_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="no run matches"):
            find_run(tmp_path, "latest")
