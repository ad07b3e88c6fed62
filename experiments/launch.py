"""Composition root of every run: from the words on the command line to the laboratory."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.adapters.clock import SystemClock
from core.errors import ConfigError
from core.lab.config import compose, find
from core.lab.outcome import Outcome
from core.lab.prepare import Prepared, prepare
from core.lab.process import collect_rarely
from core.lab.provenance import gather
from core.lab.runner import Laboratory, Mark, execute, unmarked
from core.lab.store import RunFolder
from experiments.engine import engine
from experiments.follower import following
from experiments.places import cache_root, configs_root
from experiments.registry import experiment
from experiments.watch import watcher


def prepared(name: str, assignments: Sequence[str]) -> Prepared[Any]:
    """The run that `name` and `--set` describe. Raises ConfigError."""
    configs = configs_root()
    draft = compose(find(name, configs), configs=configs, assignments=assignments)
    return prepare(experiment(draft.experiment), draft, configs)


def prepared_again(run: RunFolder, assignments: Sequence[str] = ()) -> Prepared[Any]:
    """The run in `run`, from its stored configuration, with `assignments` to its runtime.

    Raises ConfigError when it would be another run today.
    """
    configs = configs_root()
    draft = compose(run.config, configs=configs, assignments=assignments)
    again = prepare(experiment(draft.experiment), draft, configs)
    if again.folder(run.path.parent.parent).path.name != run.path.name:
        raise ConfigError(
            f"{run.name} cannot go on: {_what_changed(run, again)}",
            file=str(run.config),
            remedy="restore what changed, or start a new run with `assay run`",
        )
    return again


def drive(run: Prepared[Any], results: Path, mark: Mark = unmarked) -> Outcome:
    """Execute `run` under `results`, showing its progress. KeyboardInterrupt on Ctrl-C or SIGTERM, once all is safe.

    `mark` completes the record of a run that begins.
    """
    collect_rarely()
    clock = SystemClock()
    provenance = gather(os.environ, sys.argv)
    with following(run.folder(results), run.config.runtime.track, _warn), watcher(clock) as watching:
        pool, workshop = engine(run)
        lab = Laboratory(results, configs_root(), cache_root(), provenance, clock, pool, workshop, watching, mark)
        return driven(run, lab)


def driven(run: Prepared[Any], lab: Laboratory) -> Outcome:
    """Execute `run` in `lab`. KeyboardInterrupt on Ctrl-C or SIGTERM, once all is safe."""
    try:
        return asyncio.run(_until_stopped(run, lab))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _until_stopped(run: Prepared[Any], lab: Laboratory) -> Outcome:
    """Execute `run`; SIGTERM ends it as Ctrl-C does, with children stopped and the outcome written."""
    this = asyncio.current_task()
    assert this is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    return await execute(run, lab)


def _warn(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _what_changed(run: RunFolder, again: Prepared[Any]) -> str:
    record = run.record
    known = record.data if record else {}
    names = sorted(known.keys() | again.data.keys())
    changed = [name for name in names if known.get(name) != again.data.get(name)] if record else []
    if changed:
        return f"these data files changed since it began: {', '.join(changed)}"
    return "its stored configuration is that of another run (was it set aside, renamed or edited?)"
