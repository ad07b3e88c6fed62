"""The evaluation with its results on an S3-compatible server: the same report, and nothing of it anywhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from main_job import start_parser
from object_store import environment, s3_prefix
from small_job import SmallJob, small_configs

from core import disk
from core.adapters.record import replies_in
from core.errors import ExitCode
from core.lab.outcome import Status
from experiments.__main__ import main

FAULTS = {"rehearsal.faults": "{foreign_language: 0.5}"}


@pytest.fixture(scope="module")
def parser_url() -> Iterator[str]:
    process, port = start_parser()
    yield f"127.0.0.1:{port}"
    process.kill()
    process.communicate()


async def test_the_same_report_as_in_a_folder_and_every_step_after_it(
    configs: Path, tmp_path: Path, parser_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    small = small_configs(configs, tmp_path / "small")
    here = SmallJob(small, tmp_path / "here", parser_url, settings=FAULTS)
    there = SmallJob(small, tmp_path / "there", parser_url, settings=FAULTS, results=s3_prefix())
    assert (await here.run()).exit_code is ExitCode.OK
    assert (await there.run()).exit_code is ExitCode.OK
    assert there.report() == here.report()
    # What was spoiled is told by the model's own truth, which has to have got there too.
    assert here.report()["suites"][0]["calibration"]["injected"]

    run, local = there.folder(), here.folder().path
    found = {file.relative_to(local).as_posix() for file in local.rglob("*") if file.is_file() and file.name != "lock"}
    lacking = {name for name in found if not disk.is_file(run.path / name)}
    growing = {name for name in found if name.startswith("recordings/") and not name.endswith("/truth.jsonl")}
    assert lacking == growing, "which grow line by line, and are folders of objects there"
    assert all(list(disk.each((run.path / name).with_suffix(".parts"))) for name in growing)
    assert not (tmp_path / "there" / "results").exists()

    recorded = replies_in(run.path / "recordings")
    for cell in disk.folders(run.path / "cells"):
        disk.remove(cell / "samples.jsonl")
        disk.remove(cell / "done.json")
    run.forget_outcome()
    assert (await there.run()).rows == 8
    assert recorded
    assert replies_in(run.path / "recordings") == recorded, "nothing was asked again"
    assert there.report() == here.report()

    monkeypatch.setenv("ASSAY_RESULTS", str(there.results))
    monkeypatch.setenv("ASSAY_CONFIGS", str(small))
    said = {}
    for words in (["show", "latest", "--json"], ["list", "--json"],
                  ["recheck", "latest", "--vocabulary", "definitions-2026.03", "--json"]):  # fmt: skip
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert not ended.value.code
        said[words[0]] = json.loads(capsys.readouterr().out)
    assert said["show"]["outcome"]["status"] == Status.COMPLETE
    assert said["list"]["runs"][0]["rows"] == 8
    assert said["recheck"]["result"]["rows"] == 8
