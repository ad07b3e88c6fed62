"""The evaluation under trouble: failing servers, lost and damaged files, swept configurations."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from main_job import counted_model, start_parser
from small_job import SmallJob, small_configs

from core.adapters.record import replies_in
from core.errors import ConfigError, ExitCode, IndexUnavailable, LlmUnavailable, StoreError
from core.lab.outcome import Status
from core.model.judged import UnscoredReason
from core.model.specs import Fault
from core.serving.rehearsal.trouble import Trouble


@pytest.fixture(scope="module")
def small(configs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_configs(configs, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def parser_url() -> Iterator[str]:
    process, port = start_parser()
    yield f"127.0.0.1:{port}"
    process.kill()
    process.communicate()


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    with counted_model() as (_, url):
        yield url


@pytest.fixture
def job(small: Path, tmp_path: Path, parser_url: str, model_url: str) -> SmallJob:
    return SmallJob(small, tmp_path, parser_url, model_url)


@pytest.fixture(scope="module")
def finished_once(small: Path, tmp_path_factory: pytest.TempPathFactory, parser_url: str, model_url: str) -> SmallJob:
    job = SmallJob(small, tmp_path_factory.mktemp("finished"), parser_url, model_url)
    asyncio.run(job.run())
    return job


@pytest.fixture
def finished(finished_once: SmallJob, tmp_path: Path) -> SmallJob:
    """A job that ran to its end, to be spoiled."""
    shutil.copytree(finished_once.root, tmp_path / "copy")
    return replace(finished_once, root=tmp_path / "copy")


async def test_a_sweep_is_a_suite_for_every_value(job: SmallJob) -> None:
    swept = {"sweep": "{retrieval.mode: [hybrid, knn_only, bm25_only]}", "runs": 1}
    outcome = await job.run(**swept)
    assert (outcome.exit_code, outcome.rows) == (ExitCode.OK, 12)
    report = job.report(**swept)
    assert [(s["suite"], s["retrieval"]["mode"]) for s in report["suites"]] == [(m, m) for m in (
        "hybrid", "knn_only", "bm25_only")]  # fmt: skip
    for suite in report["suites"]:
        for metric in suite["metrics"]:
            estimate = metric["final"]
            assert estimate["n_expected"] == estimate["n_scored"] + estimate["n_unscored"] == 4
            assert sum(estimate["unscored"].values()) == estimate["n_unscored"]
    page = (job.folder(**swept).path / "report.html").read_text("utf-8")
    assert all(mode in page for mode in ("hybrid", "knn_only", "bm25_only"))
    assert report["spend"]["calls"] < sum(suite["spend"]["calls"] for suite in report["suites"]), "shared, counted once"


async def test_a_failing_server_costs_no_row_and_changes_no_byte(
    finished: SmallJob, small: Path, tmp_path: Path
) -> None:
    kinds = (Trouble.SERVER_ERROR, Trouble.OVERLOADED, Trouble.CUT, Trouble.HALF)
    with counted_model(trouble=dict.fromkeys(kinds, 0.04)) as (model, url):
        troubled = SmallJob(small, tmp_path / "troubled", finished.parser_url, url)
        outcome = await troubled.run()
    assert (outcome.exit_code, outcome.rows) == (ExitCode.OK, 8)
    calls = troubled.report()["spend"]["calls"]
    assert model.requests > calls, "some attempts must have failed"
    assert troubled.report() == finished.report()


async def test_a_server_that_is_gone_ends_the_run_and_what_was_done_counts(job: SmallJob, small: Path) -> None:
    with counted_model() as (_, url):
        pass
    gone = SmallJob(small, job.root, job.parser_url, url, {"runtime.llm_deadline_s": 0.3})
    with pytest.raises(LlmUnavailable) as caught:
        await gone.run()
    assert url in str(caught.value)
    outcome = gone.folder().outcome
    assert outcome is not None
    assert (outcome.status, outcome.exit_code, outcome.rows) == (Status.INTERRUPTED, ExitCode.DEPENDENCY_DOWN, 0)
    assert (await job.run()).exit_code is ExitCode.OK


async def test_a_lost_report_is_written_again_without_a_call(finished: SmallJob) -> None:
    path = finished.folder().path
    wanted = {name: (path / name).read_bytes() for name in ("report.html", "report.json", "report.md")}
    (path / "report.html").unlink()
    (path / "report.md").write_text("edited")
    shutil.rmtree(path / "recordings")
    assert (await finished.run()).status is Status.COMPLETE
    assert not replies_in(path / "recordings"), "nothing was asked again"
    assert (path / "report.html").exists()
    assert (path / "report.md").read_bytes() == wanted["report.md"]


async def test_rows_lost_are_judged_again_from_the_recordings(small: Path, tmp_path: Path, parser_url: str) -> None:
    with counted_model() as (model, url):
        job = SmallJob(small, tmp_path, parser_url, url)
        await job.run()
        whole, paid = job.report(), model.requests
        path = job.folder().path
        shutil.rmtree(path / "cells")
        (path / "outcome.json").unlink()
        assert (await job.run()).rows == 8
        assert model.requests == paid
        [replies] = path.glob("recordings/*/*.replies.jsonl")
        lines = replies.read_bytes().splitlines()
        replies.write_bytes(b"\n".join([*(line[:-20] for line in lines[:3]), *lines[3:], b""]))
        shutil.rmtree(path / "cells")
        (path / "outcome.json").unlink()
        assert (await job.run()).rows == 8
        assert model.requests == paid + 3
    assert job.report() == whole


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"suite":"hybrid"', '"suite":"other"', "other.run-01"),
        ('"run":1', '"run":2', "hybrid.run-02"),
        ('"run":1', '"run":"one"', "run: "),
        ('"answerable":', '"answerabl":', "answerabl"),
    ],
)
async def test_an_edited_journal_is_told_with_its_cell(finished: SmallJob, old: str, new: str, said: str) -> None:
    finished.edit("hybrid.run-01", 1, old, new)
    with pytest.raises(StoreError, match=r"cell hybrid\.run-01") as caught:
        await finished.run()
    assert said in str(caught.value)
    assert "--fresh" in caught.value.remedy


async def test_a_row_of_no_question_is_told(finished: SmallJob) -> None:
    finished.edit("hybrid.run-02", 0, '{"id":"GD-', '{"id":"XX-')
    with pytest.raises(StoreError, match="5 rows, 4 were planned") as caught:
        await finished.run()
    assert "--fresh" in caught.value.remedy


async def test_a_lost_or_damaged_index_is_built_again(finished: SmallJob) -> None:
    whole = finished.report()
    [index] = (finished.root / "cache" / "indices").glob("[!.]*/")
    (index / "passages.jsonl").write_text("{}\n")
    (finished.folder().path / "outcome.json").unlink()
    assert (await finished.run()).exit_code is ExitCode.OK
    shutil.rmtree(finished.root / "cache")
    (finished.folder().path / "outcome.json").unlink()
    assert (await finished.run()).exit_code is ExitCode.OK
    assert finished.report() == whole


async def test_a_changed_corpus_is_another_run(job: SmallJob, small: Path) -> None:
    before = job.folder().path
    document = small / "domains" / "avap" / "knowledge" / "reference" / "parameters.md"
    text = document.read_text("utf-8")
    try:
        document.write_text(f"{text}\n## More {{#more}}\n\nMore words about parameters.\n", "utf-8")
        assert job.folder().path != before
    finally:
        document.write_text(text, "utf-8")
    assert job.folder().path == before


async def test_our_rehearsal_keeps_its_truth_beside_its_replies(small: Path, tmp_path: Path, parser_url: str) -> None:
    faults = "{foreign_language: 1.0, hallucinated_command: 0, foreign_structure: 0}"
    job = SmallJob(small, tmp_path, parser_url, "", {"rehearsal.faults": faults})
    await job.run(runs=1)
    [suite] = job.report(runs=1)["suites"]
    [truth] = job.folder(runs=1).path.glob("recordings/*/truth.jsonl")
    assert suite["calibration"]["caught"] == suite["calibration"]["injected"] == len(truth.read_text().splitlines()) > 0
    # Logs are for whoever looks for a fault: nothing depends on them.
    shutil.rmtree(job.folder(runs=1).path / "logs")
    (job.folder(runs=1).path / "outcome.json").unlink()
    await job.run(runs=1)
    assert job.report(runs=1)["suites"] == [suite]


async def test_a_server_of_the_users_own_leaves_the_gate_uncalibrated(
    small: Path, tmp_path: Path, parser_url: str
) -> None:
    with counted_model(faults={Fault.FOREIGN_LANGUAGE: 1.0}) as (_, url):
        job = SmallJob(small, tmp_path, parser_url, url)
        await job.run(runs=1)
    [suite] = job.report(runs=1)["suites"]
    assert suite["syntax"]["overall"]["mean"] == 0.0, "every answer with code was spoiled"
    assert suite["calibration"] is None, "and nobody told us: these are no false alarms"


async def test_suites_may_differ_in_everything(job: SmallJob) -> None:
    suites = (
        "[{name: full}, {name: bare, few_shot: {k: 0}, retrieval: {k: 2}}, "
        "{name: lenient, language: {dialect: lenient, vocabulary: definitions-2026.03}}]"
    )
    outcome = await job.run(suites=suites, runs=1)
    assert outcome.rows == 12
    report = job.report(suites=suites, runs=1)
    full, bare, lenient = report["suites"]
    assert (full["few_shot"]["k_max"], bare["few_shot"]["status"], bare["retrieval"]["k_mean"]) == (5, "off", 2)
    assert (lenient["parser"]["dialect"], lenient["parser"]["vocabulary"]) == ("lenient", "definitions-2026.03")
    assert any("parser or vocabulary differs between suites" in fault for fault in report["binding_faults"])


async def test_unscored_answers_reach_the_report_with_their_reasons(job: SmallJob) -> None:
    outcome = await job.run(**{"judge.max_tokens": 8})
    assert outcome.exit_code is ExitCode.INCOMPLETE, "no row holds any evidence"
    [suite] = job.report(**{"judge.max_tokens": 8})["suites"]
    estimates = {metric["metric"]: metric["final"] for metric in suite["metrics"]}
    prose_free = {UnscoredReason.NO_STATEMENTS.value: 2}
    assert estimates["faithfulness"]["unscored"] == {UnscoredReason.TRUNCATED.value: 6, **prose_free}
    assert estimates["global_score"]["unscored"] == {UnscoredReason.PART_UNSCORED.value: 8}
    assert all(estimate["mean"] is None for estimate in estimates.values())


async def test_a_pool_of_golden_answers_leaves_them_out(job: SmallJob, small: Path, tmp_path: Path) -> None:
    copied = tmp_path / "configs"
    shutil.copytree(small, copied)
    domain = copied / "domains" / "avap"
    golden = (domain / "golden.yaml").read_text("utf-8")
    loops = (domain / "examples" / "loops.yaml").read_text("utf-8")
    leaking = SmallJob(copied, tmp_path, job.parser_url, job.model_url)
    first = yaml.safe_load(loops)["examples"][0]
    questions = yaml.safe_load(golden)
    questions["questions"][-1]["ground_truth"] = f"So:\n\n```avap\n{first['code']}\n```\n"
    (domain / "golden.yaml").write_text(yaml.safe_dump(questions, allow_unicode=True), "utf-8")
    await leaking.run(runs=1)
    record = leaking.folder(runs=1).record
    assert record is not None
    assert record.suites[0].few_shot.excluded == (first["id"],)
    rows = [json.loads(row) for row in leaking.folder(runs=1).rows("hybrid.run-01").values()]
    assert all(first["id"] not in row["few_shots"]["ids"] for row in rows)


@pytest.mark.parametrize(
    ("setting", "value", "path"),
    [
        ("gates", "[{metric: globl, threshold: 1}]", "gates.0.metric"),
        ("language.vocabulary", "lrm-1999", "language.vocabulary"),
        ("language.vocabulary", "../../models/prices", "language.vocabulary"),
        ("few_shot.pool", "nowhere", "few_shot.pool"),
        ("index.pipelines", "[]", "index.pipelines"),
        ("index.corpus", "nowhere", "index.corpus"),
        ("golden", "nowhere.yaml", ""),
        ("golden", "models/prices.yaml", "questions"),
    ],
)
def test_what_cannot_run_is_told_before_anything_is_opened(
    small: Path, tmp_path: Path, setting: str, value: str, path: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        SmallJob(small, tmp_path, "127.0.0.1:1").prepared(**{setting: value})
    assert caught.value.path == path
    assert caught.value.file


@pytest.mark.parametrize(
    "setting",
    [
        {"index.engine": "elastic"},
        {"index.name": "../../outside"},
        {"index.embedder.model": "hash:0"},
        {"index.embedder.model": "pypi:nothing"},
        {"index.embedder.model": "owner/name"},
        {"index.chunking.overlap_words": 500},
        {"generator.model": "rehearsal-latest"},
        {"judge.provider": "openai", "judge.model": "qwen3:1.7b", "judge.effort": "high"},
        {"judge.provider": "anthropic", "judge.model": "claude-opus-4-5-20251101", "runtime.judge_url": "null"},
    ],
    ids=lambda setting: "-".join(map(str, setting.values())),
)
async def test_what_no_adapter_takes_is_refused_before_the_first_call(
    small: Path, tmp_path: Path, parser_url: str, setting: dict[str, str]
) -> None:
    with counted_model() as (model, url):
        with pytest.raises(ConfigError) as caught:
            await SmallJob(small, tmp_path, parser_url, url).run(**setting)
        assert model.requests == 0
    assert caught.value.remedy


async def test_an_unwritable_cache_is_told_with_its_place(job: SmallJob) -> None:
    (job.root / "cache").write_text("a file where a folder should be")
    with pytest.raises((StoreError, IndexUnavailable), match="cache"):
        await job.run()
