"""Storage for event loops: results and errors come back, what was acknowledged is there, and no wait is without end."""

import asyncio
import threading
from functools import partial
from pathlib import Path

import pytest

from core.disk import StorageQueue, left_behind, read, replace
from core.errors import StoreError


async def test_each_gets_its_own_result_or_error() -> None:
    storage = StorageQueue()

    def work(number: int) -> int:
        if number % 7 == 0:
            raise StoreError(f"piece {number}")
        return number

    ended = await asyncio.gather(
        *(storage.do(partial(work, number), "x") for number in range(200)), return_exceptions=True
    )
    for number, end in enumerate(ended):
        assert str(end) == f"piece {number}" if number % 7 == 0 else end == number


async def test_storage_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_RESULTS_DEADLINE_S", "0.2")
    storage, back, ended = StorageQueue(), threading.Event(), threading.Event()

    def hangs() -> None:
        back.wait()
        ended.set()

    with pytest.raises(StoreError, match=r"did not answer within 0\.2 s"):
        await storage.do(hangs, tmp_path / "hung")
    assert left_behind()
    back.set()
    await asyncio.to_thread(ended.wait)
    await storage.do(int, "the next one, by the same thread")
    assert not left_behind()


async def test_an_error_of_its_own_is_not_taken_for_the_deadline() -> None:
    def work() -> None:
        raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        await StorageQueue().do(work, "x")


async def test_work_may_use_the_verbs_that_have_deadlines_themselves(tmp_path: Path) -> None:
    storage = StorageQueue()
    await asyncio.gather(*(storage.do(partial(replace, tmp_path / f"{n}", b"x"), tmp_path) for n in range(100)))
    assert await storage.do(lambda: read(tmp_path / "99"), tmp_path) == b"x"


async def test_many_threads_share_what_piles_up_on_slow_storage() -> None:
    storage, together = StorageQueue(), threading.Barrier(3)
    # A barrier of three opens only when three threads stand before it.
    await asyncio.gather(
        *(storage.do(together.wait, "x") for _ in range(48)), *(storage.do(int, "x") for _ in range(9))
    )


async def test_a_cancelled_wait_leaves_the_work_alone(tmp_path: Path) -> None:
    storage, begun, go_on = StorageQueue(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait()
        (tmp_path / "written").touch()

    waiting = asyncio.ensure_future(storage.do(work, "x"))
    await asyncio.to_thread(begun.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    go_on.set()
    await storage.do(int, "x")
    assert (tmp_path / "written").exists()
