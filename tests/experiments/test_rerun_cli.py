"""`assay rerun` as it is typed: what is repeated, what differs, and where that stands afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from evaluation_rows import record, suite_record
from typed import Terminal

from core.lab.provenance import gather
from core.lab.store import RunFolder
from core.model.record import Provenance, RunRecord
from core.model.specs import Provider
from experiments.registry import EXPERIMENTS

CLEAN = gather({}, ("assay",)).model_copy(update={"commit": "c" * 40, "dirty": False})
RETIRED = "claude-sonnet-4-20250514"


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    monkeypatch.setitem(EXPERIMENTS, "toy", "toy_lab:Toy")
    monkeypatch.delenv("ASSAY_RESULTS")
    monkeypatch.setenv("ASSAY_CONFIGS", str(tmp_path / "configs"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    under(monkeypatch, CLEAN)
    made = Terminal(tmp_path, capsys)
    (tmp_path / "configs" / "it.yaml").write_text(
        "experiment: toy\nname: it\nruntime: {pool: inline, track: {mode: 'off'}}\n"
        "suites: [{name: a}, {name: b, factor: 2}]\n"
    )
    return made


def under(monkeypatch: pytest.MonkeyPatch, code: Provenance) -> None:
    """Whatever happens to the real checkout while a test runs."""
    for module in ("experiments.launch", "experiments.commands.rerun"):
        monkeypatch.setattr(f"{module}.gather", lambda *_: code)


def record_of(root: Path, start: str) -> RunRecord:
    [folder] = [path for path in (root / "results" / "toy").iterdir() if path.name.rpartition("-")[0] == start]
    found = RunFolder(folder).record
    assert found is not None
    return found


def finished(terminal: Terminal) -> Terminal:
    assert terminal.type("run", "it").code == 0
    return terminal


def test_a_run_without_deviation_is_the_same_run_and_nothing_starts(terminal: Terminal) -> None:
    said = finished(terminal).type("rerun", "it")
    assert said.code == 0
    assert "no deviation: this would be the same run" in said.out
    assert len(list((terminal.root / "results" / "toy").iterdir())) == 1


def test_a_change_makes_a_run_of_its_own_that_says_what_it_repeats(terminal: Terminal) -> None:
    said = finished(terminal).type("rerun", "it", "--set", "factor=5", "--set", "seed=3")
    assert said.code == 0, said.err
    original, again = record_of(terminal.root, "it"), record_of(terminal.root, "it-rerun")
    assert again.rerun_of is not None
    assert again.rerun_of.fingerprint == original.fingerprint
    assert {(each.setting, each.was, each.now) for each in again.rerun_of.deviations} == {
        ("seed", "0", "3"),
        ("suites.a.factor", "1", "5"),
        ("suites.b.factor", "2", "5"),
    }
    assert "configuration: suites.b.factor: 2 → 5" in said.out
    shown = terminal.type("show", "it-rerun").out
    assert f"A rerun of toy/it-{original.fingerprint[:12]} with 3 deviations" in shown
    assert "configuration: seed: 0 → 3" in shown
    kept = terminal.type("show", "it-rerun", "--json").json
    assert len(kept["record"]["rerun_of"]["deviations"]) == 3


def test_a_plan_says_the_same_and_starts_nothing(terminal: Terminal) -> None:
    said = finished(terminal).type("rerun", "latest", "--set", "runs=1", "--plan")
    assert said.code == 0
    assert "configuration: runs: 2 → 1" in said.out
    assert not list((terminal.root / "results" / "toy").glob("it-rerun*"))


def test_a_stopped_rerun_goes_on_as_what_it_was(terminal: Terminal) -> None:
    finished(terminal).trouble("down", "b.run-02/two")
    assert terminal.type("rerun", "it", "--set", "seed=3").code == 5
    terminal.heal()
    marked = record_of(terminal.root, "it-rerun").rerun_of
    assert terminal.type("resume", "it-rerun").code == 0
    assert record_of(terminal.root, "it-rerun").rerun_of == marked
    assert marked is not None


def test_a_rerun_typed_again_is_the_rerun_that_is_there(terminal: Terminal) -> None:
    first, second = (finished(terminal).type("rerun", "it", "--set", "seed=3") for _ in range(2))
    assert (first.code, second.code) == (0, 0)
    assert len(list((terminal.root / "results" / "toy").iterdir())) == 2


def test_a_rerun_can_be_repeated_too(terminal: Terminal) -> None:
    finished(terminal).type("rerun", "it", "--set", "seed=3")
    assert terminal.type("rerun", "it-rerun", "--set", "seed=4").code == 0
    again = record_of(terminal.root, "it-rerun-2").rerun_of
    assert again is not None
    assert again.run.startswith("toy/it-rerun-")


def test_data_code_and_prompts_deviate_without_a_word_of_configuration(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished(terminal)
    (terminal.root / "configs" / "words.txt").write_text("one two four")
    terminal.trouble("prompt", "b" * 64)
    under(monkeypatch, CLEAN.model_copy(update={"commit": "d" * 40, "packages": {**CLEAN.packages, "numpy": "0.1"}}))
    said = terminal.type("rerun", "it")
    assert said.code == 0, said.err
    found = record_of(terminal.root, "it-rerun").rerun_of
    assert found is not None
    assert {each.setting for each in found.deviations} == {"words.txt", "commit", "packages.numpy", "prompts.ask"}
    before, after = said.out.split("12/12 rows")
    assert "data: words.txt" in before
    assert "measurement: prompts.ask" in after
    assert "data: words.txt" not in after


def test_an_original_that_never_ended_is_said_to_be_one(terminal: Terminal) -> None:
    terminal.trouble("down", "b.run-02/two")
    terminal.type("run", "it")
    terminal.heal()
    said = terminal.type("rerun", "it", "--set", "seed=3")
    assert said.code == 0
    assert "(interrupted: it has no whole result to compare with)" in said.out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["it"], "was never run in"),
        (["nothing"], "no configuration is called 'nothing'"),
    ],
)
def test_what_is_not_there_cannot_be_repeated(terminal: Terminal, words: list[str], complaint: str) -> None:
    said = terminal.type("rerun", *words)
    assert said.code == 2
    assert complaint in said.err


def test_a_change_to_what_is_not_there_is_refused(terminal: Terminal) -> None:
    said = finished(terminal).type("rerun", "it", "--set", "facter=5")
    assert said.code == 2
    assert "facter" in said.err


class TestAStoredEvaluation:
    """One whose judge was retired since; nothing of it is run."""

    @pytest.fixture
    def april(self, terminal: Terminal, configs: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
        monkeypatch.setenv("ASSAY_CONFIGS", str(configs))
        folder = RunFolder(terminal.root / "results" / "msvl" / f"april-{1:012x}")
        folder.path.mkdir(parents=True)
        judge = f"{{provider: anthropic, model: {RETIRED}}}"
        folder.write(
            "config.yaml",
            f"extends: experiments/msvl\nname: april\nsuites: [{{name: main, judge: {judge}}}]\n".encode(),
        )
        suite = suite_record("main", Provider.ANTHROPIC)
        assert suite.judge is not None
        suite = suite.model_copy(update={"judge": suite.judge.model_copy(update={"model": RETIRED})})
        folder.write_model("record.json", record("main").model_copy(update={"suites": (suite,)}))
        return terminal

    def test_is_told_that_its_judge_answers_no_more(self, april: Terminal) -> None:
        said = april.type("rerun", "april", "--plan")
        assert f"model: judge.model: {RETIRED} → not served (retired on 2026-06-15)" in said.out

    def test_and_so_is_the_change_to_another(self, april: Terminal) -> None:
        said = april.type("rerun", "april", "--plan", "--set", "judge.model=claude-opus-4-5-20251101")
        assert (
            f"configuration: suites.main.judge.model: {RETIRED} → claude-opus-4-5-20251101 (retired on 2026-06-15)"
            in said.out
        )
        assert "not served" not in said.out


def test_a_published_campaign_can_be_repeated_without_ever_having_run(
    terminal: Terminal, configs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CONFIGS", str(configs))
    said = terminal.type("rerun", "campaigns/2026-04-06-production", "--plan")
    assert said.code == 0
    assert "repeats the campaign of 2026-04-06 (ADR-0007, table of the six evaluation suites)" in said.out
    assert not said.err
