"""`assay submit` against a real head: the same run, the same report, the same exit codes as here."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ray_heads import RayHead

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

SMALL = {"questions": 4, "runs": 2, "index.embedder.model": "hash:256", "gates": "[]"}
DEADLINE_S = 200


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Shell:
    """`assay` typed on a laptop that has secrets in its environment."""

    folder: Path
    jobs: str
    checkout: Path | None = None
    """Where it is typed; None is the checkout under test."""

    def start(self, *words: str, **variables: str) -> subprocess.Popen[str]:
        environment = {
            **os.environ, "ASSAY_RESULTS": str(self.folder / "results"), "ASSAY_CACHE": str(self.folder / "cache"),
            "ANTHROPIC_API_KEY": SECRET, "WANDB_API_KEY": SECRET, **variables,
        }  # fmt: skip
        return subprocess.Popen(
            [sys.executable, "-m", "experiments", *words],
            env=environment, cwd=self.checkout, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def type(self, *words: str, **variables: str) -> Said:
        process = self.start(*words, **variables)
        out, err = process.communicate(timeout=DEADLINE_S)
        return Said(process.returncode, out, err)

    def submit(self, *words: str, **variables: str) -> Said:
        return self.type("submit", *words, "--address", self.jobs, **variables)


SECRET = "sk-ant-of-the-laptop"


def settings(**more: Any) -> list[str]:
    return [word for key, value in {**SMALL, **more}.items() for word in ("--set", f"{key}={value}")]


def report(results: Path) -> dict[str, Any]:
    """The report of the only run below `results`, without its timing."""
    [file] = results.glob("msvl/*/report.json")
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    found.pop("timing")
    return found


def record(results: Path) -> dict[str, Any]:
    [file] = results.glob("msvl/*/record.json")
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found


@pytest.fixture
def shell(tmp_path: Path, ray_head: RayHead) -> Shell:
    return Shell(tmp_path, ray_head.jobs)


def job_ids(said: str) -> Sequence[str]:
    return [word.rstrip(":") for word in said.split() if word.startswith("assay-msvl-")]


def test_the_main_job_ends_there_as_it_ends_here(shell: Shell, tmp_path: Path) -> None:
    far, seed = tmp_path / "far", "20260406"
    here = shell.type("run", "msvl", "--pool", "inline", *settings(), EVAL_SEED=seed)
    assert here.returncode == 0, here.stderr
    left = shell.submit("msvl", *settings(), "--results", str(far), "--no-wait", EVAL_SEED=seed)
    assert left.returncode == 0, left.stderr
    [job] = set(job_ids(left.stderr))
    assert f"assay submit --logs {job} --address {shell.jobs}" in left.stderr
    there = shell.submit("--logs", job)
    assert there.returncode == 0, there.stdout + there.stderr
    assert report(far) == report(tmp_path / "results")
    known, laptop = record(far), record(tmp_path / "results")
    assert known["fingerprint"] == laptop["fingerprint"]
    for field in ("commit", "assay_version", "packages", "eval_seed"):
        assert known["provenance"][field] == laptop["provenance"][field]
    assert known["provenance"]["argv"][1:3] == ["run", "submission/config.yaml"]
    assert_no_secret(shell, job, there.stdout)

    again = shell.submit("msvl", *settings(), "--results", str(far))
    assert again.returncode == 0
    assert set(job_ids(again.stderr)) == {f"{job.removesuffix('-1')}-2"}, "the name of a finished job is not used again"
    assert "complete" in again.stdout


def assert_no_secret(shell: Shell, job: str, log: str) -> None:
    """What anybody may read of `job` holds nothing of the laptop's environment but the seed."""
    with urllib.request.urlopen(f"{shell.jobs}/api/jobs/{job}") as reply:
        details = reply.read().decode()
    assert set(json.loads(details)["runtime_env"]["env_vars"]) == {"ASSAY_PROVENANCE", "ASSAY_CONFIGS", "EVAL_SEED"}
    assert SECRET not in details
    assert SECRET not in log


@pytest.mark.parametrize(
    ("more", "code"),
    [({"gates": "[{metric: global_score, threshold: 1.0}]"}, 1), ({"runtime.parser_url": "127.0.0.1:1"}, 5)],
    ids=["gate-failed", "dependency-down"],
)
def test_its_exit_code_is_passed_on(shell: Shell, tmp_path: Path, more: dict[str, str], code: int) -> None:
    said = shell.submit("msvl", *settings(runs=1, **more), "--results", str(tmp_path / "far"), "--pool", "inline")
    assert said.returncode == code, said.stdout + said.stderr
    assert "fix:" in said.stdout or "gate failed" in said.stdout


def test_a_running_job_is_joined_and_stopped(shell: Shell, tmp_path: Path) -> None:
    slow = settings(runs=5, questions=20, **{"runtime.rehearsal_latency_ms": 3000, "runtime.concurrency": 1})
    place = ("--results", str(tmp_path / "far"), "--pool", "inline")
    first = shell.submit("msvl", *slow, *place, "--no-wait")
    [job] = set(job_ids(first.stderr))
    second = shell.submit("msvl", *slow, *place, "--no-wait")
    assert f"joined {job}" in second.stderr
    refused = shell.submit("msvl", *slow, *place, "--fresh")
    assert refused.returncode == 2
    assert f"--stop {job}" in refused.stderr
    watching = shell.start("submit", "--logs", job, "--address", shell.jobs)
    assert watching.stdout is not None
    assert "Runtime env" in watching.stdout.readline()
    watching.send_signal(signal.SIGINT)
    _, left = watching.communicate(timeout=DEADLINE_S)
    assert watching.returncode == 130
    assert f"{job} goes on without you" in left
    assert "is being stopped" in shell.submit("--stop", job).stderr
    ended = shell.submit("--logs", job)
    assert ended.returncode == 130
    assert "submit again to go on" in ended.stderr


def test_plain_ray_job_submit_does_the_same(ray_head: RayHead, shell: Shell, tmp_path: Path, configs: Path) -> None:
    ray = str(Path(sys.executable).with_name("ray"))
    words = ["job", "submit", "--address", ray_head.jobs, "--working-dir", str(configs.parent), "--runtime-env-json",
             json.dumps({"excludes": ["/tests", "/docs"]}), "--", "assay", "run", "msvl", "--pool", "ray",
             *settings(), "--results", str(tmp_path / "far")]  # fmt: skip
    there = subprocess.run(
        [ray, *words], env=ray_head.environment, text=True, capture_output=True, timeout=DEADLINE_S, check=False
    )
    assert there.returncode == 0, there.stdout + there.stderr
    assert shell.type("run", "msvl", "--pool", "inline", *settings()).returncode == 0
    far, near = report(tmp_path / "far"), report(tmp_path / "results")
    # Git is not uploaded, and nobody said the commit: that is what `assay submit` is for.
    assert "code commit unknown (not a git checkout)" in far.pop("binding_faults")
    near.pop("binding_faults")
    assert far == near


SETUP = """#!/usr/bin/env bash
# Stands for scripts/setup, which installs: here the packages are those of whoever runs the tests.
set -eu
mkdir -p "$ASSAY_VENV/bin"
printf '#!/bin/sh\\necho "$@" >> "%s/started"\\nexec "%s" "$@"\\n' "$ASSAY_VENV" "PYTHON" > "$ASSAY_VENV/bin/python"
chmod +x "$ASSAY_VENV/bin/python"
echo "$ASSAY_INSTALL $1" >> "$ASSAY_VENV.builds"
"""


def test_driver_and_workers_run_in_an_environment_built_once(
    ray_head: RayHead, shell: Shell, tmp_path: Path, configs: Path
) -> None:
    checkout = tmp_path / "checkout"
    for name in ("core", "experiments", "configs", "scripts"):
        shutil.copytree(configs.parent / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(configs.parent / name, checkout / name)
    (checkout / "scripts" / "setup").write_text(SETUP.replace("PYTHON", sys.executable))
    elsewhere = Shell(tmp_path, ray_head.jobs, checkout)
    words = ("msvl", *settings(runs=1), "--results", str(tmp_path / "far"), "--environment", "build", "--extras", "ray")
    there = elsewhere.submit(*words)
    assert there.returncode == 0, there.stdout + there.stderr
    assert "environment: waiting for" in there.stdout
    [builds] = (Path(ray_head.environment["ASSAY_CACHE"]) / "environments").glob("*.builds")
    assert builds.read_text() == "dependencies ray\n"
    started = (builds.with_suffix("") / "started").read_text()
    assert "-m experiments run submission/config.yaml --pool ray" in started
    assert "default_worker.py" in started
