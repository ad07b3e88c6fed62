"""One environment for a node, built once, whoever is killed while it is being built."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.cluster import environment_node

SETUP = """#!/usr/bin/env bash
# Stands for scripts/setup: says that it was asked, waits until it may go on, and makes what is enough to be started.
set -eu
echo "$ASSAY_INSTALL $1 ${PYTHONPATH-unset}" >> "$TEST_FOLDER/builds"
echo > "$TEST_FOLDER/started"
read -r answer < "$TEST_FOLDER/gate"
[[ "$answer" == go ]] || exit 7
mkdir -p "$ASSAY_VENV/bin"
ln -s "$ASSAY_PYTHON" "$ASSAY_VENV/bin/python"
"""


@dataclass(frozen=True)
class Node:
    """A job's working folder and the cache of the node it was unpacked on."""

    root: Path
    test: Path

    def start(self, *words: str, **more: str) -> subprocess.Popen[str]:
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.test), "ASSAY_CACHE": str(self.test / "cache"),
            "TEST_FOLDER": str(self.test), "PYTHONPATH": str(self.root), **more,
        }  # fmt: skip
        return subprocess.Popen(
            [sys.executable, "-I", str(self.root / environment_node.LAUNCHER), *words],
            env=environment, cwd=self.root, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def until_building(self) -> None:
        with (self.test / "started").open() as pipe:
            pipe.readline()

    def answer(self, word: str) -> None:
        with (self.test / "gate").open("w") as pipe:
            pipe.write(f"{word}\n")

    @property
    def builds(self) -> list[str]:
        return (self.test / "builds").read_text().splitlines()


SAY = ("-c", "import os, sys; print('hello', os.environ['ASSAY_WORKER_PYTHON'], sys.executable)")


@pytest.fixture
def node(tmp_path: Path) -> Node:
    root, test = tmp_path / "work", tmp_path / "test"
    launcher = root / environment_node.LAUNCHER
    launcher.parent.mkdir(parents=True)
    shutil.copy(environment_node.__file__, launcher)
    (root / "scripts").mkdir()
    (root / "scripts" / "setup").write_text(SETUP)
    (root / "pyproject.toml").write_text("[project]\n")
    (root / "constraints.txt").write_text("ray==2.60.0\n")
    test.mkdir()
    os.mkfifo(test / "gate")
    os.mkfifo(test / "started")
    return Node(root, test)


def test_an_environment_is_built_once_and_then_used(node: Node) -> None:
    first = node.start(*SAY)
    node.until_building()
    node.answer("go")
    out, err = first.communicate(timeout=60)
    assert first.returncode == 0, err
    word, *worker, python = out.split()
    assert word == "hello"
    assert worker == ["python3", "-I", "core/cluster/environment_node.py"]
    assert python.startswith(str(node.test / "cache" / "environments"))
    assert "waiting for" in err
    assert node.builds == ["dependencies all unset"], "what Ray put on the path of Python is kept off installers"
    again = node.start(*SAY)
    assert again.communicate(timeout=60) == (out, "")
    assert len(node.builds) == 1


def test_many_at_once_build_once(node: Node) -> None:
    workers = [node.start(*SAY) for _ in range(4)]
    node.until_building()
    node.answer("go")
    assert {worker.communicate(timeout=60)[0].split()[0] for worker in workers} == {"hello"}
    assert len(node.builds) == 1


def test_a_build_outlives_the_worker_that_asked_for_it(node: Node) -> None:
    impatient = node.start(*SAY)
    node.until_building()
    impatient.send_signal(signal.SIGKILL)
    assert impatient.wait(timeout=60) == -signal.SIGKILL
    for pipe in (impatient.stdout, impatient.stderr):
        assert pipe is not None
        pipe.close()
    patient = node.start(*SAY)
    node.answer("go")
    assert patient.communicate(timeout=60)[0].startswith("hello")
    assert len(node.builds) == 1


def test_a_build_that_fails_is_told_and_may_be_tried_again_later(node: Node) -> None:
    first = node.start(*SAY)
    node.until_building()
    node.answer("no")
    _, err = first.communicate(timeout=60)
    assert first.returncode == 2
    assert "could not be built (exit code 7)" in err
    second = node.start(*SAY)
    node.until_building()
    node.answer("go")
    assert second.communicate(timeout=60)[0].startswith("hello")


def test_half_an_environment_is_none(node: Node) -> None:
    place = _place(node)
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").symlink_to(sys.executable)
    (place / "left-over").touch()
    worker = node.start(*SAY)
    node.until_building()
    node.answer("go")
    assert worker.communicate(timeout=60)[0].startswith("hello")
    assert not (place / "left-over").exists()


@pytest.mark.parametrize("change", ["pyproject.toml", "constraints.txt", "extras", "torch"])
def test_another_wish_is_another_environment(node: Node, change: str) -> None:
    before, more = _place(node), {}
    match change:
        case "extras":
            more = {"ASSAY_EXTRAS": "ray"}
        case "torch":
            more = {"UV_TORCH_BACKEND": "cpu"}
        case file:
            (node.root / file).write_text("# other\n")
    assert _place(node, **more) != before


def _place(node: Node, **more: str) -> Path:
    launcher = str(node.root / environment_node.LAUNCHER)
    code = f"import os, runpy; print(runpy.run_path({launcher!r})['place_of'](os.environ))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], env={"ASSAY_CACHE": str(node.test / "cache"), **more},
        text=True, capture_output=True, check=True,
    )  # fmt: skip
    return Path(done.stdout.strip())
