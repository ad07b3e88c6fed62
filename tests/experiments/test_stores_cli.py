"""`assay` with its results on an S3-compatible server: run, killed, resumed, listed, shown, misconfigured."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from object_store import environment, fresh_prefix
from typed import Terminal

from core import disk
from core.disk import objects
from core.lab.store import RunFolder, find_run
from experiments.checkup import Level, results
from experiments.registry import EXPERIMENTS

TESTS = Path(__file__).parent


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    monkeypatch.setitem(EXPERIMENTS, "toy", "toy_lab:Toy")
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ASSAY_RESULTS", fresh_prefix())
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    return Terminal(tmp_path, capsys)


def the_run() -> RunFolder:
    return find_run(disk.location(os.environ["ASSAY_RESULTS"]), "it")


class TestRuns:
    def test_from_run_to_show(self, terminal: Terminal) -> None:
        assert "no runs" in terminal.type("list").out
        assert "not started" in terminal.type("plan", "it").out
        ran = terminal.type("run", "it", "--pool", "inline")
        assert ran.code == 0
        where = os.environ["ASSAY_RESULTS"]
        assert f"{where}/toy/it-" in ran.out
        assert terminal.type("show", "latest", "--json").json["outcome"]["status"] == "complete"
        assert "complete" in terminal.type("show", str(the_run().path)).out
        [line] = terminal.type("list", "--json").json["runs"]
        assert (line["status"], line["rows"]) == ("complete", 12)
        assert "complete" in terminal.type("run", "it", "--pool", "inline").out
        assert not list(terminal.root.glob("s3*"))
        assert not (terminal.root / "results").exists()

    def test_the_option_names_a_store_too(self, terminal: Terminal) -> None:
        other = fresh_prefix()
        ran = terminal.type("run", "it", "--pool", "inline", "--results", other)
        assert (ran.code, f"{other}/toy/it-" in ran.out) == (0, True)
        assert terminal.type("list", "--results", other, "--json").json["results"] == other

    def test_stopped_and_gone_on_with(self, terminal: Terminal) -> None:
        terminal.trouble("down", "b.run-02/two")
        stopped = terminal.type("run", "it", "--pool", "inline")
        assert stopped.code == 5
        assert "assay resume it-" in stopped.err
        terminal.heal()
        assert terminal.type("resume", "it").code == 0
        calls = (terminal.root / "configs" / "calls.log").read_text().split()
        assert calls.count("b.run-02/two") == 2
        assert len(calls) == 13

    def test_the_report_is_that_of_a_folder(self, terminal: Terminal) -> None:
        assert terminal.type("run", "it", "--pool", "inline").code == 0
        assert terminal.type("run", "it", "--pool", "inline", "--results", "here").code == 0
        for name in ("report.json", "cells/a.run-01/samples.jsonl", "cells/a.run-01/done.json", "config.yaml"):
            assert disk.read(the_run().path / name) == (terminal.folder("here") / name).read_bytes()

    def test_a_copy_of_a_folder_goes_on_in_a_store(self, terminal: Terminal) -> None:
        terminal.trouble("down", "b.run-01/two")
        assert terminal.type("run", "it", "--pool", "inline", "--results", "here").code == 5
        terminal.heal()
        root, copied = disk.location(os.environ["ASSAY_RESULTS"]), 0
        for file in sorted((terminal.root / "here").rglob("*")):
            if file.is_file():
                disk.replace(root / file.relative_to(terminal.root / "here").as_posix(), file.read_bytes())
                copied += 1
        assert copied > 3
        assert terminal.type("resume", "it").code == 0
        calls = (terminal.root / "configs" / "calls.log").read_text().split()
        assert len(calls) == 13

    def test_fresh_keeps_the_run_before(self, terminal: Terminal) -> None:
        terminal.type("run", "it", "--pool", "inline")
        again = terminal.type("run", "it", "--pool", "inline", "--fresh")
        assert again.code == 0
        assert ".before-1" in again.err
        assert len(terminal.type("list", "--json").json["runs"]) == 2

    def test_another_driver_is_named(self, terminal: Terminal) -> None:
        terminal.type("run", "it", "--pool", "inline")
        with the_run().driven():
            assert terminal.type("show", "it", "--json").json["status"] == "running"
            said = terminal.type("run", "it", "--pool", "inline")
        assert said.code == 3
        assert f"another process (pid {os.getpid()} on " in said.err


@pytest.fixture
def driver(terminal: Terminal) -> Iterator[subprocess.Popen[bytes]]:
    """A driver of its own process, slow enough to be killed among its rows."""
    command = [sys.executable, str(TESTS / "toy_lab.py"), "run", "it", "--pool", "inline", "--set", "runtime.cells=2"]
    child = subprocess.Popen(
        [*command, "--set", "row_ms=20", "--set", "runs=6"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent.parent)])},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with child:
        yield child
        child.kill()


class TestSigkill:
    def test_no_acknowledged_row_is_lost_and_none_is_doubled(
        self, terminal: Terminal, driver: subprocess.Popen[bytes]
    ) -> None:
        while len(disk_calls(terminal)) < 13:
            assert driver.poll() is None, driver.stderr.read() if driver.stderr else ""
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        # A row is asked for once the one before it in its cell is acknowledged; two cells run at a time.
        calls = disk_calls(terminal)
        run = the_run()
        durable = {f"{cell.name}/{row}" for cell in disk.folders(run.path / "cells") for row in run.rows(cell.name)}
        assert set(calls) - durable <= set(calls[-4:])
        assert len(set(calls) - durable) <= 2
        assert terminal.type("show", "it", "--json").json["status"] == "interrupted"

        assert terminal.type("resume", "it").code == 0
        again = disk_calls(terminal)[len(calls) :]
        assert not set(again) & durable
        assert len(durable) + len(again) == 6 * 2 * 3
        report = json.loads(disk.read(run.path / "report.json") or b"")
        assert terminal.type("run", "it", "--pool", "inline", "--set", "row_ms=20", "--set", "runs=6",
                             "--results", "undisturbed").code == 0  # fmt: skip
        assert report == json.loads((terminal.folder("undisturbed") / "report.json").read_bytes())


def disk_calls(terminal: Terminal) -> list[str]:
    log = terminal.root / "configs" / "calls.log"
    return log.read_text().split() if log.exists() else []


class TestMisconfigured:
    def fails(self, *words: str, **variables: str | None) -> str:
        """What a new process says, which must leave with 2."""
        environment_of_it = {**os.environ, **{name: value for name, value in variables.items() if value is not None}}
        for name, value in variables.items():
            if value is None:
                environment_of_it.pop(name, None)
        done = subprocess.run(
            [sys.executable, "-m", "experiments", *words], env=environment_of_it, capture_output=True, text=True,
            check=False, timeout=60, cwd=TESTS.parent.parent,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (2, ""), done
        return done.stderr

    def test_no_such_bucket(self, terminal: Terminal) -> None:
        said = self.fails("list", "--results", "s3://nowhere/prefix")
        assert "there is no such bucket" in said
        assert "make the bucket" in said

    def test_no_credentials(self, terminal: Terminal, tmp_path: Path) -> None:
        said = self.fails("list", AWS_ACCESS_KEY_ID=None, AWS_SECRET_ACCESS_KEY=None, HOME=str(tmp_path))
        assert "no valid credentials" in said
        assert "AWS_ACCESS_KEY_ID" in said

    @pytest.mark.parametrize("place", ["ftp://host/folder", "s3://", "s3:///", "http://bucket/x"])
    def test_no_place_at_all(self, terminal: Terminal, place: str) -> None:
        assert "s3://BUCKET/PREFIX" in self.fails("list", ASSAY_RESULTS=place)

    @pytest.mark.parametrize(("place", "extra"), [("s3://b/p", "s3"), ("gs://b/p", "gcs")])
    def test_a_missing_extra_is_named(
        self, terminal: Terminal, monkeypatch: pytest.MonkeyPatch, place: str, extra: str
    ) -> None:
        for client in ("s3fs", "gcsfs", "upath"):
            monkeypatch.setitem(sys.modules, client, None)
        said = terminal.type("list", "--results", place)
        assert said.code == 2
        assert f"pip install 'assay-lab[{extra}]'" in said.err


def test_a_folder_needs_none_of_it(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from experiments.places import results_root\n"
        "from core.lab.store import runs\n"
        "assert runs(results_root()) == ()\n"
        "print([name for name in ('fsspec', 'upath', 's3fs', 'botocore') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "ASSAY_RESULTS": str(tmp_path)},
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout.strip() == "[]"


class TestDoctor:
    def test_a_store_is_tried_and_left_as_it_was(self, terminal: Terminal) -> None:
        [found] = results()
        assert (found.check, found.level, found.detail) == ("results", Level.OK, os.environ["ASSAY_RESULTS"])
        assert list(disk.each(disk.location(os.environ["ASSAY_RESULTS"]))) == []

    def test_a_store_that_overwrites_is_refused(self, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(objects, "create", objects.put)
        [found] = results()
        assert found.level is Level.FAIL
        assert "If-None-Match" in found.fix

    @pytest.mark.parametrize("place", ["s3://nowhere/x", "ftp://host/x"])
    def test_a_place_that_cannot_be_used_is_told(
        self, terminal: Terminal, monkeypatch: pytest.MonkeyPatch, place: str
    ) -> None:
        monkeypatch.setenv("ASSAY_RESULTS", place)
        [found] = results()
        assert found.level is Level.FAIL
        assert found.fix
