"""The report files of a run, made again from its rows and the numbers that stand."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from core.disk import make_folder, read, replace
from core.errors import ConfigError, StoreError
from core.lab.store import RunFolder
from core.model.evaluation import EvaluationReport
from experiments.contenders import evaluation
from experiments.places import configs_root
from experiments.view import faults_of

NUMBERS = "report.json"
"""Never written here: it is what the run concluded."""


@dataclass(frozen=True)
class Rendered:
    """The report of a run as it looks today."""

    report: EvaluationReport
    files: Mapping[str, bytes]
    """By name, `report.json` left out."""


def stored_report(folder: RunFolder) -> EvaluationReport:
    """The numbers of `folder`. Raises ConfigError where there are none, StoreError where they do not read back."""
    content = read(folder.path / NUMBERS)
    if content is None:
        raise ConfigError(f"{folder.name} has no {NUMBERS} yet", remedy=f"finish it with `assay resume {folder.name}`")
    try:
        return EvaluationReport.model_validate_json(content)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise StoreError(
            f"{folder.path / NUMBERS} is no report of an evaluation: {where}: {fault['msg']}",
            remedy="name a run of msvl; or delete the file and run `assay resume`, which makes it again from the rows",
        ) from error


def rendered(folder: RunFolder) -> Rendered:
    """The report of `folder` from its rows and its numbers. Raises StoreError when these do not belong together."""
    from core.lab import report as rendering
    from core.lab.report.agreement import disagreements

    report = stored_report(folder)
    rows = evaluation(folder, configs_root(), faults_of(folder) or ()).rows
    differing = disagreements(report, rows)
    if differing:
        raise StoreError(
            f"the rows of {folder.name} are not those of its {NUMBERS}: {'; '.join(differing)}",
            remedy=f"restore what changed; or delete {NUMBERS} and run `assay resume`, which counts the rows again",
        )
    files = rendering.files(report, rows)
    return Rendered(report, {name: content for name, content in files.items() if name != NUMBERS})


def rewrite(folder: RunFolder, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Put `files` into `folder` where they differ from what is there; the names of those written.

    The outcome learns what they are now. Raises StoreError while another process drives the run.
    """
    with folder.driven():
        changed = tuple(name for name, content in files.items() if read(folder.path / name) != content)
        for name in changed:
            folder.write(name, files[name])
        outcome = folder.outcome
        if outcome is not None and changed:
            known = {**outcome.files, **{name: hashlib.sha256(files[name]).hexdigest() for name in changed}}
            folder.write_model("outcome.json", outcome.model_copy(update={"files": known}))
        return changed


def copy_to(target: Path, files: Mapping[str, bytes]) -> None:
    """Write `files` below `target`, which need not exist. Raises StoreError."""
    make_folder(target)
    for name, content in files.items():
        replace(target / name, content)
