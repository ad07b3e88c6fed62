"""Ray's job server as Assay uses it: one class over its client, errors of ours, every request with a deadline."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from core.errors import AssayError, ConfigError, DependencyDown

REQUEST_DEADLINE_S = 30.0
UPLOAD_DEADLINE_S = 300.0
OVERRIDES = ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS")
"""Variables that Ray's client obeys even where an address was given."""
HEADERS = "RAY_JOB_HEADERS"
"""A JSON object of headers for every request, as `ray job submit` reads it too."""

BEHIND_A_PROXY = re.compile(r"status code 50[234]")
"""There is a proxy, and no head behind it."""


class JobStatus(StrEnum):
    """Where a job is, in Ray's words."""

    PENDING = "PENDING"
    """Its environment is being made, or no node has room."""
    RUNNING = "RUNNING"
    STOPPED = "STOPPED"
    """By a person."""
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    @property
    def is_final(self) -> bool:
        """Whether nothing comes after it."""
        return self not in {JobStatus.PENDING, JobStatus.RUNNING}


@dataclass(frozen=True)
class Job:
    """One job as the server knows it."""

    id: str
    status: JobStatus
    entrypoint: str
    exit_code: int | None = None
    """Of the entrypoint; None until it ended by itself, and when Ray could not start it."""
    message: str = ""


class Jobs:
    """The jobs of one cluster. Raises DependencyDown when it does not answer, ConfigError when it declines."""

    def __init__(self, address: str, environment: Mapping[str, str]) -> None:
        self.address = http_address(address)
        with self._told():
            self._client = _connected(self.address, _headers(environment))

    @property
    def ray_version(self) -> str:
        """Of the cluster."""
        return str(self._client.version)

    def all(self) -> tuple[Job, ...]:
        """Every job that was ever submitted to this cluster, in no order."""
        with self._told():
            found = self._client.list_jobs()
        return tuple(_job(details) for details in found if details.submission_id)

    def find(self, job: str) -> Job | None:
        """The job called `job`, if there is one."""
        with self._told():
            try:
                return _job(self._client.get_job_info(job))
            except RuntimeError as error:
                if "status code 404" in str(error):
                    return None
                raise

    def get(self, job: str) -> Job:
        """The job called `job`. Raises ConfigError when there is none."""
        found = self.find(job)
        if found is None:
            raise ConfigError(f"there is no job {job} at {self.address}", path="--address",
                              remedy=f"`ray job list --address {self.address}` shows those there are")  # fmt: skip
        return found

    def submit(self, job: str, entrypoint: str, runtime_env: Mapping[str, Any], metadata: Mapping[str, str]) -> None:
        """Upload and start. The id must be new."""
        with self._told():
            self._client.submit_job(
                submission_id=job, entrypoint=entrypoint, runtime_env=dict(runtime_env), metadata=dict(metadata)
            )

    def stop(self, job: str) -> bool:
        """Ask `job` to end; whether it was running."""
        self.get(job)
        with self._told():
            return bool(self._client.stop_job(job))

    def log(self, job: str) -> str:
        """All that `job` has printed so far."""
        with self._told():
            return str(self._client.get_job_logs(job))

    async def tail(self, job: str) -> AsyncIterator[str]:
        """What `job` prints, from its beginning to its end. Raises DependencyDown when the stream breaks."""
        try:
            async for text in self._client.tail_job_logs(job):
                yield text
        except Exception as error:
            raise _silent(_first_line(error), self.address) from error

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (AssayError, ModuleNotFoundError):
            raise
        except Exception as error:
            raise _explained(error, self.address) from error


def http_address(address: str) -> str:
    """`address` as the URL of a job server. Raises ConfigError for what can only be another of Ray's addresses."""
    scheme, _, rest = address.rpartition("://")
    rest = rest.rstrip("/")
    if scheme not in {"", "http", "https"} or rest in {"", "auto"}:
        raise ConfigError(f"{address!r} is not the address of a job server", path="--address",
                          remedy="give the URL of Ray's dashboard, as http://HEAD:8265")  # fmt: skip
    return f"{scheme or 'http'}://{rest}"


def _connected(address: str, headers: dict[str, str]) -> Any:
    from ray.job_submission import JobSubmissionClient  # noqa: TID251 - this package is the edge where Ray is known

    class Client(JobSubmissionClient):  # type: ignore[misc]
        """Ray's client, whose requests would otherwise wait for ever."""

        @property
        def version(self) -> str:
            return self._server_ray_version or "unknown"

        def _do_request(self, method: str, endpoint: str, **more: Any) -> Any:
            more.setdefault("timeout", UPLOAD_DEADLINE_S if more.get("data") else REQUEST_DEADLINE_S)
            return super()._do_request(method, endpoint, **more)

    for name in ("ray.dashboard.modules.dashboard_sdk", "ray.dashboard.modules.job.sdk"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("ray._private.runtime_env.packaging").setLevel(logging.WARNING)
    with _without(OVERRIDES):
        return Client(address, headers=headers)


@contextlib.contextmanager
def _without(names: tuple[str, ...]) -> Iterator[None]:
    kept = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)


def _headers(environment: Mapping[str, str]) -> dict[str, str]:
    text = environment.get(HEADERS) or "{}"
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise ConfigError(f"{HEADERS} is not a JSON object", path=HEADERS,
                          remedy=f"""write it as {HEADERS}='{{"Authorization": "Bearer ..."}}'""")  # fmt: skip
    return {str(name): str(value) for name, value in found.items()}


def _job(details: Any) -> Job:
    return Job(
        id=str(details.submission_id),
        status=JobStatus(str(details.status)),
        entrypoint=str(details.entrypoint),
        exit_code=details.driver_exit_code,
        message=str(details.message or ""),
    )


def _explained(error: Exception, address: str) -> AssayError:
    """`error` of Ray's client as one of ours."""
    what = _first_line(error)
    # By its name: importing ray.exceptions would cost a second to whoever only mistyped an address.
    if type(error).__name__ == "AuthenticationError":
        return ConfigError(f"the cluster at {address} does not let you in: {what}", path="--address",
                           remedy="set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH to the cluster's "
                           f"token; or {HEADERS} for a proxy before it")  # fmt: skip
    if isinstance(error, OSError) or BEHIND_A_PROXY.search(what):
        return _silent(what, address)
    return ConfigError(f"the job server at {address} declines: {what}", path="--address",
                       remedy=f"see that {address} is Ray's dashboard, and of a version near to ours")  # fmt: skip


def _silent(what: str, address: str) -> DependencyDown:
    return DependencyDown(f"the job server at {address} does not answer: {what}", endpoint=address,
                          remedy="see that the head is up and the address that of its dashboard, forwarded where it "
                          "must be (`scripts/cluster dashboard`, `kubectl port-forward`)")  # fmt: skip


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
