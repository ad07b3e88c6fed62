"""Beside a run: what somebody wants of it is told to its callers, its status is written, and neither costs the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from core.adapters.clock import SystemClock
from core.errors import LlmUnavailable, StoreError
from core.lab.attendance import Attendant, attended
from core.lab.experiment import Cell, Plan
from core.lab.progress import Silent
from core.lab.status import STATUS_FILE, STEERING_FILE, Phase, RunStatus
from core.lab.store import RunFolder
from core.model.traffic import Flow, Steering, Traffic
from core.ports import Workshop

PLAN = Plan(cells=(Cell(id="a.run-1", suite="a", run=1, expected=2), Cell(id="b.run-1", suite="b", run=1, expected=2)))
PAUSED = Steering(flow=Flow.PAUSED, concurrency=3)


class Callers:
    """The part of a workshop that is steered; it forgets everything when it dies."""

    def __init__(self) -> None:
        self.steering = Steering()
        self.trouble: Exception | None = None

    async def traffic(self) -> Traffic:
        if self.trouble:
            raise self.trouble
        return Traffic()

    async def steer(self, steering: Steering) -> None:
        if self.trouble:
            raise self.trouble
        self.steering = steering

    def die(self) -> None:
        self.steering = Steering()


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


@pytest.fixture
def callers() -> Callers:
    return Callers()


@pytest.fixture
def attendant(folder: RunFolder, callers: Callers) -> Attendant:
    attendant = Attendant(folder, cast("Workshop", callers), Silent(), SystemClock())
    attendant.begin(PLAN, {"a.run-1": 1})
    return attendant


def status(folder: RunFolder) -> RunStatus:
    return RunStatus.model_validate_json((folder.path / STATUS_FILE).read_bytes())


async def test_a_run_does_as_it_is_told(attendant: Attendant, folder: RunFolder, callers: Callers) -> None:
    await attendant.attend()
    assert status(folder).phase is Phase.RUNNING
    folder.write_model(STEERING_FILE, PAUSED)
    await attendant.attend()
    assert callers.steering == PAUSED
    assert (status(folder).phase, status(folder).steering) == (Phase.PAUSED, PAUSED)
    folder.write_model(STEERING_FILE, Steering())
    await attendant.attend()
    assert callers.steering == Steering()
    assert status(folder).phase is Phase.RUNNING


async def test_callers_that_were_started_anew_are_told_again(
    attendant: Attendant, folder: RunFolder, callers: Callers
) -> None:
    folder.write_model(STEERING_FILE, PAUSED)
    await attendant.attend()
    callers.die()
    await attendant.attend()
    assert callers.steering == PAUSED
    (folder.path / STEERING_FILE).write_text("half a fi")
    callers.die()
    await attendant.attend()
    assert callers.steering == PAUSED


async def test_callers_that_do_not_answer_are_asked_again(
    attendant: Attendant, folder: RunFolder, callers: Callers
) -> None:
    folder.write_model(STEERING_FILE, PAUSED)
    callers.trouble = LlmUnavailable("gone for a moment")
    await attendant.attend()
    assert status(folder).steering == Steering(), "what is not in force is not claimed"
    assert status(folder).traffic is None
    callers.trouble = None
    await attendant.attend()
    assert status(folder).steering == PAUSED


async def test_a_status_that_cannot_be_written_costs_nothing(
    attendant: Attendant, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise StoreError("no space left on device")

    with monkeypatch.context() as trouble:
        trouble.setattr(folder, "write_model", full)
        await attendant.attend()
    assert not (folder.path / STATUS_FILE).exists()
    attendant.advance("a.run-1")
    await attendant.attend()
    assert [(suite.done, suite.cells_done) for suite in status(folder).suites] == [(2, 1), (0, 0)]


@pytest.mark.parametrize("end", [lambda: None, lambda: (_ for _ in ()).throw(StoreError("full"))], ids=["well", "ill"])
async def test_a_driver_that_leaves_says_so_however_it_ends(
    end: Callable[[], object], folder: RunFolder, callers: Callers
) -> None:
    async def driven() -> None:
        async with attended(folder, cast("Workshop", callers), Silent(), SystemClock()) as watcher:
            watcher.begin(PLAN, {})
            folder.write_model(STEERING_FILE, PAUSED)
            watcher.advance("b.run-1")
            for error in filter(None, [end()]):
                next(iter(cast("Any", error)))

    try:
        await driven()
    except StoreError as error:
        assert str(error) == "full"  # noqa: PT017  both endings are looked at below
    assert status(folder).phase is Phase.ENDED
    assert status(folder).rows == 1
    assert not (folder.path / STEERING_FILE).exists(), "a pause is for one driver"
