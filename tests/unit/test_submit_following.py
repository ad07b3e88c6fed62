"""A log that arrives whole and once, however often the connection breaks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cluster.submit_client import Job, JobStatus
from core.cluster.submit_following import PAUSES_S, exit_code, followed
from core.errors import DependencyDown

LOG = "".join(f"line {number}\n" for number in range(12))
DOWN = DependencyDown("gone")


class Patient:
    """A clock on which pauses take no time."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return sum(self.slept)

    def now(self) -> str:
        return "2026-01-01T00:00:00Z"

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@dataclass
class Scripted:
    """A job whose stream breaks after so many characters, each time in turn, and whose status is asked in vain."""

    breaks: list[int]
    statuses: list[JobStatus | None] = field(default_factory=list)
    """None for no answer. Once used up, the job has succeeded."""
    log_text: str | None = LOG

    def get(self, job: str) -> Job:
        status = self.statuses.pop(0) if self.statuses else JobStatus.SUCCEEDED
        if status is None:
            raise DOWN
        return Job(job, status, "assay run", exit_code=0)

    def log(self, job: str) -> str:
        if self.log_text is None:
            raise DOWN
        return self.log_text

    async def tail(self, job: str) -> AsyncIterator[str]:
        end = self.breaks.pop(0) if self.breaks else len(LOG)
        for start in range(0, end, 7):
            yield LOG[start : min(start + 7, end)]
        if end < len(LOG):
            raise DOWN


async def follow(job: Scripted) -> tuple[str, Patient]:
    said: list[str] = []
    clock = Patient()
    await followed(job, "it", said.append, clock)
    return "".join(said), clock


async def test_a_log_is_said_and_then_the_status_read() -> None:
    assert (await follow(Scripted([])))[0] == LOG


@given(st.lists(st.integers(0, len(LOG) - 1), max_size=6), st.data())
async def test_every_line_is_said_once(breaks: Sequence[int], data: st.DataObject) -> None:
    answers = st.sampled_from([JobStatus.RUNNING, JobStatus.PENDING, None])
    statuses = data.draw(st.lists(answers, min_size=len(breaks), max_size=len(breaks)))
    assert (await follow(Scripted(list(breaks), list(statuses))))[0] == LOG


async def test_a_job_that_ended_while_nobody_listened_is_read_to_its_end() -> None:
    assert (await follow(Scripted([10], [JobStatus.FAILED])))[0] == LOG


async def test_a_log_that_went_with_its_node_does_not_hide_the_end() -> None:
    assert (await follow(Scripted([10], [JobStatus.FAILED], log_text=None)))[0] == LOG[:10]


async def test_a_stream_that_ends_before_the_job_is_taken_up_again() -> None:
    said, clock = await follow(Scripted([], [JobStatus.RUNNING, JobStatus.RUNNING]))
    assert said == LOG
    assert clock.slept == [PAUSES_S[0], PAUSES_S[0]]


async def test_a_cluster_that_stays_silent_is_given_up() -> None:
    silent = Scripted([10] * 50, [None] * 50)
    clock = Patient()
    with pytest.raises(DependencyDown, match="no longer be watched"):
        await followed(silent, "it", lambda text: None, clock)
    assert clock.slept == [PAUSES_S[0], *PAUSES_S[1:]]


@pytest.mark.parametrize(
    ("status", "given", "code"),
    [
        (JobStatus.SUCCEEDED, 0, 0), (JobStatus.FAILED, 1, 1), (JobStatus.FAILED, 5, 5), (JobStatus.FAILED, -9, 137),
        (JobStatus.FAILED, 143, 143), (JobStatus.STOPPED, None, 130),
    ],
)  # fmt: skip
def test_an_exit_code_is_that_of_the_command_there(status: JobStatus, given: int | None, code: int) -> None:
    assert exit_code(Job("it", status, "assay run", given)) == code


def test_a_job_that_never_ran_is_a_dependency_that_is_down() -> None:
    with pytest.raises(DependencyDown, match=r"it was not run.*no room") as caught:
        exit_code(Job("it", JobStatus.FAILED, "assay run", None, "no room"))
    assert "submit again" in caught.value.remedy
