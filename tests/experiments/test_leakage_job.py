"""The leakage audit through every real component: silent without a leak, loud with one, never past a dead parser."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from main_job import counted_model, start_parser
from small_job import PROVENANCE, HastyClock

from core.adapters.build import workshop
from core.errors import ConfigError, DependencyDown, ExitCode
from core.lab.config import compose
from core.lab.inline import InlinePool
from core.lab.outcome import Outcome
from core.lab.prepare import Prepared, prepare
from core.lab.progress import Silent
from core.lab.runner import Laboratory, execute
from core.model.leakage import Arm, LeakageReport, Verdict
from core.model.specs import LeakSpec
from experiments.leakage import LeakageConfig
from experiments.registry import experiment

QUESTIONS = 12


@pytest.fixture(scope="module")
def small(configs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped configurations with twelve questions that call for code."""
    root = tmp_path_factory.mktemp("audit") / "configs"
    shutil.copytree(configs, root)
    file = root / "domains" / "avap" / "golden.yaml"
    golden = yaml.safe_load(file.read_text("utf-8"))["questions"]
    chosen = [question for question in golden if question["type"] == "CODE_GENERATION"][:QUESTIONS]
    file.write_text(yaml.safe_dump({"questions": chosen}, allow_unicode=True), "utf-8")
    return root


@pytest.fixture(scope="module")
def parser_url() -> Iterator[str]:
    process, port = start_parser()
    yield f"127.0.0.1:{port}"
    process.kill()
    process.communicate()


@dataclass(frozen=True)
class Audit:
    configs: Path
    root: Path
    parser_url: str

    def prepared(self, model_url: str, **settings: Any) -> Prepared[LeakageConfig]:
        chosen = {
            "runs": 2, "index.embedder.model": "hash:64", "audit.divergence_resamples": 49,
            "runtime.parser_url": self.parser_url, "runtime.generator_url": model_url, **settings,
        }  # fmt: skip
        draft = compose(
            self.configs / "experiments" / "leakage.yaml",
            configs=self.configs,
            assignments=[f"{key}={value}" for key, value in chosen.items()],
        )
        return prepare(experiment(draft.experiment), draft, self.configs)

    async def run(self, leaks: LeakSpec, **settings: Any) -> tuple[Outcome, Path]:
        with counted_model(leaks=leaks) as (_, url):
            prepared = self.prepared(url, **settings)
            lab = Laboratory(
                results=self.root / "results",
                configs=self.configs,
                cache=self.configs.parent / "cache",
                provenance=PROVENANCE,
                clock=HastyClock(),
                pool=InlinePool(),
                workshop=workshop,
                watcher=Silent(),
            )
            outcome = await execute(prepared, lab)
            return outcome, Path(prepared.folder(lab.results).path)


@pytest.fixture
def audit(small: Path, tmp_path: Path, parser_url: str) -> Audit:
    return Audit(small, tmp_path, parser_url)


def reported(folder: Path) -> LeakageReport:
    return LeakageReport.model_validate_json((folder / "report.json").read_bytes())


@pytest.mark.parametrize(
    ("leaks", "verdict", "said"),
    [
        (LeakSpec(few_shot_copy=0.0), Verdict.NOT_FOUND, "No few-shot copying found"),
        (LeakSpec(few_shot_copy=0.6), Verdict.FOUND, "Leak by few-shot copying"),
        (LeakSpec(few_shot_copy=0.0, memorised=0.6), Verdict.FOUND, "Leak by memorised syntax"),
    ],
)
async def test_a_planted_leak_is_found_and_none_is_made_up(
    audit: Audit, leaks: LeakSpec, verdict: Verdict, said: str
) -> None:
    outcome, folder = await audit.run(leaks)
    report = reported(folder)
    [model] = report.models
    assert (outcome.rows, report.n_rows, report.partial) == (8 * QUESTIONS, 8 * QUESTIONS, False)
    assert model.verdict is verdict
    assert model.sentence.startswith(said)
    assert [arm.arm for arm in model.arms] == list(Arm)


async def test_the_report_is_there_in_every_form_and_says_what_it_is(audit: Audit) -> None:
    _, folder = await audit.run(LeakSpec(few_shot_copy=0.9), questions=10, runs=1)
    report = reported(folder)
    assert not report.binding
    assert report.caveats[0].startswith("A rehearsed model answered")
    with (folder / "copies.csv").open(newline="", encoding="utf-8") as file:
        copies = list(csv.DictReader(file))
    assert len(copies) == len(report.models[0].copies) > 0
    for name in ("tests", "arms", "survival", "provenance", "divergences", "overlaps", "foreign"):
        assert (folder / f"{name}.csv").read_text("utf-8").startswith("model,")
    for name in ("survival", "provenance", "divergences"):
        assert (folder / f"{name}-rehearsed.svg").read_text("utf-8").startswith("<svg role=")
    page, markdown = (folder / "report.html").read_text("utf-8"), (folder / "report.md").read_text("utf-8")
    for text in (page, markdown):
        assert report.models[0].tests[0].sentence in text.replace("&#39;", "'")
        assert "may not be cited" in text
    assert "<script" not in page
    record = json.loads((folder / "record.json").read_text("utf-8"))
    assert record["suites"][0]["judge"] is None
    assert set(record["prompts"]) == {"reformulate@1", "answer@1", "answer.unaided@1"}


async def test_equal_runs_give_equal_bytes(audit: Audit, tmp_path: Path) -> None:
    elsewhere = Audit(audit.configs, tmp_path / "elsewhere", audit.parser_url)
    reports = []
    for one in (audit, elsewhere):
        _, folder = await one.run(LeakSpec(), questions=10, runs=1)
        report = reported(folder)
        reports.append(report.model_copy(update={"timing": report.timing.__class__()}))
    assert reports[0] == reports[1]


async def test_a_dead_parser_stops_the_run(audit: Audit) -> None:
    dead = Audit(audit.configs, audit.root, "127.0.0.1:9")
    with pytest.raises(DependencyDown) as told:
        await dead.run(LeakSpec(), questions=10, runs=1)
    assert told.value.exit_code is ExitCode.DEPENDENCY_DOWN


def test_a_suite_without_examples_is_refused_before_anything_is_opened(audit: Audit) -> None:
    with pytest.raises(ConfigError, match="shows no few-shot examples") as told:
        audit.prepared("http://127.0.0.1:9", **{"few_shot.k": 0})
    assert told.value.path == "suites.0.few_shot.k"
