"""`assay submit`: a run sent to a Ray cluster, and followed to its end."""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import shlex
import sys
import tempfile
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import typer
from rich.console import Console

import core
from core.adapters.clock import SystemClock
from core.cluster.environment import NodeEnvironment
from core.cluster.submit import Sent, Start, Submission, check_version, send
from core.cluster.submit_client import Jobs, JobStatus
from core.cluster.submit_folder import Sources, Staged, stage
from core.cluster.submit_following import exit_code, followed
from core.errors import ConfigError, DependencyDown
from core.lab.prepare import Prepared
from core.lab.provenance import gather
from core.model.record import Provenance
from core.model.specs import PoolKind
from experiments.commands.run import INTERRUPTED, Assignments
from experiments.launch import prepared
from experiments.places import configs_root

NOT_FOUND = 127
"""A shell's exit code for a command that is not there."""

Config = Annotated[str | None, typer.Argument(metavar="CONFIG", help="As for [bold]assay run[/].")]
Address = Annotated[
    str | None,
    typer.Option(
        metavar="URL", envvar=["RAY_API_SERVER_ADDRESS", "RAY_ADDRESS"], help="Of Ray's dashboard: http://HEAD:8265."
    ),
]
Results = Annotated[
    str | None,
    typer.Option(
        metavar="PLACE",
        help="Results root as the node reads it: a path, or s3://... Else its $ASSAY_RESULTS, else ~/assay-results.",
    ),
]
Environment = Annotated[
    NodeEnvironment,
    typer.Option(help="The node's own packages, or an environment built there once from constraints.txt."),
]


def submit(  # noqa: PLR0913, PLR0917 - the options of a command
    config: Config = None,
    address: Address = None,
    assignments: Assignments = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over; the old run is kept aside.")] = False,
    results: Results = None,
    pool: Annotated[PoolKind, typer.Option(help="What runs the cells there.")] = PoolKind.RAY,
    environment: Environment = NodeEnvironment.IMAGE,
    extras: Annotated[str, typer.Option(help="With `build`: which extras, comma separated.")] = "all",
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Do not follow it; say how to come back.")] = False,
    logs: Annotated[str | None, typer.Option(metavar="JOB", help="Follow a job that was submitted before.")] = None,
    stop: Annotated[str | None, typer.Option(metavar="JOB", help="End a job; its finished rows are kept.")] = None,
) -> None:
    """Run a configuration on a Ray cluster, from here.

    Everything is composed and checked here; code, configurations and the commit they are of travel along. The same run
    is never started twice: a second submission joins the first. Ctrl-C leaves it running.

    Exit codes are those of [bold]assay run[/] there; 130 when it was stopped, or left to itself.
    """
    if sum(word is not None for word in (config, logs, stop)) != 1:
        raise ConfigError("give one of CONFIG, --logs JOB and --stop JOB", remedy="see `assay submit --help`")
    jobs = Jobs(_known(address), os.environ)
    if stop is not None:
        _stopped(jobs, stop)
    elif logs is not None:
        jobs.get(logs)
        raise typer.Exit(_watched(jobs, logs))
    else:
        assert config is not None
        ready = prepared(config, assignments or ())
        submission = Submission(
            experiment=ready.experiment.name, name=ready.config.name, fingerprint=ready.fingerprint,
            environment=environment, extras=extras, pool=pool, results=_place(results),
            start=Start.FRESH if fresh else Start.GO_ON,
        )  # fmt: skip
        sent = _sent(jobs, submission, ready)
        _say(f"follow it: {_again(jobs, '--logs', sent.job)}\n  end it: {_again(jobs, '--stop', sent.job)}")
        if not no_wait:
            raise typer.Exit(_watched(jobs, sent.job))


def _known(address: str | None) -> str:
    if not address:
        raise ConfigError("no cluster is named", path="--address",
                          remedy="add --address http://HEAD:8265, or set RAY_API_SERVER_ADDRESS to it")  # fmt: skip
    return address


def _place(results: str | None) -> str:
    if results and "://" not in results and not PurePosixPath(results).is_absolute():
        raise ConfigError(
            f"--results {results} is relative to a folder on the node that Ray deletes", path="--results",
            remedy="give an absolute path there, or the URL of an object store",
        )  # fmt: skip
    return results or ""


def _sent(jobs: Jobs, submission: Submission, ready: Prepared[Any]) -> Sent:
    """Send it, unless it runs there already; says what was done."""
    sources = Sources(Path(core.__file__).resolve().parents[1], configs_root())
    if submission.environment is NodeEnvironment.BUILD:
        check_version(submission.environment, jobs.ray_version, importlib.metadata.version("ray"))
        if not sources.is_checkout:
            raise ConfigError("an environment can be built from a checkout only", path="--environment",
                              remedy="submit from a checkout, or use --environment image")  # fmt: skip
    provenance = gather(os.environ, sys.argv)
    with tempfile.TemporaryDirectory(prefix="assay-submit-") as folder:
        staged = stage(Path(folder), sources, ready.text, ready.data, provenance)
        sent = send(jobs, submission, staged.folder, os.environ)
    _say(f"joined {sent.job}, which runs already" if sent.joined else _told(sent, staged, provenance))
    return sent


def _told(sent: Sent, staged: Staged, provenance: Provenance) -> str:
    state = " with uncommitted changes" if provenance.dirty else ""
    code = f"commit {provenance.commit[:12]}{state}" if provenance.commit else "code of no known commit"
    return f"sent {sent.job}: {code}, {staged.files} files, {staged.size / (1 << 20):.1f} MiB"


def _watched(jobs: Jobs, job: str) -> int:
    """Follow `job` to its end; the exit code of this command."""
    try:
        ended = asyncio.run(followed(jobs, job, _print, SystemClock()))
    except KeyboardInterrupt:
        _say(f"\n{job} goes on without you. Come back: {_again(jobs, '--logs', job)}")
        return INTERRUPTED
    except DependencyDown as error:
        error.remedy += f": {_again(jobs, '--logs', job)}"
        raise
    if ended.status is JobStatus.STOPPED:
        _say(f"{job} was stopped; submit again to go on")
    code = exit_code(ended)
    if code == NOT_FOUND:
        _say("the node has no `assay`: use an image that has, or --environment build")
    return code


def _stopped(jobs: Jobs, job: str) -> None:
    was_running = jobs.stop(job)
    _say(f"{job} is being stopped; every finished row is safe" if was_running else f"{job} had ended already")


def _again(jobs: Jobs, option: str, job: str) -> str:
    return f"assay submit {option} {shlex.quote(job)} --address {shlex.quote(jobs.address)}"


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _say(line: str) -> None:
    Console(stderr=True, soft_wrap=True, highlight=False).print(line, markup=False)
