"""From a composed configuration to a run that is identified and planned, before anything is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from core.errors import ConfigError
from core.lab.config import Draft, stored
from core.lab.experiment import ConfigT, Experiment, Plan
from core.lab.identity import fingerprint, pinned
from core.lab.store import RunFolder, run_folder


@dataclass(frozen=True)
class Prepared(Generic[ConfigT]):
    """An experiment about to run: validated, identified, planned; nothing opened or written."""

    experiment: Experiment[ConfigT]
    config: ConfigT
    text: str
    """The configuration as it will be stored."""
    data: Mapping[str, str]
    fingerprint: str
    plan: Plan

    def folder(self, results: Path) -> RunFolder:
        """Where it runs below `results`."""
        return run_folder(results, self.experiment.name, self.config.name, self.fingerprint)


def prepare(experiment: Experiment[ConfigT], draft: Draft, configs: Path) -> Prepared[ConfigT]:
    """Validate `draft` for `experiment`, pin its data, make its plan. Raises ConfigError; sends nothing."""
    config = draft.validated(experiment.config_type)
    try:
        data = pinned(experiment.data_files(config, configs), configs)
        plan = experiment.plan(config, configs)
    except ConfigError as error:
        raise draft.placed(error) from error
    identity = fingerprint(config, data)
    if not plan.expected:
        raise ConfigError("the plan holds no rows", file=str(draft.file), remedy="give it questions and runs")
    return Prepared(experiment, config, stored(config, draft.runtime), data, identity, plan)
