"""`assay submit` as it is typed, before a cluster of its own; and the check that the run there is the one meant."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from typed import Terminal

from core.cluster.submit_client import Job, JobStatus
from experiments.commands import submit
from experiments.registry import EXPERIMENTS

URL = "http://127.0.0.1:8265"


class Cluster:
    """Takes one job, keeps what came with it, and has it end as told."""

    address = URL
    ray_version = "2.60.0"

    def __init__(self, kept: Path, status: JobStatus = JobStatus.SUCCEEDED, exit_code: int | None = 0) -> None:
        self.kept, self.status, self.exit_code = kept, status, exit_code
        self.jobs: dict[str, Job] = {}
        self.runtime_env: Mapping[str, Any] = {}

    def all(self) -> tuple[Job, ...]:
        return tuple(self.jobs.values())

    def find(self, job: str) -> Job | None:
        return self.jobs.get(job)

    def get(self, job: str) -> Job:
        return self.jobs[job]

    def submit(self, job: str, entrypoint: str, runtime_env: Mapping[str, Any], metadata: Mapping[str, str]) -> None:
        self.runtime_env = runtime_env
        shutil.copytree(runtime_env["working_dir"], self.kept)
        self.jobs[job] = Job(job, self.status, entrypoint, self.exit_code)

    def log(self, job: str) -> str:
        return "one\ntwo\n"

    async def tail(self, job: str) -> AsyncIterator[str]:
        yield "one\n"
        yield "two\n"

    def stop(self, job: str) -> bool:
        return not self.jobs[job].status.is_final


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    monkeypatch.setitem(EXPERIMENTS, "toy", "toy_lab:Toy")
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return Terminal(tmp_path, capsys)


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster(tmp_path / "kept")
    monkeypatch.setattr(submit, "Jobs", lambda address, environment: made)
    return made


def test_it_is_composed_here_and_sent_whole(terminal: Terminal, cluster: Cluster) -> None:
    (terminal.root / "mine.yaml").write_text("extends: it\nname: mine\n")
    said = terminal.type("submit", "mine.yaml", "--address", URL, "--set", "seed=7", "--results", "/data/x")
    assert said.code == 0
    assert said.out == "one\ntwo\n"
    [job] = cluster.jobs.values()
    assert f"sent {job.id}" in said.err
    assert f"assay submit --logs {job.id} --address {URL}" in said.err
    config = yaml.safe_load((cluster.kept / "submission" / "config.yaml").read_text())
    assert (config["name"], config["seed"], "extends" in config) == ("mine", 7, False)
    assert (cluster.kept / "configs" / "words.txt").read_text() == "one two three"
    planned = terminal.type("plan", "mine.yaml", "--set", "seed=7", "--json").json["fingerprint"]
    assert f"--fingerprint {planned}" in job.entrypoint
    assert job.entrypoint.endswith("--results /data/x")


def test_the_run_there_is_the_run_that_was_sent(
    terminal: Terminal, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    words_here = ("it", "--set", "seed=7", "--pool", "inline", "--results", "/data/x")
    terminal.type("submit", *words_here, "--address", URL, "--no-wait")
    [job] = cluster.jobs.values()
    [_, *words] = job.entrypoint.split()
    monkeypatch.chdir(cluster.kept)
    for name, value in cluster.runtime_env["env_vars"].items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("core.lab.handover.code_digest", lambda root: json.loads(
        (cluster.kept / "submission" / "provenance.json").read_text())["code_sha256"])  # fmt: skip
    there = [*words[:-1], str(terminal.root / "there")]
    monkeypatch.setattr("core.lab.provenance.checkout", lambda folder: ("", False))
    assert terminal.type(*there).code == 0
    [record] = (terminal.root / "there").glob("toy/*/record.json")
    sent = json.loads((cluster.kept / "submission" / "provenance.json").read_text())
    assert json.loads(record.read_text())["provenance"]["commit"] == sent["commit"]
    (cluster.kept / "configs" / "words.txt").write_text("other words here")
    refused = terminal.type(*there)
    assert refused.code == 2
    assert "this would be run" in refused.err


def test_a_fingerprint_that_is_asked_for_is_the_only_one_run(terminal: Terminal) -> None:
    known = terminal.type("plan", "it", "--json").json["fingerprint"]
    assert terminal.type("run", "it", "--pool", "inline", "--fingerprint", "f00d").code == 2
    assert terminal.type("run", "it", "--pool", "inline", "--fingerprint", known[:8]).code == 0


@pytest.mark.parametrize(
    ("status", "exit_code", "code", "words"),
    [
        (JobStatus.FAILED, 4, 4, ""), (JobStatus.FAILED, 127, 127, "the node has no `assay`"),
        (JobStatus.STOPPED, None, 130, "submit again to go on"), (JobStatus.FAILED, None, 5, "was not run to its end"),
    ],
)  # fmt: skip
def test_its_end_is_that_of_the_run(
    terminal: Terminal, cluster: Cluster, status: JobStatus, exit_code: int | None, code: int, words: str
) -> None:
    cluster.status, cluster.exit_code = status, exit_code
    said = terminal.type("submit", "it", "--address", URL)
    assert said.code == code
    assert words in said.err


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["it"], "--address http://HEAD:8265"), (["--address", URL], "assay submit --help"),
        (["it", "--logs", "x", "--address", URL], "assay submit --help"),
        (["it", "--address", "ray://head:10001"], "http://HEAD:8265"),
        (["it", "--address", URL, "--results", "here"], "absolute path"),
    ],
    ids=["no-address", "nothing", "too-much", "ray-client", "relative"],
)  # fmt: skip
def test_what_cannot_be_sent_is_told(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, words: list[str], remedy: str
) -> None:
    if URL in words:
        monkeypatch.setattr(submit, "Jobs", lambda address, environment: Cluster(terminal.root / "kept"))
    said = terminal.type("submit", *words)
    assert said.code == 2
    assert remedy in said.err


def test_an_environment_is_not_built_for_another_ray(terminal: Terminal, cluster: Cluster) -> None:
    cluster.ray_version = "2.61.0"
    said = terminal.type("submit", "it", "--address", URL, "--environment", "build")
    assert said.code == 2
    assert "2.61.0" in said.err
    assert not cluster.jobs, "nothing was sent"


def test_one_can_come_back_and_end_it(terminal: Terminal, cluster: Cluster) -> None:
    cluster.jobs["it-1"] = Job("it-1", JobStatus.RUNNING, "assay run")
    assert "it-1 is being stopped" in terminal.type("submit", "--stop", "it-1", "--address", URL).err
    cluster.jobs["it-1"] = Job("it-1", JobStatus.FAILED, "assay run", 1)
    said = terminal.type("submit", "--logs", "it-1", "--address", URL)
    assert (said.code, said.out) == (1, "one\ntwo\n")
    assert "had ended already" in terminal.type("submit", "--stop", "it-1", "--address", URL).err


def test_the_address_may_be_that_of_the_shell(
    terminal: Terminal, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_API_SERVER_ADDRESS", URL)
    assert terminal.type("submit", "it").code == 0
    assert os.environ["RAY_API_SERVER_ADDRESS"] == URL
