"""The April campaign end to end in small: six suites, their faults planted, the verdicts beside the published ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from small_job import small_configs
from typed import Said

from core.model.evaluation import EvaluationReport
from experiments.__main__ import main

SMALL = {
    "runs": 1,
    "runtime.pool": "inline",
    "runtime.track.mode": "off",
    "relevancy_embedder.model": "hash:64",
    "gates": "[]",
}


@pytest.fixture(scope="module")
def run_once(configs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with configs and results, and the name of the run, after `assay rerun campaigns/2026-04-06` in small."""
    root = tmp_path_factory.mktemp("april")
    own = small_configs(configs, root)
    shutil.copytree(configs / "campaigns", own / "campaigns")
    settings = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ASSAY_CONFIGS", str(own))
        environment.setenv("ASSAY_RESULTS", str(root / "results"))
        environment.setenv("ASSAY_CACHE", str(root / "cache"))
        with pytest.raises(SystemExit) as ended:
            main(["rerun", "campaigns/2026-04-06", *settings])
    assert not ended.value.code
    [folder] = (root / "results" / "msvl").iterdir()
    return root, folder.name


@pytest.fixture
def folder(run_once: tuple[Path, str]) -> Path:
    return run_once[0] / "results" / "msvl" / run_once[1]


def test_every_published_verdict_stands_beside_a_new_one(folder: Path) -> None:
    report = EvaluationReport.model_validate_json((folder / "report.json").read_bytes())
    assert report.published is not None
    assert all(suite.was_run for suite in report.published.suites)
    assert [suite.published.suite for suite in report.published.suites] == [suite.suite for suite in report.suites]
    assert [suite.published.suite for suite in report.published.suites if not suite.recomputed.agrees] == [
        "bge-m3_avap-docs-test-v4"
    ]
    assert not report.binding
    for suite in report.suites:
        assert suite.calibration is not None
        assert (suite.calibration.missed, suite.calibration.false_alarms) == (0, 0)
    pages = [(folder / name).read_text("utf-8") for name in ("report.md", "report.html")]
    for page in pages:
        assert "Published against new" in page
        assert "0.6681 (its parts give 0.66735)" in page
        assert "indices were rebuilt before the evaluation" in page


def test_it_is_marked_as_what_it_repeats(folder: Path) -> None:
    record = json.loads((folder / "record.json").read_text("utf-8"))
    marked: dict[str, Any] = record["rerun_of"]
    assert marked["run"] == "the campaign of 2026-04-06 (ADR-0007, table of the six evaluation suites)"
    settings = {each["setting"]: each for each in marked["deviations"]}
    assert settings["judge"]["note"] == "retired on 2026-06-15"
    assert "few_shot.k" not in settings
    assert "retrieval.mode" not in settings
    assert settings["questions"]["now"] == "4"
    assert folder.name.startswith("2026-04-06-rerun-")


def test_the_page_can_be_made_again(
    folder: Path, run_once: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_CONFIGS", str(run_once[0] / "configs"))
    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder)])
    captured = capsys.readouterr()
    said = Said(int(ended.value.code or 0), captured.out, captured.err)
    assert said.code == 0, said.err
    assert said.out.count("unchanged") == 2
