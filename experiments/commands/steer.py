"""`assay steer`: pause a run, let it go on, change how many calls it has in flight, while it runs."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from core.errors import ConfigError, RunIncomplete
from core.lab.attendance import wanted_of
from core.lab.outcome import Status
from core.lab.status import STEERING_FILE
from core.lab.store import RunFolder, find_run
from core.model.traffic import Flow, Steering
from experiments.commands.watch import status_of
from experiments.places import results_root
from experiments.view import terminal

OBEYED_WITHIN_S = 20.0
LOOK_AGAIN_S = 0.25


class Order(StrEnum):
    """What a run can be told."""

    PAUSE = "pause"
    GO_ON = "go-on"


def steer(
    wanted: Annotated[str, typer.Argument(metavar="RUN", help="Folder, name, fingerprint prefix, or `latest`.")],
    order: Annotated[Order | None, typer.Argument(help="pause: calls in flight end, no new one begins.")] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Calls in flight at most, over the whole run.")] = None,
    results: Annotated[Path | None, typer.Option(help="Where runs are; else $ASSAY_RESULTS, else ./results.")] = None,
) -> None:
    """Pause a run, let it go on, or change its concurrency, while it runs in another process.

    It acts within a second or two, on every provider that the run calls. It holds for this driver: a run that is
    resumed starts as it is configured.
    """
    if order is None and concurrency is None:
        raise ConfigError("nothing to tell the run", remedy="give `pause`, `go-on` or --concurrency N")
    run = find_run(results_root(results), wanted)
    if run.status is not Status.RUNNING:
        raise ConfigError(f"{run.name} is {run.status.value}: nobody drives it", file=str(run.path),
                          remedy=f"`assay resume {run.path.name} --set runtime.concurrency=N` starts it")  # fmt: skip
    told = _changed(wanted_of(run) or Steering(), order, concurrency)
    run.write_model(STEERING_FILE, told)
    _wait(run, told)
    width = f", at most {told.concurrency} calls in flight" if told.concurrency else ""
    terminal().print(f"{run.name} is {told.flow.value}{width}", markup=False)


def _changed(before: Steering, order: Order | None, concurrency: int | None) -> Steering:
    flow = {None: before.flow, Order.PAUSE: Flow.PAUSED, Order.GO_ON: Flow.RUNNING}[order]
    return Steering(flow=flow, concurrency=concurrency or before.concurrency)


def _wait(run: RunFolder, told: Steering) -> None:
    """Until the driver says that it does as it was told."""
    end = time.monotonic() + OBEYED_WITHIN_S
    while time.monotonic() < end:
        status = status_of(run)
        if status is not None and status.steering == told:
            return
        time.sleep(LOOK_AGAIN_S)  # noqa: TID251 - a command that waits for another process
    raise RunIncomplete(f"{run.name} did not say within {OBEYED_WITHIN_S:g} s that it obeys", run_dir=str(run.path),
                        remedy="see `assay watch`: it may just have ended, or be stuck")  # fmt: skip
