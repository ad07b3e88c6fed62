"""Commands about runs, as people meet them when something is amiss: what is said, which code, how to go on."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest
from typed import Terminal

from core.lab.lock import only_driver
from core.model.record import Provenance
from experiments.registry import EXPERIMENTS


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    monkeypatch.setitem(EXPERIMENTS, "toy", "toy_lab:Toy")
    monkeypatch.delenv("ASSAY_RESULTS")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return Terminal(tmp_path, capsys)


def after(text: str, mark: str) -> list[str]:
    """The words of the command that `text` names after `mark`."""
    [line] = [line for line in text.splitlines() if mark in line]
    return shlex.split(line.partition(mark)[2].partition(";")[0].strip())


class TestPlan:
    def test_says_what_would_run_and_writes_nothing(self, terminal: Terminal) -> None:
        said = terminal.type("plan", "it")
        assert said.code == 0
        assert "4 cells, 12 rows" in said.out
        assert "not started" in said.out
        assert "estimated cost: USD 0.50" in said.out
        assert "note: a toy" in said.out
        assert not (terminal.root / "results").exists()

    def test_knows_how_the_run_stands(self, terminal: Terminal) -> None:
        terminal.type("run", "it")
        assert "complete: " in terminal.type("plan", "it").out
        with only_driver(terminal.folder() / "lock"):
            assert terminal.type("plan", "it", "--json").json["status"] == "running"

    def test_every_root_may_be_relative(self, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ASSAY_RESULTS", "some/where")
        monkeypatch.setenv("ASSAY_CONFIGS", "configs")
        assert terminal.type("run", "it").code == 0
        assert terminal.folder("some/where").is_dir()
        assert terminal.type("show", "latest").code == 0


class TestGoingOn:
    @pytest.mark.parametrize("results", ["results", "else where/it's"])
    def test_the_command_that_is_named_goes_on(self, terminal: Terminal, results: str) -> None:
        terminal.trouble("down", "b.run-02/two")
        stopped = terminal.type("run", "it", "--results", results)
        assert stopped.code == 5
        terminal.heal()
        command = after(stopped.err, "then: assay ")
        assert terminal.type(*command).code == 0
        assert (terminal.folder(results) / "report.json").exists()

    def test_after_a_partial_report_too(self, terminal: Terminal) -> None:
        terminal.trouble("missing", "a.run-01/two")
        partial = terminal.type("run", "it", "--results", "other")
        assert partial.code == 3
        assert "1 of 12 rows are missing" in partial.out
        terminal.heal()
        assert terminal.type(*after(partial.out, "go on with: assay ")).code == 0

    def test_rows_without_evidence_are_no_success(self, terminal: Terminal) -> None:
        terminal.trouble("useless")
        said = terminal.type("run", "it")
        assert said.code == 3
        assert "none of the 12 rows holds any evidence" in said.out

    def test_a_second_driver_is_turned_away(self, terminal: Terminal) -> None:
        terminal.type("run", "it")
        with only_driver(terminal.folder() / "lock"):
            for words in (("run", "it"), ("resume", "latest"), ("run", "it", "--fresh")):
                said = terminal.type(*words)
                assert said.code == 3
                assert "another process" in said.err
        assert terminal.type("list", "--json").json["runs"][0]["status"] == "complete"

    def test_a_finished_run_is_shown_again(self, terminal: Terminal) -> None:
        first, again = terminal.type("run", "it"), terminal.type("run", "it")
        assert (first.code, again.code) == (0, 0)
        assert first.out == again.out

    def test_a_renamed_run_does_not_go_on_as_what_it_is_not(self, terminal: Terminal) -> None:
        terminal.trouble("down", "b.run-02/two")
        terminal.type("run", "it")
        terminal.heal()
        folder = terminal.folder()
        folder.rename(folder.with_name("it-000000000000"))
        said = terminal.type("resume", "latest")
        assert said.code == 2
        assert "set aside, renamed or edited" in said.err

    def test_an_edited_configuration_does_not_go_on_either(self, terminal: Terminal) -> None:
        terminal.trouble("down", "b.run-02/two")
        terminal.type("run", "it")
        config = terminal.folder() / "config.yaml"
        config.write_text(config.read_text().replace("factor: 2", "factor: 3"))
        assert terminal.type("resume", "latest").code == 2
        config.write_text(": : {")
        said = terminal.type("resume", "latest")
        assert (said.code, str(config.relative_to(terminal.root)) in said.err) == (2, True)

    def test_what_the_run_stood_on_must_stand(self, terminal: Terminal) -> None:
        terminal.trouble("down", "b.run-02/two")
        terminal.type("run", "it")
        terminal.heal()
        terminal.trouble("prompt", "another")
        said = terminal.type("resume", "latest")
        assert said.code == 2
        assert "prompts.ask@1: was" in said.err
        assert "--fresh" in said.err


DAMAGE = ["outcome.json", "record.json", "cells/a.run-01/done.json"]


class TestDamage:
    @pytest.mark.parametrize("name", DAMAGE)
    def test_is_told_by_file_and_remedy(self, terminal: Terminal, name: str) -> None:
        terminal.type("run", "it")
        folder = terminal.folder()
        (folder / "outcome.json").unlink()
        (folder / name).write_text('{"rows":')
        said = terminal.type("run", "it")
        assert said.code == 3
        assert f"{name} does not read back" in said.err
        can_be_made_again = name != "record.json"
        assert ("then: assay resume" in said.err) is can_be_made_again
        assert ("--fresh" in said.err) is not can_be_made_again

    @pytest.mark.parametrize("name", ["outcome.json", "cells/a.run-01/done.json"])
    def test_of_what_can_be_made_again_is_mended_as_told(self, terminal: Terminal, name: str) -> None:
        terminal.type("run", "it")
        folder = terminal.folder()
        report = (folder / "report.json").read_bytes()
        (folder / "outcome.json").unlink()
        (folder / name).write_text("[]")
        assert "delete it" in terminal.type("run", "it").err
        (folder / name).unlink()
        assert terminal.type("run", "it").code == 0
        assert (folder / "report.json").read_bytes() == report

    def test_of_the_record_is_mended_by_a_fresh_run(self, terminal: Terminal) -> None:
        terminal.type("run", "it")
        (terminal.folder() / "outcome.json").unlink()
        (terminal.folder() / "record.json").write_text("{}")
        assert terminal.type("run", "it").code == 3
        assert terminal.type("run", "it", "--fresh").code == 0
        statuses = {line["run"].partition(".")[2]: line for line in terminal.type("list", "--json").json["runs"]}
        assert statuses[""]["status"] == "complete"
        assert statuses["before-1"]["fault"]

    def test_of_one_run_does_not_hide_the_others(self, terminal: Terminal) -> None:
        terminal.type("run", "it")
        terminal.type("run", "it", "--set", "seed=2")
        broken, _ = sorted((terminal.root / "results" / "toy").iterdir())
        (broken / "outcome.json").write_text("")
        listed = terminal.type("list")
        assert listed.code == 0
        assert "damaged" in listed.out
        assert "complete" in listed.out
        assert terminal.type("show", broken.name).code == 3

    def test_a_row_changed_after_its_cell_was_done(self, terminal: Terminal) -> None:
        terminal.type("run", "it")
        (terminal.folder() / "outcome.json").unlink()
        samples = terminal.folder() / "cells" / "b.run-01" / "samples.jsonl"
        samples.write_bytes(samples.read_bytes().replace(b'"value":', b'"value":1'))
        said = terminal.type("run", "it")
        assert said.code == 3
        assert "samples.jsonl is not what it was" in said.err

    def test_a_row_in_the_middle(self, terminal: Terminal) -> None:
        terminal.trouble("down", "b.run-02/three")
        terminal.type("run", "it")
        terminal.heal()
        samples = terminal.folder() / "cells" / "b.run-02" / "samples.jsonl"
        first, second = samples.read_bytes().splitlines()
        samples.write_bytes(first[:-3] + b"\n" + second + b"\n")
        said = terminal.type("resume", "latest")
        assert said.code == 3
        assert "samples.jsonl:1: line 1 is damaged and whole rows follow it" in said.err

    def test_a_lost_row_count_is_not_believed(self, terminal: Terminal) -> None:
        terminal.type("run", "it")
        folder = terminal.folder()
        shutil.rmtree(folder / "cells" / "a.run-02")
        (folder / "outcome.json").unlink()
        assert "interrupted" in terminal.type("show", "latest").out
        assert terminal.type("run", "it").code == 0
        assert (folder / "cells" / "a.run-02" / "done.json").exists()


class TestShow:
    def test_a_run_before_its_end(self, terminal: Terminal) -> None:
        terminal.type("run", "it")
        (terminal.folder() / "outcome.json").unlink()
        said = terminal.type("show", "latest")
        assert "interrupted" in said.out
        assert "not citable" in said.out

    def test_a_run_before_its_record(self, terminal: Terminal) -> None:
        terminal.type("run", "it")
        for name in ("outcome.json", "record.json"):
            (terminal.folder() / name).unlink()
        assert "no record" in terminal.type("show", "latest").out
        [line] = terminal.type("list", "--json").json["runs"]
        assert (line["binding"], line["rows"], line["exit_code"]) == (None, None, None)

    def test_a_gate_that_failed(self, terminal: Terminal) -> None:
        assert terminal.type("run", "it", "--set", "floor=99999999").code == 1
        said = terminal.type("show", "latest")
        assert said.code == 0, "showing is no judging"
        assert "gate failed: total" in said.out

    def test_ambiguous_and_unknown_names(self, terminal: Terminal) -> None:
        terminal.type("run", "it")
        terminal.type("run", "it", "--set", "seed=2")
        said = terminal.type("show", "it")
        assert (said.code, "2 runs match 'it'" in said.err) == (2, True)
        assert "did you mean" in terminal.type("show", "itt").err

    def test_nothing_there_yet(self, terminal: Terminal) -> None:
        for words in (("list",), ("list", "--results", "/dev/null"), ("list", "--results", "nowhere")):
            said = terminal.type(*words)
            assert (said.code, "no runs in" in said.out) == (0, True)
        assert terminal.type("show", "latest").code == 2

    def test_which_seed_the_environment_had(self, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("EVAL_SEED", "x")
        said = terminal.type("run", "it")
        assert (said.code, "EVAL_SEED='x' is not an integer" in said.err) == (2, True)
        monkeypatch.setenv("EVAL_SEED", "7")
        assert terminal.type("run", "it").code == 0
        faults = terminal.type("show", "latest", "--json").json["binding_faults"]
        assert "EVAL_SEED=7 differs from the configured seed 0" in faults


class TestPlaces:
    def test_results_that_cannot_be_written(self, terminal: Terminal) -> None:
        (terminal.root / "file").write_text("")
        for root in ("file", "/dev/null", "/proc/nothing"):
            said = terminal.type("run", "it", "--results", root)
            assert said.code == 3
            assert root in said.err

    def test_configs_that_are_no_folder(self, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ASSAY_CONFIGS", "nowhere")
        said = terminal.type("plan", "it")
        assert (said.code, "ASSAY_CONFIGS is 'nowhere'" in said.err) == (2, True)


class TestBinding:
    """A toy record as it must be to be cited; what then still speaks against it."""

    @pytest.fixture
    def by_the_book(self, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
        clean = Provenance(
            commit="c" * 40, dirty=False, assay_version="1", python="3.11", platform="p", packages={}, argv=(),
            notebook=False, container_image_digest="sha256:1", eval_seed=0,
        )  # fmt: skip
        monkeypatch.setattr("experiments.launch.gather", lambda *_: clean)
        return terminal

    def test_a_complete_run_is_binding(self, by_the_book: Terminal) -> None:
        assert "BINDING" in by_the_book.type("run", "it", "--set", "runs=5").out
        [line] = by_the_book.type("list", "--json").json["runs"]
        assert line["binding"] is True

    @pytest.mark.parametrize("end", ["missing", "down"])
    def test_one_with_rows_missing_is_not(self, by_the_book: Terminal, end: str) -> None:
        by_the_book.trouble(end, "b.run-05/two")
        by_the_book.type("run", "it", "--set", "runs=5")
        [line] = by_the_book.type("list", "--json").json["runs"]
        assert line["binding"] is False
        assert "NON-BINDING (1)" in by_the_book.type("show", "latest").out
