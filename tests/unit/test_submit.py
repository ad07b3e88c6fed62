"""A run is sent under a name that is always the same, and nothing of the caller's goes with it unasked."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.cluster.environment import LAUNCHER, NodeEnvironment, worker_runtime_env
from core.cluster.environment_node import LAUNCHER as LAUNCHER_THERE
from core.cluster.submit import Start, Submission, check_version, send
from core.cluster.submit_client import Job, JobStatus
from core.errors import ConfigError, DependencyDown

FINGERPRINT = "0123456789abcdef" * 4
STEM = "assay-msvl-april+x.1-0123456789ab"


def submission(**more: Any) -> Submission:
    settled: dict[str, Any] = {
        "experiment": "msvl", "name": "april+x.1", "fingerprint": FINGERPRINT, "environment": NodeEnvironment.IMAGE,
        "extras": "all", "pool": "ray", "results": "",
    }  # fmt: skip
    return Submission(**{**settled, **more})


class FakeJobs:
    """A cluster's jobs, and what it was asked to start."""

    def __init__(self, *known: Job, lost: bool = False, rival: bool = False) -> None:
        self.known = {job.id: job for job in known}
        self.started: list[tuple[str, str, Mapping[str, Any], Mapping[str, str]]] = []
        self._lost, self._rival = lost, rival

    def all(self) -> tuple[Job, ...]:
        return tuple(self.known.values())

    def find(self, job: str) -> Job | None:
        return self.known.get(job)

    def submit(self, job: str, entrypoint: str, runtime_env: Mapping[str, Any], metadata: Mapping[str, str]) -> None:
        if self._rival or self._lost:
            if self._rival:
                self.known[job] = Job(job, JobStatus.RUNNING, entrypoint)
            raise DependencyDown("no reply")
        self.started.append((job, entrypoint, runtime_env, metadata))


def sent(jobs: FakeJobs, variables: Mapping[str, str] | None = None, **more: Any) -> tuple[str, bool]:
    done = send(jobs, submission(**more), Path("folder"), variables or {})
    return done.job, done.joined


def test_the_first_attempt_is_number_one() -> None:
    others = ("assay-msvl-april+x.1-0123456789ac-7", f"x{STEM}-9", f"{STEM}-x")
    jobs = FakeJobs(*(Job(other, JobStatus.RUNNING, "") for other in others))
    assert sent(jobs) == (f"{STEM}-1", False)


@pytest.mark.parametrize("status", [JobStatus.PENDING, JobStatus.RUNNING])
def test_what_runs_is_joined(status: JobStatus) -> None:
    jobs = FakeJobs(Job(f"{STEM}-9", JobStatus.FAILED, ""), Job(f"{STEM}-10", status, ""))
    assert sent(jobs) == (f"{STEM}-10", True)
    assert not jobs.started


@pytest.mark.parametrize("status", [JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.STOPPED])
def test_what_has_ended_gets_another_attempt(status: JobStatus) -> None:
    assert sent(FakeJobs(Job(f"{STEM}-10", status, ""), Job(f"{STEM}-2", status, ""))) == (f"{STEM}-11", False)


def test_a_fresh_start_under_a_running_one_is_refused() -> None:
    with pytest.raises(ConfigError, match="start over") as caught:
        sent(FakeJobs(Job(f"{STEM}-1", JobStatus.RUNNING, "")), start=Start.FRESH)
    assert f"--stop {STEM}-1" in caught.value.remedy


def test_two_at_once_and_a_lost_reply_end_in_one_job() -> None:
    assert sent(FakeJobs(rival=True)) == (f"{STEM}-1", True)
    with pytest.raises(DependencyDown):
        sent(FakeJobs(lost=True))


def test_the_entrypoint_is_the_command_as_one_would_type_it_there() -> None:
    [image, *words] = shlex.split(submission(results="s3://bucket/a b").entrypoint)
    assert image == "assay"
    assert words == ["run", "submission/config.yaml", "--pool", "ray", "--fingerprint", FINGERPRINT,
                     "--results", "s3://bucket/a b"]  # fmt: skip
    assert "--fresh" in shlex.split(submission(start=Start.FRESH).entrypoint)
    assert submission().entrypoint.endswith('--results "${ASSAY_RESULTS:-$HOME/assay-results}"')
    built = shlex.split(submission(environment=NodeEnvironment.BUILD).entrypoint)
    assert built[:6] == ["python3", "-I", LAUNCHER, "-m", "experiments", "run"]


def test_nothing_of_the_callers_environment_travels_but_the_seed() -> None:
    jobs = FakeJobs()
    secrets = {name: f"value-of-{name}" for name in (
        "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "RAY_AUTH_TOKEN",
        "AVAP_PARSER_TOKEN", "PATH", "HOME", "PIP_INDEX_URL", "UV_INDEX_URL")}  # fmt: skip
    sent(jobs, {**secrets, "EVAL_SEED": "7"}, environment=NodeEnvironment.BUILD, extras="ray,llm")
    [(_, entrypoint, runtime_env, metadata)] = jobs.started
    assert runtime_env == {
        "working_dir": "folder",
        "env_vars": {
            "ASSAY_PROVENANCE": "submission/provenance.json", "ASSAY_CONFIGS": "configs", "ASSAY_EXTRAS": "ray,llm",
            "EVAL_SEED": "7",
        },
    }  # fmt: skip
    assert "value-of" not in json.dumps([entrypoint, runtime_env, dict(metadata)])
    assert metadata == {"experiment": "msvl", "name": "april+x.1", "fingerprint": FINGERPRINT}


def test_an_environment_built_there_must_speak_the_clusters_ray() -> None:
    check_version(NodeEnvironment.BUILD, "2.60.0", "2.60.0")
    check_version(NodeEnvironment.IMAGE, "2.61.0", "2.60.0")
    with pytest.raises(ConfigError, match=r"Ray 2\.61\.0 and constraints\.txt pins Ray 2\.60\.0"):
        check_version(NodeEnvironment.BUILD, "2.61.0", "2.60.0")


def test_workers_run_where_their_driver_does(tmp_path: Path) -> None:
    assert LAUNCHER == LAUNCHER_THERE
    assert worker_runtime_env({}, tmp_path) == {}
    launched = {"ASSAY_WORKER_PYTHON": f"python3 -I {LAUNCHER}"}
    assert worker_runtime_env(launched, tmp_path) == {}, "the launcher is not here"
    root = Path(__file__).resolve().parents[2]
    assert worker_runtime_env(launched, root) == {"py_executable": f"python3 -I {LAUNCHER}"}
