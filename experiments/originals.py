"""What `assay rerun` repeats: a stored run, or a campaign that was published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import ConfigError
from core.lab.assign import Assignment
from core.lab.config import Draft, compose, find
from core.lab.experiment import ExperimentConfig
from core.lab.prepare import Prepared, prepare
from core.lab.schema import suite_fields
from core.lab.store import RunFolder, find_run
from core.model.published import PublishedCampaign
from core.model.record import RunRecord
from experiments.msvl import MsvlConfig
from experiments.places import configs_root
from experiments.registry import experiment

SUFFIX = "-rerun"


@dataclass(frozen=True)
class StoredRun:
    """A run of this results root."""

    folder: RunFolder
    config: ExperimentConfig
    record: RunRecord

    @property
    def name(self) -> str:
        """`<experiment>/<name>-<fp12>`."""
        return self.folder.name


@dataclass(frozen=True)
class Publication:
    """A campaign that is known by its published scores alone."""

    campaign: PublishedCampaign

    @property
    def name(self) -> str:
        """Where it was published."""
        return f"the campaign of {self.campaign.date} ({self.campaign.source})"


@dataclass(frozen=True)
class Original:
    """What is repeated, and the file that describes it."""

    what: StoredRun | Publication
    file: Path
    config: ExperimentConfig

    def again(self, assignments: Sequence[str]) -> Prepared[Any]:
        """The rerun with `assignments`, under a name of its own so that it never takes the original's place."""
        stored = isinstance(self.what, StoredRun)
        changed = _spread(assignments, self.config) if stored else list(assignments)
        configs = configs_root()
        draft = compose(self.file, configs=configs, assignments=[*changed, f'name="{rerun_name(self.config.name)}"'])
        return prepare(experiment(draft.experiment), draft, configs)


def original_of(wanted: str, results: Path) -> Original:
    """What `wanted` means: a run as `assay show` takes it, else a configuration that was run here or was published.

    Raises ConfigError for what is neither, and for a run without a record.
    """
    try:
        return _stored(find_run(results, wanted))
    except ConfigError as no_run:
        try:
            file = find(wanted, configs_root())
        except ConfigError as no_file:
            raise ConfigError(f"{no_run}, and {no_file}", file=str(results), remedy=no_run.remedy) from None
    return _configured(file, wanted, results)


def rerun_name(name: str) -> str:
    """`april` -> `april-rerun` -> `april-rerun-2` -> `april-rerun-3`."""
    base, mark, number = name.rpartition(SUFFIX)
    if not mark or (number and not number.removeprefix("-").isdecimal()):
        return f"{name}{SUFFIX}"
    return f"{base}{SUFFIX}-{int(number.removeprefix('-') or 1) + 1}"


def _stored(folder: RunFolder) -> Original:
    record = folder.record
    if record is None:
        raise ConfigError(f"{folder.name} has no record: nothing says what it stood on", file=str(folder.path),
                          remedy=f"finish it with `assay resume {folder.path.name}`, or use `assay run`")  # fmt: skip
    config = _validated(compose(folder.config, configs=configs_root()))
    return Original(StoredRun(folder, config, record), folder.config, config)


def _configured(file: Path, wanted: str, results: Path) -> Original:
    configs = configs_root()
    draft = compose(file, configs=configs)
    ready = prepare(experiment(draft.experiment), draft, configs)
    folder = ready.folder(results)
    if folder.record is not None:
        return _stored(folder)
    if isinstance(ready.config, MsvlConfig) and ready.config.published is not None:
        return Original(Publication(ready.config.published), file, ready.config)
    raise ConfigError(f"{wanted} was never run in {results}, and it publishes no scores: there is nothing to repeat",
                      file=str(file), remedy=f"assay run {wanted}")  # fmt: skip


def _validated(draft: Draft) -> ExperimentConfig:
    kind: type[ExperimentConfig] = experiment(draft.experiment).config_type
    return draft.validated(kind)


def _spread(assignments: Sequence[str], config: ExperimentConfig) -> list[str]:
    """`assignments`, those to a suite's setting written out for every suite: a stored run keeps each suite whole."""
    kind = type(config)
    common = set(suite_fields(kind)) - set(kind.model_fields)
    count = len(getattr(config, "suites", ()))
    return [
        text
        for assignment in assignments
        for text in (
            [f"suites.{index}.{assignment.strip()}" for index in range(count)]
            if Assignment.parse(assignment).place[0] in common
            else [assignment]
        )
    ]
