"""The command as it is typed: exit codes, words, JSON, and a driver killed at random points."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.model.frozen import seed_for

TOY = Path(__file__).with_name("toy_lab.py")
WORDS = [f"w{n:02}" for n in range(40)]


class Shell:
    """A working directory with configurations, in which `assay` is typed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "configs" / "trouble").mkdir(parents=True)
        (root / "configs" / "words.txt").write_text(" ".join(WORDS))
        self.config("it", "suites: [{name: a}, {name: b, factor: 2}]")

    def config(self, name: str, text: str) -> None:
        (self.root / "configs" / f"{name}.yaml").write_text(
            f"experiment: toy\nname: {name}\nruntime: {{pool: inline}}\n{text}\n"
        )

    def trouble(self, kind: str, text: str) -> None:
        (self.root / "configs" / "trouble" / kind).write_text(text)

    def heal(self) -> None:
        for file in (self.root / "configs" / "trouble").iterdir():
            file.unlink()

    def start(self, *words: str) -> subprocess.Popen[str]:
        names = ("PATH", "HOME", "PYTHONPATH")
        environment = {name: os.environ[name] for name in names if name in os.environ} | {"COLUMNS": "100"}
        return subprocess.Popen(
            [sys.executable, str(TOY), *words],
            cwd=self.root, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def type(self, *words: str) -> subprocess.CompletedProcess[str]:
        with self.start(*words) as process:
            out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def json(self, *words: str) -> Any:
        done = self.type(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def run_folder(self) -> Path:
        [folder] = (self.root / "results" / "toy").iterdir()
        return folder

    def rows(self) -> Counter[tuple[str, str]]:
        files = self.run_folder().glob("cells/*/samples.jsonl")
        return Counter((f.parent.name, json.loads(row)["id"]) for f in files for row in f.read_text().splitlines())

    def calls(self) -> Counter[str]:
        return Counter((self.root / "configs" / "calls.log").read_text().split())


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_help_lists_every_command(shell: Shell) -> None:
    done = shell.type("--help")
    assert done.returncode == 0
    assert all(name in done.stdout for name in ("run", "plan", "resume", "show", "list", "doctor", "avap", "parser"))


def test_the_version_is_the_packages_own(shell: Shell) -> None:
    assert shell.type("--version").stdout.strip() == importlib.metadata.version("assay-lab")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom experiments.__main__ import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'anthropic', 'grpc', 'numpy', 'sentence_transformers', 'matplotlib', 'pydantic', 'ray'}\n"
        "print('heavy:', sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "heavy: []\n"


def test_run_then_look_at_it_in_every_way(shell: Shell) -> None:
    planned = shell.json("plan", "it")
    assert (planned["rows"], planned["cells"], planned["usd"], planned["status"]) == (160, 4, 0.5, None)
    assert not (shell.root / "results").exists()
    assert not (shell.root / "configs" / "calls.log").exists()

    done = shell.type("run", "it")
    assert (done.returncode, "complete  160/160 rows  NON-BINDING" in done.stdout) == (0, True)
    assert "report.json" in done.stdout
    assert shell.json("plan", "it")["status"] == "complete"

    shown = shell.json("show", "latest")
    assert shown["outcome"]["rows"] == 160
    assert shown["binding_faults"]
    text = shell.type("show", planned["fingerprint"][:6]).stdout
    assert "not citable: EVAL_SEED is not set" in text

    [line] = shell.json("list")["runs"]
    assert (line["status"], line["exit_code"], line["binding"]) == ("complete", 0, False)
    assert "complete" in shell.type("list").stdout


def test_fresh_keeps_the_old_run(shell: Shell) -> None:
    shell.type("run", "it")
    done = shell.type("run", "it", "--fresh")
    assert done.returncode == 0
    assert ".before-1" in done.stderr
    assert set(shell.calls().values()) == {2}
    assert len(shell.json("list")["runs"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "itt"), "did you mean 'it'"),
        (("run", "it", "--set", "sed=1"), "did you mean 'seed'"),
        (("run", "it", "--set", "experiment=toi"), "did you mean 'toy'"),
        (("show", "gone"), "no run matches"),
        (("runn", "it"), "Did you mean 'run'"),
        (("run", "it", "--nope"), "No such option"),
    ],
)
def test_a_slip_of_the_hand_is_code_2_and_a_sentence(shell: Shell, words: tuple[str, ...], said: str) -> None:
    done = shell.type(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_bug_is_a_sentence_and_with_debug_a_traceback(shell: Shell) -> None:
    shell.trouble("bug", "a.run-01/w00")
    done = shell.type("run", "it")
    assert (done.returncode, "ZeroDivisionError: a bug" in done.stderr) == (3, True)
    assert "Traceback" not in done.stderr
    assert "Traceback" in shell.type("run", "it", "--debug").stderr


def test_dependency_down_then_resume(shell: Shell) -> None:
    shell.trouble("down", "b.run-02/w07")
    done = shell.type("run", "it")
    assert done.returncode == 5
    assert "AVAP Parser unreachable. MSVL cannot be bypassed." in done.stderr
    assert "start the parser; then: assay resume it-" in done.stderr
    assert not (shell.run_folder() / "report.json").exists()
    shell.heal()
    resumed = shell.type("resume", "latest")
    assert resumed.returncode == 0, resumed.stderr
    assert set(shell.rows().values()) == {1}
    assert len(shell.rows()) == 160


def test_budget_is_code_4_and_a_gate_code_1(shell: Shell) -> None:
    shell.trouble("budget", "a.run-01/w05")
    done = shell.type("run", "it")
    assert (done.returncode, "raise runtime.budget.usd" in done.stdout) == (4, True)
    assert "go on with: assay resume it-" in done.stdout
    assert shell.type("run", "it", "--set", "floor=99999999", "--set", "suites.0.name=c").returncode == 1


def test_resume_is_refused_when_the_data_changed(shell: Shell) -> None:
    shell.trouble("down", "b.run-02/w07")
    shell.type("run", "it")
    (shell.root / "configs" / "words.txt").write_text("other")
    done = shell.type("resume", "it")
    assert done.returncode == 2
    assert "these data files changed since it began: words.txt" in done.stderr


@contextlib.contextmanager
def under_way(shell: Shell, rows: int) -> Iterator[subprocess.Popen[str]]:
    """A driver that has made at least `rows` calls in all."""
    log = shell.root / "configs" / "calls.log"
    with shell.start("run", "slow") as process:
        while process.poll() is None and (not log.exists() or log.read_text().count("\n") < rows):
            pass
        yield process
        process.communicate()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The report of `slow` when nobody kills it."""
    shell = Shell(tmp_path_factory.mktemp("undisturbed"))
    shell.config("slow", "row_ms: 1\nsuites: [{name: a}, {name: b, factor: 2}]")
    assert shell.type("run", "slow").returncode == 0
    return (shell.run_folder() / "report.json").read_bytes()


@pytest.mark.parametrize("seed", range(4))
def test_kill_nine_loses_and_doubles_nothing(shell: Shell, undisturbed: bytes, seed: int) -> None:
    shell.config("slow", "row_ms: 1\nsuites: [{name: a}, {name: b, factor: 2}]")
    points = np.random.default_rng(seed_for(seed, "kill")).integers(1, 160, size=2)
    for point in sorted(points):
        with under_way(shell, int(point)) as process:
            process.send_signal(signal.SIGKILL)
    done = shell.type("run", "slow")
    assert done.returncode == 0, done.stderr
    rows = shell.rows()
    assert len(rows) == 160
    assert set(rows.values()) == {1}
    # Two cells at a time with one call each: no more can be in flight at each of the two kills.
    assert sum(shell.calls().values()) - 160 <= 2 * 2
    assert (shell.run_folder() / "report.json").read_bytes() == undisturbed


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_stopping_politely_says_how_to_go_on(shell: Shell, undisturbed: bytes, stop: signal.Signals) -> None:
    shell.config("slow", "row_ms: 1\nsuites: [{name: a}, {name: b, factor: 2}]")
    log = shell.root / "configs" / "calls.log"
    with shell.start("run", "slow") as process:
        while not log.exists():
            assert process.poll() is None
        process.send_signal(stop)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "go on with: assay resume slow-" in said
    assert shell.json("list")["runs"][0]["status"] == "interrupted"
    assert shell.type("resume", "slow").returncode == 0
    assert (shell.run_folder() / "report.json").read_bytes() == undisturbed
