"""Bringing one W&B run to its view. The only lines of Assay that call wandb; they run in a process of their own.

What was sent before is never sent twice: W&B run ids are those of the view, steps that the server has are left out,
summary and configuration are overwritten by equal values, and artifacts of equal content stay one version.
"""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from core.adapters.track.target import Target
from core.adapters.track.view import Artifact, Table, View
from core.errors import DependencyDown
from core.model.specs import TrackMode

INIT_DEADLINE_S = 30.0


class Stage(StrEnum):
    """How much of a view is sent."""

    LIVE = "live"
    """Curves and numbers of a run that goes on; W&B shows it as running."""
    WHOLE = "whole"
    """Tables, pages and artifacts too; W&B shows it as ended."""


def load() -> None:
    """Import wandb ahead of time: that takes longer than writing a run."""
    import wandb  # noqa: F401, TID251  this is the one place


def send(view: View, target: Target, stage: Stage) -> str:
    """Bring the W&B run of `view` to it; its address, empty offline. Raises DependencyDown.

    May block for as long as wandb does: whoever calls this from a run does so in a child that can be killed.
    """
    try:
        with TemporaryDirectory(prefix="assay-track-") as scratch, _opened(view, target, stage) as run:
            _send_numbers(run, view)
            on_their_way = _send_files(run, view, Path(scratch)) if stage is Stage.WHOLE else ()
            if target.mode is TrackMode.ONLINE:
                for artifact in on_their_way:
                    artifact.wait()  # finish() is silent about one that failed
            # Leaving a run as a context manager would always call it a success.
            run.finish(exit_code=view.exit_code if stage is Stage.WHOLE else 0)
            if target.mode is TrackMode.ONLINE:
                _require_uploaded(Path(run.settings.log_internal))
                return str(run.url or "")
            return ""
    except Exception as error:  # whatever wandb raises, and it raises much, is W&B not taking the run
        raise DependencyDown(
            f"W&B did not take {view.name}: {_first_line(error)}",
            endpoint=target.base_url,
            remedy="check the network, WANDB_API_KEY and WANDB_BASE_URL; nothing is lost: `assay track sync` sends it",
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _opened(view: View, target: Target, stage: Stage) -> AbstractContextManager[Any]:
    import wandb  # noqa: TID251  this is the one place

    is_online = target.mode is TrackMode.ONLINE
    settings = wandb.Settings(
        base_url=target.base_url,
        console="off",
        disable_code=True,
        disable_git=True,
        disable_job_creation=True,
        init_timeout=INIT_DEADLINE_S,
        save_code=False,
        silent=True,
        x_disable_machine_info=True,
        x_disable_meta=True,
        x_disable_stats=True,
        x_save_requirements=False,
        x_update_finish_state=stage is Stage.WHOLE,
    )
    opened: AbstractContextManager[Any] = wandb.init(
        mode="online" if is_online else "offline",
        project=target.project,
        entity=target.entity,
        id=view.id,
        name=view.name,
        group=view.group,
        job_type=view.job_type,
        tags=view.tags,
        config=dict(view.config),
        # Offline files are written anew each time; a server is asked what it has.
        resume="allow" if is_online else None,
        allow_val_change=True,
        settings=settings,
    )
    return opened


def _send_numbers(run: Any, view: View) -> None:
    first = run.starting_step  # of a resumed run, the step after the last one that the server has
    run.define_metric("run/*", step_metric="run")
    for row in view.history:
        if row.step >= first:
            run.log(dict(row.values), step=row.step, commit=True)
    run.config.update(dict(view.config), allow_val_change=True)
    run.summary.update(dict(view.summary))


def _send_files(run: Any, view: View, scratch: Path) -> tuple[Any, ...]:
    """Tables, pages, plots and artifacts; the artifacts, on their way."""
    import wandb  # noqa: TID251  this is the one place

    # run.use_artifact refuses to work offline and waits for each upload; this is what it does besides.
    used = [run._log_artifact(_artifact(a), is_user_created=True, use_after_commit=True) for a in view.used]  # noqa: SLF001
    run.summary.update({f"table_{name}": _table(table) for name, table in view.tables.items()})
    for name, page in view.pages.items():
        run.summary[f"page_{Path(name).stem}"] = wandb.Html(page.decode("utf-8", "replace"), inject=False)
    for name, image in view.images.items():
        file = scratch / name
        file.write_bytes(image)
        run.summary[f"plot_{file.stem}"] = wandb.Image(str(file))
    return (*used, *(run.log_artifact(_artifact(a)) for a in view.made))


def _require_uploaded(log: Path) -> None:
    """Raise OSError when wandb gave up on sending points: it says so in its log, and calls the run finished."""
    lines = log.read_text("utf-8", "replace").splitlines()
    fatal = [line for line in lines if '"level":"ERROR+' in line]
    if fatal:
        raise OSError(json.loads(fatal[0]).get("msg", fatal[0]))


def _artifact(of: Artifact) -> Any:
    import wandb  # noqa: TID251  this is the one place

    made = wandb.Artifact(of.name, type=of.type, metadata=dict(of.metadata))
    for name, content in of.files.items():
        with made.new_file(name, mode="wb") as file:
            file.write(content)
    return made


def _table(of: Table) -> Any:
    import wandb  # noqa: TID251  this is the one place

    return wandb.Table(columns=list(of.columns), data=[list(row) for row in of.rows])
