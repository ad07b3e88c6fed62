"""Sending a run to a cluster under a name that is always the same, so that nothing is started twice."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from core.cluster.environment import EXTRAS, NodeEnvironment, command_in
from core.cluster.submit_client import Job
from core.cluster.submit_folder import CONFIG, CONFIGS, PROVENANCE
from core.errors import AssayError, ConfigError
from core.lab.handover import VARIABLE
from core.lab.store import FINGERPRINT_SHOWN

PASSED_ON = ("EVAL_SEED",)
"""The only variables of the caller that travel: whoever may see the cluster's dashboard may read them."""
DEFAULT_RESULTS = '"${ASSAY_RESULTS:-$HOME/assay-results}"'
"""Expanded by the node's shell. The job's own folder will not do: Ray deletes it."""


class Start(StrEnum):
    """What to do about a run of that identity that is on the cluster's disk."""

    GO_ON = "go_on"
    FRESH = "fresh"


@dataclass(frozen=True)
class Submission:
    """One run to be sent."""

    experiment: str
    name: str
    fingerprint: str
    environment: NodeEnvironment
    extras: str
    """Which extras of pyproject.toml an environment is built with, comma separated."""
    pool: str
    results: str
    """Results root as the node will read it; empty for $ASSAY_RESULTS there, or a folder in the home there."""
    start: Start = Start.GO_ON

    @property
    def stem(self) -> str:
        """The id of its jobs, but for the number of the attempt."""
        return f"assay-{self.experiment}-{self.name}-{self.fingerprint[:FINGERPRINT_SHOWN]}"

    @property
    def entrypoint(self) -> str:
        """What the node's shell runs."""
        words = [*command_in(self.environment), "run", CONFIG, "--pool", self.pool, "--fingerprint", self.fingerprint]
        if self.start is Start.FRESH:
            words.append("--fresh")
        results = shlex.quote(self.results) if self.results else DEFAULT_RESULTS
        return f"{shlex.join(words)} --results {results}"

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """What the job's processes find in their environment beside what the node gives them."""
        passed = {name: environment[name] for name in PASSED_ON if environment.get(name)}
        ours = {VARIABLE: PROVENANCE, "ASSAY_CONFIGS": CONFIGS}
        built = {EXTRAS: self.extras} if self.environment is NodeEnvironment.BUILD else {}
        return {**ours, **built, **passed}


@dataclass(frozen=True)
class Sent:
    """Where a submission is now."""

    job: str
    joined: bool
    """Whether it was running already."""


class Server(Protocol):
    """Where jobs are started: core.cluster.submit_client.Jobs."""

    def all(self) -> tuple[Job, ...]:
        """Every job there."""

    def find(self, job: str) -> Job | None:
        """One of them."""

    def submit(self, job: str, entrypoint: str, runtime_env: Mapping[str, Any], metadata: Mapping[str, str]) -> None:
        """Start another."""


def send(jobs: Server, submission: Submission, folder: Path, environment: Mapping[str, str]) -> Sent:
    """Start `submission` with the files in `folder`, or join the job that runs it already.

    Raises ConfigError for a fresh start of what runs, DependencyDown when the cluster does not answer.
    """
    attempts = {number: job for job in jobs.all() if (number := _attempt(job.id, submission.stem)) is not None}
    last = max(attempts, default=0)
    if last and not attempts[last].status.is_final:
        return _joined(attempts[last], submission)
    job = f"{submission.stem}-{last + 1}"
    runtime_env = {"working_dir": str(folder), "env_vars": submission.variables(environment)}
    metadata = {"experiment": submission.experiment, "name": submission.name, "fingerprint": submission.fingerprint}
    try:
        jobs.submit(job, submission.entrypoint, runtime_env, metadata)
    except AssayError:
        # The same command typed twice at once, or a reply that was lost: the name tells whether it got there.
        found = jobs.find(job)
        if found is None:
            raise
        return _joined(found, submission)
    return Sent(job, joined=False)


def check_version(environment: NodeEnvironment, cluster: str, here: str) -> None:
    """Raise ConfigError when an environment built there could not talk to the cluster's Ray."""
    if environment is NodeEnvironment.BUILD and cluster != here:
        raise ConfigError(
            f"the cluster runs Ray {cluster} and constraints.txt pins Ray {here}: they do not understand each other",
            path="--environment",
            remedy=f"start the cluster with Ray {here}, or use an image that has Assay and Ray {cluster} "
            "(--environment image)",
        )


def _attempt(job: str, stem: str) -> int | None:
    match = re.fullmatch(rf"{re.escape(stem)}-(\d+)", job)
    return int(match[1]) if match else None


def _joined(job: Job, submission: Submission) -> Sent:
    if submission.start is Start.FRESH:
        raise ConfigError(
            f"{job.id} is running this very run, which cannot start over under it",
            path="--fresh",
            remedy=f"`assay submit --stop {job.id}` first, or leave --fresh out to join it",
        )
    return Sent(job.id, joined=True)
