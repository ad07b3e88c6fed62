"""Where W&B is, from the configuration and the environment; and whether there is anything to send to at all."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.errors import ConfigError
from core.model.specs import TrackMode, TrackSpec

DEFAULT_PROJECT = "assay"
DEFAULT_URL = "https://api.wandb.ai"
OFFLINE = "offline"
KEY = "WANDB_API_KEY"
PLACES = {
    "WANDB_DIR": ".",
    "WANDB_DATA_DIR": "data",
    "WANDB_CACHE_DIR": "cache",
    "WANDB_CONFIG_DIR": "config",
    "WANDB_ARTIFACT_DIR": "artifacts",
}
"""Where wandb keeps files, below a folder of ours; its runs come to be in `wandb/`."""
OVERRIDES = (
    "WANDB_MODE", "WANDB_RUN_ID", "WANDB_RESUME", "WANDB_RUN_GROUP", "WANDB_NAME", "WANDB_JOB_TYPE", "WANDB_SWEEP_ID",
    "WANDB_NOTES", "WANDB_TAGS", "WANDB_SILENT", "WANDB_CONSOLE", "WANDB_PROJECT", "WANDB_ENTITY",
)  # fmt: skip
"""Variables by which wandb would change what we say of a run."""


@dataclass(frozen=True)
class Target:
    """A W&B project, or the files of one that are to be sent later."""

    mode: TrackMode
    """ONLINE or OFFLINE."""
    project: str
    entity: str | None
    base_url: str

    @property
    def name(self) -> str:
        """What the state file calls it; holds no secret."""
        if self.mode is TrackMode.OFFLINE:
            return OFFLINE
        return "/".join(part for part in (self.base_url.rstrip("/"), self.entity, self.project) if part)


def resolve(spec: TrackSpec, environment: Mapping[str, str]) -> Target | None:
    """Where `spec` leads; None when nothing is to be tracked.

    Raises ConfigError when W&B was asked for by name and cannot be had: no package, or online without a key.
    """
    mode = _mode(spec.mode, environment)
    if mode is TrackMode.OFF:
        return None
    if importlib.util.find_spec("wandb") is None:
        if spec.mode is TrackMode.AUTO:
            return None
        raise ConfigError("tracking needs the package wandb", path="runtime.track.mode",
                          remedy="pip install 'assay-lab[track]'")  # fmt: skip
    if mode is TrackMode.ONLINE and not environment.get(KEY):
        raise ConfigError(f"online tracking needs {KEY}, which is not set", path="runtime.track.mode",
                          remedy=f"export {KEY}=..., or track offline and send later")  # fmt: skip
    return Target(
        mode=mode,
        project=spec.project or environment.get("WANDB_PROJECT") or DEFAULT_PROJECT,
        entity=spec.entity or environment.get("WANDB_ENTITY") or None,
        base_url=spec.base_url or environment.get("WANDB_BASE_URL") or DEFAULT_URL,
    )


def _mode(asked: TrackMode, environment: Mapping[str, str]) -> TrackMode:
    """`asked`, with AUTO decided; W&B's own WANDB_MODE counts where the configuration leaves the choice."""
    if asked is not TrackMode.AUTO:
        return asked
    wish = environment.get("WANDB_MODE", "")
    if wish in {"disabled", "dryrun", "offline"}:
        return TrackMode.OFF if wish == "disabled" else TrackMode.OFFLINE
    return TrackMode.ONLINE if environment.get(KEY) else TrackMode.OFFLINE


def confine(folder: Path, target: Target) -> None:
    """Have this process's wandb keep all its files below `folder`, and send nothing but to `target`.

    For a process of its own, before wandb is imported: the settings are environment variables.
    """
    for variable, name in PLACES.items():
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        os.environ[variable] = str(place.absolute())
    for variable in OVERRIDES:
        os.environ.pop(variable, None)
    os.environ["WANDB_ERROR_REPORTING"] = "false"
    os.environ["WANDB_BASE_URL"] = target.base_url
