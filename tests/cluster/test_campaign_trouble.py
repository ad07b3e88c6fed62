"""Money and disks under a campaign on Ray: one cap over the actors of several providers, a results root that goes."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from main_job import DEADLINE_S, MainJob, counted_model

from core.adapters.ledger import accounts_of

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]
ON_RAY: dict[str, Any] = {"pool": "ray", "concurrency": 4, "ray.object_store_mb": 100, "track.mode": "off"}


def on_ray(results: Path, **runtime: Any) -> MainJob:
    return MainJob(results, {f"runtime.{key}": value for key, value in (ON_RAY | runtime).items()})


def callers_of(driver: subprocess.Popen[str]) -> list[psutil.Process]:
    """The LlmActor processes of the Ray that `driver` started."""
    children = psutil.Process(driver.pid).children(recursive=True)
    return [child for child in children if " ".join(child.cmdline()).startswith("ray::LlmActor")]


def test_two_providers_share_one_budget_whichever_of_their_actors_dies(tmp_path: Path) -> None:
    cap = 60_000
    with counted_model(latency_ms=50) as (generator, one), counted_model(latency_ms=50) as (judge, other):
        job = on_ray(tmp_path, generator_url=one, judge_url=other, **{"budget.tokens": cap})
        driver = job.start()
        for model in (generator, judge):
            model.wait_for(4)
            for victim in callers_of(driver)[-1:]:
                victim.kill()
        output, _ = driver.communicate(timeout=DEADLINE_S)
        assert driver.returncode == 4, output
        ledger = [json.loads(line) for line in (job.folder / "recordings" / "ledger.jsonl").read_text().splitlines()]
        assert generator.requests > 0
        assert judge.requests > 0
        assert generator.requests + judge.requests <= sum("hold" in entry for entry in ledger)
    assert accounts_of(job.folder / "recordings").spent.tokens <= cap
    outcome = json.loads((job.folder / "outcome.json").read_text())
    assert outcome["status"] == "partial"
    assert outcome["rows"] < outcome["expected"]
    assert "leaves no room for the next call" in outcome["reason"]


def test_a_results_root_that_goes_away_under_ray(tmp_path: Path) -> None:
    with counted_model(latency_ms=50) as (model, url):
        job = on_ray(tmp_path / "results", generator_url=url, judge_url=url)
        driver = job.start()
        model.wait_for(30)
        (tmp_path / "results").rename(tmp_path / "elsewhere")
        output, _ = driver.communicate(timeout=DEADLINE_S)
        assert driver.returncode == 3, output
        assert re.search(r"restore .*, then `assay resume`", output), output
        assert not (tmp_path / "results").exists()
        (tmp_path / "elsewhere").rename(tmp_path / "results")
        code, output = job.run("resume", "latest", "--pool", "inline", *urls(url))
    assert code == 0, output
    assert len(job.rows()) == 16


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 512 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a tmpfs needs rights that this process does not have")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)


def test_a_disk_that_fills_up_under_ray(small_disk: Path) -> None:
    with counted_model() as (_, url):
        job = on_ray(small_disk, generator_url=url, judge_url=url)
        code, output = job.run()
        assert code == 3, output
        assert "No space left on device" in output
        subprocess.run(["mount", "-o", "remount,size=32m", str(small_disk)], check=True)
        code, output = job.run("resume", "latest", "--pool", "inline", *urls(url))
    assert code == 0, output
    assert len(job.rows()) == 16


def urls(url: str) -> tuple[str, ...]:
    return ("--set", f"runtime.generator_url={url}", "--set", f"runtime.judge_url={url}")
