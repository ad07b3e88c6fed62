"""The main job end to end: kills, a dead parser, calibration, identity. Small, but through every real component."""

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from main_job import DEADLINE_S, MainJob, counted_model, start_parser

from core.adapters.record import spent_in

pytestmark = pytest.mark.e2e
IN_FLIGHT = 4


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], int]:
    """The report of a run that nothing disturbed, and how many requests it took."""
    with counted_model() as (model, url):
        job = against(tmp_path_factory.mktemp("whole"), url)
        code, output = job.run()
        assert code == 0, output
        return job.report(), model.requests


def against(results: Path, url: str, **runtime: Any) -> MainJob:
    return MainJob(
        results,
        {
            "runtime.generator_url": url,
            "runtime.judge_url": url,
            "runtime.concurrency": IN_FLIGHT,
            **{f"runtime.{key}": value for key, value in runtime.items()},
        },
    )


@pytest.mark.parametrize("share", [0.15, 0.55, 0.9])
def test_a_killed_driver_loses_nothing_and_repeats_only_what_was_in_flight(
    share: float, tmp_path: Path, uninterrupted: tuple[dict[str, Any], int]
) -> None:
    whole, requests = uninterrupted
    with counted_model(latency_ms=10) as (model, url):
        job = against(tmp_path, url)
        driver = job.start()
        model.wait_for(int(share * requests))
        driver.send_signal(signal.SIGKILL)
        driver.communicate(timeout=DEADLINE_S)
        code, output = job.run()
        assert code == 0, output
        assert model.requests <= requests + IN_FLIGHT
    assert job.report() == whole
    assert Counter((row["suite"], row["run"], row["id"]) for row in job.rows()).most_common(1)[0][1] == 1
    assert len(job.rows()) == whole["n_expected"]


@pytest.fixture
def parser_port() -> Iterator[tuple[int, subprocess.Popen[str]]]:
    process, port = start_parser(0)
    yield port, process
    process.kill()
    process.communicate()


def test_a_parser_that_dies_ends_the_run_and_nothing_is_judged_without_it(
    tmp_path: Path, parser_port: tuple[int, subprocess.Popen[str]], uninterrupted: tuple[dict[str, Any], int]
) -> None:
    whole, requests = uninterrupted
    port, parser = parser_port
    with counted_model(latency_ms=10) as (model, url):
        job = against(tmp_path, url, parser_url=f"127.0.0.1:{port}")
        driver = job.start()
        model.wait_for(requests // 3)
        parser.kill()
        output, _ = driver.communicate(timeout=DEADLINE_S)
        assert driver.returncode == 5, output
        assert "AVAP Parser unreachable. MSVL cannot be bypassed." in output
        assert "assay resume" in output
        for row in job.rows():
            assert all(block["result"] for block in row["blocks"] if block["kind"] == "code")
        assert len(job.rows()) < whole["n_expected"]
        revived, _ = start_parser(port)
        try:
            code, output = job.run("resume", "latest")
        finally:
            revived.kill()
            revived.communicate()
        assert code == 0, output
    assert job.report() == whole


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path: Path) -> None:
    with counted_model(latency_ms=10) as (model, url):
        job = against(tmp_path, url)
        driver = job.start()
        model.wait_for(30)
        driver.send_signal(signal.SIGINT)
        output, _ = driver.communicate(timeout=DEADLINE_S)
        assert driver.returncode == 130, output
        assert "assay resume" in output
        assert "Traceback" not in output
        code, output = job.run("resume", "latest")
        assert code == 0, output


def test_the_gate_catches_every_injected_fault_and_blames_no_clean_answer(tmp_path: Path) -> None:
    recall = "{metric: calibration_recall, threshold: 1}"
    alarms = '{metric: calibration_false_alarm_rate, comparator: "<=", threshold: 0}'
    gates = f"[{recall}, {alarms}]"
    job = MainJob(tmp_path, {"questions": 50, "runs": 1, "gates": gates})
    code, output = job.run()
    assert code == 0, output
    [suite] = job.report()["suites"]
    calibration = suite["calibration"]
    assert calibration["injected"] >= 1
    assert calibration["clean"] >= 20
    assert (calibration["missed"], calibration["false_alarms"]) == (0, 0)
    invalid = [row for row in job.rows() if row["syntax"] == "INVALID"]
    assert len(invalid) == calibration["caught"]
    for row in invalid:
        scores = row["scores"]
        assert scores["faithfulness"]["final"] == scores["answer_relevancy"]["final"] == 0.0
        assert scores["context_recall"]["final"] == scores["context_recall"]["raw"]
    assert any(row["scores"]["faithfulness"]["raw"] for row in invalid), "raw scores are kept beside the override"


def test_a_gate_that_is_missed_is_exit_1(tmp_path: Path) -> None:
    faults = "{hallucinated_command: 1.0, foreign_language: 0, foreign_structure: 0}"
    gates = "[{metric: syntactic_validity, threshold: 0.95}]"
    job = MainJob(tmp_path, {"questions": 8, "runs": 1, "rehearsal.faults": faults, "gates": gates})
    code, output = job.run()
    assert code == 1, output
    assert "syntactic_validity" in output


def test_the_same_config_gives_the_same_identity_and_the_same_bytes(tmp_path: Path) -> None:
    first, second = MainJob(tmp_path / "a"), MainJob(tmp_path / "b", {"runtime.concurrency": 3})
    for job in (first, second):
        code, output = job.run()
        assert code == 0, output
    assert first.folder.name == second.folder.name
    assert first.report() == second.report()
    assert (first.folder / "report.md").read_bytes() == (second.folder / "report.md").read_bytes()


def test_a_literal_is_identity_and_runtime_is_not(tmp_path: Path) -> None:
    def fingerprint(**settings: Any) -> str:
        job = MainJob(tmp_path, settings)
        words = job.run_command()[3:]
        code, output = job.run("plan", *words[1:], "--json")
        assert code == 0, output
        return str(json.loads(output)["fingerprint"])

    plain = fingerprint()
    assert fingerprint(**{"runtime.concurrency": 3, "runtime.llm_deadline_s": 9}) == plain
    assert fingerprint(**{"retrieval.k": 7}) != plain
    assert fingerprint(seed=1) != plain


def test_a_finished_run_is_looked_up_and_costs_nothing(tmp_path: Path) -> None:
    with counted_model() as (model, url):
        job = against(tmp_path, url)
        assert job.run()[0] == 0
        before = model.requests
        code, output = job.run()
        assert code == 0, output
        assert model.requests == before


def test_a_budget_stops_before_it_is_passed(tmp_path: Path) -> None:
    cap = 120_000
    job = MainJob(tmp_path, {"runtime.budget.tokens": cap, "runtime.concurrency": 2})
    code, output = job.run()
    assert code == 4, output
    assert job.report()["partial"] is True
    assert 0 < spent_in(job.folder / "recordings").tokens <= cap
    code, output = job.run("resume", "latest")
    assert code == 4, output


def test_a_killed_driver_leaves_no_server_behind(tmp_path: Path) -> None:
    job = MainJob(tmp_path, {"runtime.rehearsal_latency_ms": 20})
    driver = job.start()
    log = tmp_path / "msvl"
    while not any(file.stat().st_size for file in log.glob("*/recordings/*/*.replies.jsonl")):
        assert driver.poll() is None
    children = psutil.Process(driver.pid).children()
    assert len(children) == 2, "a parser and a rehearsal model"
    driver.send_signal(signal.SIGKILL)
    driver.communicate(timeout=DEADLINE_S)
    _, alive = psutil.wait_procs(children, timeout=20)
    assert not alive, "a child outlived its parent"
