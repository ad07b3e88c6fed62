"""`assay compare` as it is typed, over finished runs with planted scores."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from comparison_sides import Planted, planted_rows, spread
from evaluation_rows import record, suite_record
from main_job import MainJob
from typed import Said

from core.errors import ConfigError, ExitCode
from core.lab.outcome import Outcome, Status
from core.lab.store import RunFolder
from core.model.comparison import Claim, Comparison
from core.model.sample import QueryType
from core.model.specs import Comparator, Provider
from experiments.__main__ import main
from experiments.launch import prepared

GOLDEN = "domains/avap/golden.yaml"
PLAIN, BETTER, ALIKE = (spread(24, 5, seed=seed, lift=lift) for seed, lift in ((2, 0.0), (3, 0.1), (4, 0.0)))


@dataclass(frozen=True)
class Bench:
    """A results root that finished runs are put into, and the command typed over it."""

    results: Path
    capsys: pytest.CaptureFixture[str]

    def run(
        self,
        name: str,
        /,
        golden: str = "d" * 64,
        suites: dict[str, dict[str, Any]] | None = None,
        provider: Provider = Provider.ANTHROPIC,
        extra: str = "",
        status: Status = Status.COMPLETE,
        **scores: Planted,
    ) -> RunFolder:
        """A run called `name` with the scores of its suites, and `suites` for what their records have else."""
        folder = RunFolder(self.results / "msvl" / f"{name}-{len(name):012x}")
        folder.path.mkdir(parents=True)
        entries = "".join(f"  - name: {suite}\n" for suite in scores)
        folder.write("config.yaml", f"extends: experiments/msvl\nname: {name}\n{extra}suites:\n{entries}".encode())
        kept = record(*scores, runs=5, provider=provider, data={GOLDEN: golden}, name=name)
        parts = tuple(suite_record(suite, provider, **(suites or {}).get(suite, {})) for suite in scores)
        folder.write_model("record.json", kept.model_copy(update={"suites": parts}))
        for suite, planted in scores.items():
            for run in range(1, 6):
                cell = folder.path / "cells" / f"{suite}.run-{run:02}"
                cell.mkdir(parents=True)
                rows = [row for row in planted_rows(suite, planted) if row.run == run]
                (cell / "samples.jsonl").write_text("".join(f"{row.model_dump_json()}\n" for row in rows))
        ended = Outcome(
            status=status, exit_code=ExitCode.OK, rows=120, expected=120, finished_at="2026-11-22T00:00:00Z"
        )
        folder.write_model("outcome.json", ended)
        return folder

    def compare(self, *words: str) -> Said:
        """`assay compare WORDS` over the runs."""
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(["compare", "--results", str(self.results), "--resamples", "1999", *words])
        captured = self.capsys.readouterr()
        return Said(int(ended.value.code or 0), captured.out, captured.err)

    def compared(self, *words: str) -> Comparison:
        """The same as data."""
        said = self.compare(*words, "--json")
        assert said.code == 0, said.err
        return Comparison.model_validate_json(said.out)


@pytest.fixture
def bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(tmp_path / "results", capsys)


@pytest.fixture
def two(bench: Bench) -> Bench:
    """`april`, and `november`, which is better by 0.1."""
    bench.run("april", main=PLAIN)
    bench.run("november", main=BETTER)
    return bench


def test_the_better_run_is_named_with_its_numbers(two: Bench) -> None:
    said = two.compare("april", "november")
    assert said.code == 0, said.err
    assert "november is better than april on faithfulness by 0.0" in said.out
    assert "No difference in syntactic validity between april and november can be claimed" in said.out
    assert "paired by question" in said.out
    assert "They differ in no recorded setting" in said.out
    assert "citable" not in said.out


def test_json_is_the_whole_comparison_and_always_the_same(two: Bench) -> None:
    found = two.compared("april", "november")
    assert found.citable
    assert found.family == 6
    assert [side.label for side in found.sides] == ["april", "november"]
    assert found.pairs[0].metrics[0].claim is Claim.B_BETTER
    assert two.compared("april", "november") == found
    two.run("december", main=ALIKE)
    close, again = (two.compared("april", "december", "--seed", seed).pairs[0].metrics[0] for seed in ("0", "5"))
    assert close.difference == again.difference
    assert close.p != again.p


def test_the_suites_of_one_run_are_compared_with_each_other_or_with_a_baseline(bench: Bench) -> None:
    bench.run("campaign", one=PLAIN, two=BETTER, three=ALIKE)
    pairs = [(pair.a, pair.b) for pair in bench.compared("campaign").pairs]
    assert pairs == [("one", "two"), ("one", "three"), ("two", "three")]
    found = bench.compared("campaign", "--baseline", "two", "--metric", "faithfulness")
    assert [(pair.a, pair.b) for pair in found.pairs] == [("two", "one"), ("two", "three")]
    assert (found.baseline, found.family) == ("two", 2)


def test_one_suite_of_each_run(bench: Bench) -> None:
    bench.run("april", one=PLAIN, two=ALIKE)
    bench.run("november", two=BETTER, three=PLAIN)
    found = bench.compared("april:one", "november:two")
    assert [(pair.a, pair.b) for pair in found.pairs] == [("april:one", "november:two")]
    assert found.pairs[0].metrics[0].claim is Claim.B_BETTER
    within = bench.compared("april:two", "april:one")
    assert [(pair.a, pair.b) for pair in within.pairs] == [("april:two", "april:one")]


def test_runs_of_the_same_suites_are_compared_suite_by_suite(bench: Bench) -> None:
    bench.run("april", one=PLAIN, two=ALIKE)
    bench.run("november", two=BETTER, one=PLAIN)
    found = bench.compared("april", "november")
    assert [(pair.a, pair.b) for pair in found.pairs] == [
        ("april:one", "november:one"),
        ("april:two", "november:two"),
    ]
    back = bench.compared("april", "november", "--baseline", "november")
    assert [pair.a for pair in back.pairs] == ["november:one", "november:two"]
    assert bench.compare("april", "november", "--gate", "faithfulness > -0.5").code == 0


def test_runs_of_one_name_are_told_apart_by_fingerprint(two: Bench) -> None:
    folder = two.results / "msvl" / f"april-{5:012x}"
    shutil.copytree(folder, folder.with_name(f"april-{6:012x}"))
    found = two.compared(f"april-{5:012x}", f"april-{6:012x}")
    assert [side.label for side in found.sides] == [f"april-{5:012x}", f"april-{6:012x}"]


def test_what_is_asked_must_be_there_and_clear(bench: Bench) -> None:
    bench.run("april", one=PLAIN, two=ALIKE)
    bench.run("november", three=BETTER)
    for words, complaint in [
        (["november"], "november is one suite, with nothing to compare it with"),
        (["april", "november"], "april has several suites (one, two)"),
        (["april:none", "november"], "has no suite 'none'"),
        (["april:one", "april:one"], "'april:one' is named twice"),
        (["april", "--baseline", "three"], "--baseline 'three' is no suite"),
        (["april:one", "november", "--baseline", "may"], "--baseline 'may' is not among what is compared"),
        (["april", "--metric", "vibes"], "metrics must be some of faithfulness"),
        (["april", "--level", "95"], "--level: "),
        (["april", "--resamples", "0"], "--resamples: "),
        (["may", "april"], "no run matches 'may'"),
    ]:
        said = bench.compare(*words)
        assert said.code == ExitCode.CONFIG, words
        assert complaint in said.err
        assert "fix: " in said.err


def test_relevancy_needs_one_ruler_for_all_suites(bench: Bench) -> None:
    index = "index: {embedder: {model: 'hash:64'}}\n"
    ruler = "relevancy_embedder: {model: 'hash:256'}\n"
    for name, extra in [("april", ""), ("november", index), ("measured", ruler), ("remeasured", index + ruler)]:
        bench.run(name, extra=extra, main=PLAIN)
    two_rulers, one_ruler = (
        {found.metric for found in bench.compared(*names).pairs[0].metrics if found.claim is Claim.NOT_TESTED}
        for names in (("april", "november"), ("measured", "remeasured"))
    )
    assert two_rulers == {"answer_relevancy", "global_score"}
    assert one_ruler == set()


@pytest.mark.parametrize("status", [Status.RUNNING, Status.INTERRUPTED])
def test_a_run_that_has_not_ended_is_refused(two: Bench, status: Status) -> None:
    two.run("december", status=status, main=PLAIN)
    said = two.compare("april", "december")
    assert (said.code, "december-000000000008 is not finished" in said.err) == (ExitCode.CONFIG, True)


def test_other_retrieval_modes_are_refused_unless_they_are_the_factor(bench: Bench) -> None:
    bench.run("campaign", suites={"bm25": {"retrieval_mode": "bm25_only"}}, hybrid=PLAIN, bm25=BETTER)
    said = bench.compare("campaign")
    assert said.code == ExitCode.CONFIG
    assert "the retrieval mode differs (hybrid against bm25_only)" in said.err
    assert "--factor retrieval_mode" in said.err
    assert bench.compare("campaign", "--factor", "retrieval_mode").code == 0


def test_another_golden_set_and_another_judge_are_refused_together(two: Bench) -> None:
    judge = suite_record("main", Provider.ANTHROPIC).judge
    assert judge is not None
    other = {"judge": judge.model_copy(update={"model": "gavel-20261101"})}
    two.run("may", golden="e" * 64, suites={"main": other}, main=BETTER)
    said = two.compare("april", "may")
    assert said.code == ExitCode.CONFIG
    assert "the golden set differs" in said.err
    assert "the judge model differs (anthropic/judge-20260101 against anthropic/gavel-20261101)" in said.err


def test_a_golden_set_that_is_not_pinned_equals_no_other(bench: Bench) -> None:
    for name in ("april", "november"):
        folder = bench.run(name, main=PLAIN)
        kept = folder.record
        assert kept is not None
        folder.write_model("record.json", kept.model_copy(update={"data": {}}))
    assert "the golden set differs" in bench.compare("april", "november").err


@pytest.mark.parametrize("columns", [50, 80, 140])
def test_what_may_not_be_cited_is_refused_or_marked_on_every_line(
    bench: Bench, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, scores in (("rehearsal", BETTER), ("dress", PLAIN)):
        bench.run(name, provider=Provider.REHEARSAL, main=scores)
    refused = bench.compare("rehearsal", "dress")
    assert refused.code == ExitCode.CONFIG
    assert "rehearsal-000000000009 is not binding: suite main: generator is the rehearsal model" in refused.err
    assert "--allow-non-binding" in refused.err
    monkeypatch.setenv("COLUMNS", str(columns))
    said = bench.compare("dress", "rehearsal", "--allow-non-binding", "--gate", "faithfulness > 0")
    assert said.code == 0
    lines = said.out.splitlines()
    assert all(line.startswith("not citable │") for line in lines)
    assert max(len(line.rstrip()) for line in lines) <= columns
    found = bench.compared("dress", "rehearsal", "--allow-non-binding")
    assert not found.citable
    assert all(each.sentence.endswith("Non-binding: may not be cited.") for each in found.pairs[0].metrics)


@pytest.mark.parametrize(
    ("gates", "code"),
    [
        (["faithfulness > -0.02"], 0),
        (["faithfulness > 0.05", "answer_relevancy>=0.05"], 0),
        (["faithfulness > -0.02", "faithfulness > 0.5"], ExitCode.GATE_FAILED),
        (["faithfulness < 0"], ExitCode.GATE_FAILED),
        (["faithfulness <= 0.5"], 0),
    ],
)
def test_gates_on_the_difference_decide_the_exit_code(two: Bench, gates: list[str], code: int) -> None:
    said = two.compare("april", "november", *(word for gate in gates for word in ("--gate", gate)))
    assert said.code == code
    assert sum(line.startswith("gate ") for line in said.out.splitlines()) == len(gates)


def test_a_gate_holds_what_is_shown_unless_the_estimate_is_asked_for(bench: Bench) -> None:
    bench.run("april", main=PLAIN)
    bench.run("november", main=ALIKE)
    difference = bench.compared("april", "november").pairs[0].metrics[0].difference
    assert difference is not None
    gate = f"faithfulness >= {difference}"
    assert bench.compare("april", "november", "--gate", gate).code == ExitCode.GATE_FAILED
    said = bench.compare("april", "november", "--gate", gate, "--gate-on", "estimate", "--json")
    assert said.code == 0
    [result] = said.json["gates"]
    assert (result["value"], result["passed"], result["on"]) == (difference, True, "estimate")


@pytest.mark.parametrize(
    ("gate", "column", "complaint"),
    [
        ("", 1, "'' is not among what is compared"),
        ("  vibes > 0", 3, "'vibes' is not among what is compared"),
        ("faithfulness", 13, "expected one of > >= < <=, found 'the end'"),
        ("faithfulness => 0", 14, "expected one of > >= < <=, found '=>'"),
        ("faithfulness 0.1", 14, "expected one of > >= < <=, found '0.1'"),
        ("faithfulness > ", 16, "expected a number, found 'the end'"),
        ("faithfulness > -0.02x", 16, "expected a number, found '-0.02x'"),
        ("faithfulness > nan", 16, "nan is no bar"),
        ("faithfulness > 1 > 2", 16, "expected a number, found '1 > 2'"),
    ],
)
def test_a_malformed_gate_is_told_where(two: Bench, gate: str, column: int, complaint: str) -> None:
    said = two.compare("april", "november", "--gate", gate)
    assert said.code == ExitCode.CONFIG
    assert f"column {column}: {complaint}" in said.err


def test_a_gate_needs_to_know_which_side_is_a(bench: Bench) -> None:
    bench.run("campaign", one=PLAIN, two=BETTER, three=ALIKE)
    said = bench.compare("campaign", "--gate", "faithfulness > -0.5")
    assert (said.code, "state it with --baseline" in said.err) == (ExitCode.CONFIG, True)
    assert bench.compare("campaign", "--gate", "faithfulness > -0.5", "--baseline", "one").code == 0


def test_without_evidence_a_gate_fails(bench: Bench) -> None:
    bench.run("april", main=PLAIN)
    bench.run("november", main=[[None] * 5 for _ in PLAIN])
    said = bench.compare("april", "november", "--gate", "faithfulness > -1")
    assert said.code == ExitCode.GATE_FAILED
    assert "missed, no question was scored on both sides" in said.out


def test_a_damaged_row_is_told(two: Bench) -> None:
    rows = two.results / "msvl" / f"april-{5:012x}" / "cells" / "main.run-03" / "samples.jsonl"
    rows.write_text(rows.read_text().replace('"run":3', '"run":"three"', 1))
    said = two.compare("april", "november")
    assert (said.code, "a row of cell main.run-03 is not as this run wrote it: run:" in said.err) == (3, True)


def campaign(folder: Path, compare: str, *suites: str) -> str:
    """A configuration file whose suites are compared."""
    file = folder / "campaign.yaml"
    entries = "".join(f"  - {suite}\n" for suite in suites)
    file.write_text(f"extends: experiments/msvl\nname: campaign\ncompare: {compare}\nsuites:\n{entries}")
    return str(file)


HYBRID, BM25 = "{name: hybrid}", "{name: bm25, retrieval: {mode: bm25_only}}"


@pytest.mark.parametrize(
    ("compare", "suites", "complaint"),
    [
        ("{}", [HYBRID, BM25], "hybrid and bm25 may not be compared: retrieval.mode differs (hybrid, bm25_only)"),
        ("{factor: retrieval_mode, baseline: none}", [HYBRID, BM25], "no suite is called 'none'"),
        ("{metrics: [vibes]}", [HYBRID], "metrics must be some of faithfulness"),
        ("{metrics: []}", [HYBRID], "metrics must be some of faithfulness"),
        ("{}", [HYBRID, "{name: b, judge: {model: gavel-20261101}}"], "judge.model differs"),
        ("{}", [HYBRID, "{name: b, language: {vocabulary: definitions-2026.03}}"], "language.vocabulary differs"),
    ],
)
def test_a_campaign_that_cannot_be_compared_is_refused_before_it_is_paid_for(
    tmp_path: Path, compare: str, suites: Sequence[str], complaint: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        prepared(campaign(tmp_path, compare, *suites), [])
    assert complaint in str(raised.value)


def test_a_baseline_need_not_agree_with_suites_that_are_not_compared(tmp_path: Path) -> None:
    third = "{name: third, retrieval: {mode: bm25_only}}"
    prepared(campaign(tmp_path, "{factor: retrieval_mode}", HYBRID, BM25, third), [])
    with pytest.raises(ConfigError, match="hybrid and bm25"):
        prepared(campaign(tmp_path, "{baseline: hybrid}", HYBRID, BM25, third), [])


def test_the_shipped_bar_on_generated_code_can_be_taken_by_a_campaign(tmp_path: Path) -> None:
    file = tmp_path / "guarded.yaml"
    file.write_text(
        f"extends: [experiments/msvl, gates/production]\nname: guarded\nsuites: [{HYBRID}, {HYBRID[:-1]}2}}]\n"
    )
    [gate] = prepared(str(file), []).config.gates
    assert (gate.metric, gate.comparator, gate.threshold) == ("syntactic_validity", Comparator.AT_LEAST, 0.95)
    assert gate.query_type == QueryType.CODE_GENERATION


def test_the_comparison_is_part_of_the_identity(tmp_path: Path) -> None:
    one, other = (
        prepared(campaign(tmp_path, compare, HYBRID, BM25), []).fingerprint
        for compare in ("{factor: retrieval_mode}", "{factor: retrieval_mode, level: 0.9}")
    )
    assert one != other


@pytest.mark.e2e
def test_a_campaign_compares_its_suites_in_its_report(tmp_path: Path) -> None:
    job = MainJob(
        tmp_path,
        {
            "questions": 6,
            "suites": "[{name: hybrid}, {name: bm25, retrieval: {mode: bm25_only}}]",
            "compare": "{factor: retrieval_mode, resamples: 999}",
            "judge_repeats": 2,
        },
    )
    code, output = job.run()
    assert code == 0, output
    comparison = Comparison.model_validate(job.report()["comparison"])
    assert [(pair.a, pair.b) for pair in comparison.pairs] == [("hybrid", "bm25")]
    assert not comparison.citable
    assert "tests show a difference" in output
    assert "## Comparison" in (job.folder / "report.md").read_text()
    assert all(len(row["judged_again"]) == 1 for row in job.rows())
    assert {each["judgings"] for suite in job.report()["suites"] for each in suite["variance"]} == {2}
    code, output = job.run("compare", "latest", "--factor", "retrieval_mode", "--allow-non-binding", "--json")
    assert code == 0, output
    again = Comparison.model_validate_json(output)
    assert [found.difference for found in again.pairs[0].metrics] == [
        found.difference for found in comparison.pairs[0].metrics
    ]
