"""The evaluation inside this process: real code, a tenth of the corpus, four questions, a rehearsal server in sight."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from core.adapters.build import workshop
from core.adapters.clock import SystemClock
from core.lab.config import compose
from core.lab.inline import InlinePool
from core.lab.outcome import Outcome
from core.lab.prepare import Prepared, prepare
from core.lab.progress import Silent
from core.lab.provenance import gather
from core.lab.runner import Laboratory, execute
from core.lab.store import RunFolder
from experiments.msvl import MsvlConfig
from experiments.registry import experiment

QUESTIONS = ("GD-V-004", "GD-V-025", "GD-C-001", "GD-C-007")
DOCUMENTS = ("reference/control-flow.md", "reference/es-control.md", "reference/parameters.md", "samples/*.avap")


def small_configs(shipped: Path, root: Path) -> Path:
    """A configs root below `root` with a part of the domain and everything else as shipped."""
    configs = root / "configs"
    for folder in ("languages", "models", "gates", "experiments", "indices"):
        shutil.copytree(shipped / folder, configs / folder)
    domain, small = shipped / "domains" / "avap", configs / "domains" / "avap"
    for pattern in DOCUMENTS:
        for file in sorted((domain / "knowledge").glob(pattern))[:4]:
            copy = small / file.relative_to(domain)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    (small / "examples").mkdir()
    shutil.copyfile(domain / "examples" / "loops.yaml", small / "examples" / "loops.yaml")
    golden = yaml.safe_load((domain / "golden.yaml").read_text("utf-8"))["questions"]
    chosen = [question for question in golden if question["id"] in QUESTIONS]
    (small / "golden.yaml").write_text(yaml.safe_dump({"questions": chosen}, allow_unicode=True), "utf-8")
    return configs


PROVENANCE = gather({}, ("assay",)).model_copy(update={"commit": "c" * 40, "dirty": False})
"""That of a clean checkout, whatever happens to the real one while a test runs."""


class HastyClock(SystemClock):
    """The real time, and no patience: pauses between attempts are not waited for."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(0.0)


@dataclass(frozen=True)
class SmallJob:
    """One configuration of it, in a results root of its own."""

    configs: Path
    root: Path
    parser_url: str
    model_url: str = ""
    """Without it the job starts a rehearsal model of its own."""
    settings: dict[str, Any] = field(default_factory=dict)
    results: Path | None = None
    """Another place than below `root`."""

    def prepared(self, **settings: Any) -> Prepared[MsvlConfig]:
        """The run, identified and planned."""
        chosen = {
            "runs": 2, "gates": "[]", "index.embedder.model": "hash:64", "runtime.parser_url": self.parser_url,
            **({f"runtime.{role}_url": self.model_url for role in ("generator", "judge")} if self.model_url else {}),
            **self.settings, **settings,
        }  # fmt: skip
        draft = compose(
            self.configs / "experiments" / "msvl.yaml",
            configs=self.configs,
            assignments=[f"{key}={value}" for key, value in chosen.items()],
        )
        return prepare(experiment(draft.experiment), draft, self.configs)

    async def run(self, **settings: Any) -> Outcome:
        """Drive it to its end."""
        lab = Laboratory(
            results=self.results or self.root / "results",
            configs=self.configs,
            cache=self.root / "cache",
            provenance=PROVENANCE,
            clock=HastyClock(),
            pool=InlinePool(),
            workshop=workshop,
            watcher=Silent(),
        )
        return await execute(self.prepared(**settings), lab)

    def folder(self, **settings: Any) -> RunFolder:
        return self.prepared(**settings).folder(self.results or self.root / "results")

    def report(self, **settings: Any) -> dict[str, Any]:
        """The report without its timing."""
        report: dict[str, Any] = json.loads((self.folder(**settings).path / "report.json").read_text("utf-8"))
        report.pop("timing")
        return report

    def edit(self, cell: str, row: int, old: str, new: str) -> None:
        """Change a finished cell's row behind the laboratory's back, and take its done-marker and report away."""
        path = self.folder().path
        journal = path / "cells" / cell / "samples.jsonl"
        lines = journal.read_text("utf-8").split("\n")
        assert old in lines[row]
        lines[row] = lines[row].replace(old, new, 1)
        journal.write_text("\n".join(lines), "utf-8")
        (path / "cells" / cell / "done.json").unlink()
        (path / "outcome.json").unlink()
