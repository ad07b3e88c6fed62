"""What is in the files that W&B's own client wrote offline, read back with its own messages."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tracked_runs import QUESTIONS, RUNS, evaluation, finished

from core.adapters.track import OFFLINE, Target
from core.adapters.track.spool import records
from core.model.judged import Metric
from core.model.specs import TrackMode
from experiments.follower import Child
from experiments.tracker import Task
from experiments.tracking import home


@dataclass
class Written:
    """One W&B run as its file has it."""

    folder: Path
    run: Any = None
    history: list[dict[str, Any]] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    artifacts: dict[str, Any] = field(default_factory=dict)
    exit_code: int | None = None

    def table(self, key: str) -> list[dict[str, Any]]:
        content = json.loads((self.folder / "files" / self.summary[key]["path"]).read_text("utf-8"))
        return [dict(zip(content["columns"], row, strict=True)) for row in content["data"]]


def written(file: Path) -> Written:
    found = Written(file.parent)
    for record in records(file):
        kind = record.WhichOneof("record_type")
        if kind == "run":
            found.run = record.run
            found.config |= {item.key: json.loads(item.value_json) for item in record.run.config.update}
        elif kind == "history":
            found.history.append({_key(item): json.loads(item.value_json) for item in record.history.item})
        elif kind == "summary":
            found.summary |= {_key(item): json.loads(item.value_json) for item in record.summary.update}
        elif kind == "artifact":
            found.artifacts[record.artifact.name] = record.artifact
        elif kind == "exit":
            found.exit_code = record.exit.exit_code
    return found


def _key(item: Any) -> str:
    return item.key or ".".join(item.nested_key)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Written]:
    """The offline files of a finished evaluation, by name of the W&B run."""
    folder = finished(tmp_path_factory.mktemp("results"))
    target = Target(TrackMode.OFFLINE, "assay", None, "http://127.0.0.1:9")
    with pytest.MonkeyPatch.context() as shell:
        for name in ("WANDB_PROJECT", "WANDB_RUN_ID", "WANDB_NAME", "WANDB_JOB_TYPE"):
            shell.setenv(name, "another")
        Child.start(folder, target, Task.SEND).finish(100.0, lambda line: None)
    found = [written(file) for file in (home(folder) / OFFLINE).glob("wandb/offline-run-*/run-*.wandb")]
    return {each.run.display_name: each for each in found}


def test_runs_are_named_grouped_and_typed_as_we_say(runs: dict[str, Written]) -> None:
    told = {name: (w.run.run_group, w.run.job_type, w.run.project, w.exit_code) for name, w in runs.items()}
    assert told == {
        "test/alpha": ("test", "suite", "assay", 0),
        "test/beta": ("test", "suite", "assay", 0),
        "test": ("test", "experiment", "assay", 0),
    }
    assert list(runs["test"].run.tags) == ["msvl", "f" * 12, "non-binding"]


def test_config_says_what_the_run_stands_on(runs: dict[str, Written]) -> None:
    config = runs["test/alpha"].config
    assert config["provenance"]["commit"] == "abc"
    assert config["recorded"]["generator"]["model"] == "generator-20260101"
    assert config["spec"]["few_shot"] == {"pool": "pool", "k": 2}
    assert "runtime" not in runs["test"].config
    assert "packages" not in config["provenance"]


def test_curves_have_one_point_per_run(runs: dict[str, Written]) -> None:
    for suite in evaluation().suites:
        history = runs[f"test/{suite.suite}"].history
        assert [point["_step"] for point in history] == list(range(1, RUNS + 1))
        told = [point[f"run/{Metric.GLOBAL.value}/final"] for point in history]
        assert told == [means.final[Metric.GLOBAL] for means in suite.runs]
    assert runs["test"].history == []


def test_scores_stand_in_the_summary_with_their_intervals(runs: dict[str, Written]) -> None:
    final = evaluation().suites[0].metric(Metric.FAITHFULNESS).final
    summary = runs["test/alpha"].summary
    assert final.interval is not None
    assert summary["suite/faithfulness/final"] == final.mean
    assert (summary["suite/faithfulness/low"], summary["suite/faithfulness/high"]) == (
        final.interval.low, final.interval.high,
    )  # fmt: skip
    assert summary["binding"] is False
    assert runs["test"].summary["binding_faults"] == list(evaluation().binding_faults)


def test_judged_rows_are_a_table_raw_and_final(runs: dict[str, Written]) -> None:
    rows = runs["test/alpha"].table("table_rows")
    assert [(row["run"], row["id"]) for row in rows] == [(r, q.id) for r in range(1, RUNS + 1) for q in QUESTIONS]
    assert (rows[0]["faithfulness/final"], rows[0]["faithfulness/raw"], rows[0]["syntax"]) == (0.0, 0.9, "INVALID")


def test_confusion_scoreboard_and_the_sheets_of_the_report_are_tables(runs: dict[str, Written]) -> None:
    assert runs["test/alpha"].table("table_confusion")[0]["category"] == "foreign_keyword"
    assert {row["suite"] for row in runs["test"].table("table_scoreboard")} == {"alpha", "beta"}
    assert runs["test"].table("table_tests") == [{"leak": "copy", "p": 0.25}, {"leak": "none", "p": None}]


def test_the_page_is_in_the_run(runs: dict[str, Written]) -> None:
    page = runs["test"].folder / "files" / runs["test"].summary["page_report"]["path"]
    assert "NON-BINDING" in page.read_text("utf-8")
    assert runs["test"].summary["page_shares"]["_type"] == "html-file"


def test_lineage_is_index_and_data_in_report_and_record_out(runs: dict[str, Written]) -> None:
    def named(artifacts: dict[str, Any], *, used: bool) -> set[tuple[str, str]]:
        return {(a.type, a.name) for a in artifacts.values() if a.use_after_commit == used and a.type != "run_table"}

    inputs = {("index", "index-docs"), ("dataset", "golden-golden"), ("dataset", "pool-pool")}
    for suite in ("test/alpha", "test/beta", "test"):
        assert named(runs[suite].artifacts, used=True) == inputs
    stem = f"test-{'f' * 12}"
    assert named(runs["test"].artifacts, used=False) == {("record", f"record-{stem}"), ("report", f"report-{stem}")}
    assert {a.digest for name in runs for a in runs[name].artifacts.values() if a.type == "index"} == {
        runs["test"].artifacts["index-docs"].digest
    }
