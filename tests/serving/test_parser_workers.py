"""Worker processes that are killed, hang, hog and refuse to start; and what their requests get."""

import asyncio
import contextlib
import os
import select
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from core.adapters.clock import SystemClock
from core.adapters.languages import vocabulary_root
from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.errors import DependencyDown
from core.model.specs import LanguageSpec
from core.serving.parser import process as parser_process
from core.serving.parser.judge import Judge, Languages, Method, Reply, Status
from core.serving.parser.limits import Limits
from core.serving.parser.process import AHEAD
from core.serving.parser.workers import Workers, working

LANGUAGES = Languages.read(vocabulary_root(), LanguageSpec())
GOOD = "addVar(x, 1)"
WAIT_S = 20.0


@dataclass
class Endings:
    """A Meter that keeps why workers ended."""

    seen: list[str] = field(default_factory=list)

    def finished(self, method: str, code: str, seconds: float) -> None: ...

    def worker_ended(self, reason: str) -> None:
        self.seen.append(reason)

    def observe(self, name: str, meaning: str, read: Callable[[], float]) -> None: ...


@pytest.fixture
def endings() -> Endings:
    return Endings()


@pytest.fixture
def unruly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers started by this test are `unruly_worker`."""
    monkeypatch.setattr(parser_process, "_MODULE", "unruly_worker")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)]))


@contextlib.asynccontextmanager
async def opened(endings: Endings, **limits: float) -> AsyncIterator[Workers]:
    async with asyncio.timeout(WAIT_S):
        async with working(LANGUAGES.setup, Limits.model_validate(limits), SystemClock(), endings) as workers:
            yield workers
    assert worker_processes() == []


def worker_processes() -> list[psutil.Process]:
    return [each for each in psutil.Process().children() if "worker" in " ".join(each.cmdline())]


async def asked(workers: Workers, code: str) -> Reply:
    return await workers.answer(Method.PARSE, wire.ParseRequest(code=code).SerializeToString())


async def asked_all(workers: Workers, *codes: str) -> list[Reply]:
    return list(await asyncio.gather(*(asked(workers, code) for code in codes)))


async def test_workers_say_what_the_judge_says(endings: Endings) -> None:
    codes = [GOOD, "for x in y:", "", "é" * 1000, "addVar(x, 1)\n" * 10_000]
    async with opened(endings) as workers:
        replies = await asked_all(workers, *codes)
    requests = [wire.ParseRequest(code=code).SerializeToString() for code in codes]
    here = [Judge(LANGUAGES).answer(Method.PARSE, request) for request in requests]
    assert [wire.ParseResponse.FromString(reply.body) for reply in replies] == [
        wire.ParseResponse.FromString(reply.body) for reply in here
    ]
    assert endings.seen == []


@pytest.mark.parametrize("workers", [1, 2])
async def test_a_killed_worker_costs_no_request(endings: Endings, workers: int) -> None:
    async with opened(endings, workers=workers) as pool:
        waiting = [asyncio.create_task(asked(pool, f"{GOOD}\naddVar(y, {n})")) for n in range(200)]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        worker_processes()[0].kill()
        replies = await asyncio.gather(*waiting)
        assert len(worker_processes()) == workers or await asked(pool, GOOD)
    assert {reply.status for reply in replies} == {Status.OK}
    assert endings.seen == ["died"]


async def test_a_request_that_ends_every_worker_is_answered_and_ends_two(unruly: None, endings: Endings) -> None:
    async with opened(endings, workers=2) as workers:
        fatal, *others = await asked_all(workers, "# die", *[GOOD] * 20)
    assert (fatal.status, b"2 worker processes ended" in fatal.body) == (Status.UNAVAILABLE, True)
    assert {reply.status for reply in others} == {Status.OK}
    assert endings.seen == ["died", "died"]


async def test_a_request_that_hangs_stalls_nobody_and_is_ended(unruly: None, endings: Endings) -> None:
    async with opened(endings, workers=2, seconds=1.5) as workers:
        stuck = asyncio.create_task(asked(workers, "# hang"))
        others = await asked_all(workers, *[GOOD] * 20)
        assert not stuck.done(), "the others waited for it"
        reply = await stuck
        assert (await asked(workers, GOOD)).status is Status.OK
    assert {other.status for other in others} == {Status.OK}
    assert (reply.status, reply.body) == (
        Status.RESOURCE_EXHAUSTED,
        b"the request takes longer than the 1.5 s that one may take",
    )
    assert endings.seen == ["time"]


async def test_a_single_worker_that_hangs_is_replaced_and_its_followers_judged(unruly: None, endings: Endings) -> None:
    async with opened(endings, workers=1, seconds=0.5) as workers:
        replies = await asked_all(workers, "# hang", *[GOOD] * 10)
    assert Counter(reply.status for reply in replies) == {Status.RESOURCE_EXHAUSTED: 1, Status.OK: 10}
    assert endings.seen == ["time"]


async def test_a_stopped_process_is_a_hanging_one(endings: Endings) -> None:
    async with opened(endings, workers=1, seconds=0.5) as workers:
        worker_processes()[0].send_signal(signal.SIGSTOP)
        replies = await asked_all(workers, GOOD, GOOD)
    assert [reply.status for reply in replies] == [Status.RESOURCE_EXHAUSTED, Status.OK]


async def test_a_request_that_hogs_is_refused_once_and_its_worker_replaced(unruly: None, endings: Endings) -> None:
    async with opened(endings, workers=1) as workers:
        replies = await asked_all(workers, "# hog", GOOD, GOOD)
    assert [reply.status for reply in replies] == [Status.RESOURCE_EXHAUSTED, Status.OK, Status.OK]
    assert b"512 MiB" in replies[0].body
    assert endings.seen == ["memory"]


@pytest.mark.skipif(sys.platform != "linux", reason="address space is bounded on Linux")
async def test_the_memory_of_a_worker_is_bounded(endings: Endings) -> None:
    tight = Limits(workers=1).model_copy(update={"memory_mb": 64})
    async with working(LANGUAGES.setup, tight, SystemClock(), endings) as workers:
        greedy = await asked(workers, f"x = {'-' * 260_000}1")
        assert (await asked(workers, GOOD)).status is Status.OK
    assert greedy == Reply(Status.RESOURCE_EXHAUSTED, b"the request needs more than the 64 MiB that one may use")
    assert endings.seen == ["memory"]


async def test_a_fault_of_ours_is_told_without_the_program(
    unruly: None, endings: Endings, capfd: pytest.CaptureFixture[str]
) -> None:
    async with opened(endings, workers=1) as workers:
        reply = await asked(workers, "# fault hunter2")
    assert reply == Reply(Status.INTERNAL, b"a fault of the parser itself: ValueError")
    logged = capfd.readouterr().err
    assert '"error": "ValueError"' in logged
    assert "hunter2" not in logged


async def test_nobody_is_judged_whose_caller_has_left(unruly: None, endings: Endings, tmp_path: Path) -> None:
    fifo = tmp_path / "gate"
    os.mkfifo(fifo)
    async with opened(endings, workers=1) as workers:
        held = [asyncio.create_task(asked(workers, f"# wait {fifo}"))]
        held += [asyncio.create_task(asked(workers, GOOD)) for _ in range(AHEAD - 1)]
        fatal = [asyncio.create_task(asked(workers, "# die")) for _ in range(5)]
        await asyncio.sleep(0)  # noqa: TID251  each task gets as far as its worker or the queue
        assert workers.waiting == len(fatal)
        for task in fatal:
            task.cancel()
        await asyncio.to_thread(fifo.write_bytes, b"go")
        await asyncio.gather(*held)
    assert endings.seen == []


async def test_workers_that_do_not_start_are_a_dependency_down(
    endings: Endings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser_process, "_MODULE", "core.serving.no_such_worker")
    with pytest.raises(DependencyDown, match="ended before it could judge"):
        async with opened(endings):
            raise AssertionError


async def test_a_terminal_or_service_manager_that_signals_all_does_not_end_workers(endings: Endings) -> None:
    async with opened(endings, workers=1) as workers:
        for each in (signal.SIGINT, signal.SIGTERM):
            worker_processes()[0].send_signal(each)
        assert (await asked(workers, GOOD)).status is Status.OK
    assert endings.seen == []


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waiting for a process that is not a child needs pidfd")
def test_a_killed_server_leaves_no_worker_behind() -> None:
    command = [sys.executable, "-m", "core.serving.parser", "--port", "0", "--workers", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert b"ready" in server.stdout.readline()
        workers = [os.pidfd_open(child.pid) for child in psutil.Process(server.pid).children()]
        server.kill()
        try:
            assert len(workers) == 2
            for worker in workers:
                assert select.select([worker], [], [], WAIT_S)[0] == [worker]
        finally:
            for worker in workers:
                os.close(worker)
