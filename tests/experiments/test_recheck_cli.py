"""`assay recheck` and `assay avap diff-vocabularies`, from outside."""

import json
from pathlib import Path

import pytest
from evaluation_rows import question, record, row
from typer.testing import CliRunner

from core.adapters.languages import load_vocabulary
from core.avap import PARSER_VERSION, check
from core.errors import ConfigError, ExitCode
from core.flows.recheck import rejudged
from core.lab.outcome import Outcome, Status
from core.lab.store import RunFolder
from core.model.judged import Block, BlockKind, JudgedRow
from core.model.syntax import Dialect
from experiments.__main__ import main
from experiments.commands.avap import app as avap
from experiments.launch import prepared

RUN = CliRunner()
OLD = load_vocabulary("lrm-2026.04")


def judged(number: int, code: str) -> JudgedRow:
    result = check(code, OLD, Dialect.STRICT)
    block = Block(kind=BlockKind.CODE, label="avap", line=1, closed=True, code=code, result=result)
    plain = row(question(number), value=0.5, syntax=None, suite="main").model_copy(update={"blocks": (block,)})
    return rejudged(plain, lambda row, code: check(code, OLD, Dialect.STRICT))


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A finished run of two answers, one of which the newer vocabulary accepts."""
    folder = RunFolder(tmp_path / "msvl" / "test-0123456789ab")
    cell = folder.path / "cells" / "main.run-01"
    cell.mkdir(parents=True)
    rows = [judged(1, "addVar(x, 1)"), judged(2, 'variableFromJSON(reply, "name", target)')]
    (cell / "samples.jsonl").write_text("".join(f"{each.model_dump_json()}\n" for each in rows))
    folder.write("config.yaml", prepared("msvl", []).text.encode())
    folder.write_model("record.json", record(runs=1))
    ended = Outcome(
        status=Status.COMPLETE, exit_code=ExitCode.OK, rows=2, expected=2, finished_at="2026-11-21T00:00:00Z"
    )
    folder.write_model("outcome.json", ended)
    return folder


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int | str | None, str]:
    with pytest.raises(SystemExit) as ended:
        main([*words])
    return ended.value.code, capsys.readouterr().out


def test_it_prints_which_verdicts_and_scores_change(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    before = (run.path / "cells/main.run-01/samples.jsonl").read_bytes()
    code, text = said(capsys, "recheck", str(run.path), "--vocabulary", "definitions-2026.03")
    assert code == 0
    assert "2 answers, 2 with code: 1 verdicts change, 0 more change their category" in text
    assert "main.run-01/GD-C-002: INVALID unknown_token -> VALID, global 0.2500 -> 0.5000" in text
    assert "main syntactic_validity: 0.5000 -> 1.0000" in text
    assert "may not be cited beside runs of the new gate" in text
    assert (run.path / "cells/main.run-01/samples.jsonl").read_bytes() == before


def test_nothing_changes_under_the_same_vocabulary(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = said(capsys, "recheck", str(run.path), "--vocabulary", OLD.id, "--json")
    view = json.loads(text)
    assert (code, view["result"]["changes"], view["result"]["gates"]) == (0, [], [])
    assert view["after"]["main"] == {
        "version": PARSER_VERSION,
        "vocabulary": OLD.id,
        "vocabulary_sha256": OLD.sha256,
        "dialect": "strict",
    }


def test_a_run_that_is_not_finished_is_refused(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    (run.path / "outcome.json").unlink()
    with pytest.raises(SystemExit) as ended:
        main(["recheck", str(run.path), "--vocabulary", OLD.id])
    assert ended.value.code == ExitCode.CONFIG
    assert "is not finished" in capsys.readouterr().err


def test_rows_that_are_not_of_the_record_are_an_error(run: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    run.write_model("record.json", record("another", runs=1))
    with pytest.raises(SystemExit) as ended:
        main(["recheck", str(run.path), "--vocabulary", OLD.id])
    assert ended.value.code == ExitCode.INCOMPLETE
    assert "not those of its record" in capsys.readouterr().err


def test_diff_vocabularies_lists_names_and_their_effect(configs: Path) -> None:
    text = RUN.invoke(avap, ["diff-vocabularies", "lrm-2026.04", "definitions-2026.03"]).stdout
    assert "effect: INVALID can become VALID, never the other way" in text
    assert "  + variableFromJSON" in text
    file = str(configs / "languages/avap/lrm-2026.04.yaml")
    as_json = json.loads(RUN.invoke(avap, ["diff-vocabularies", file, OLD.id, "--json"]).stdout)
    assert (as_json["effect"], as_json["before"]) == ("none", as_json["after"])
    assert isinstance(RUN.invoke(avap, ["diff-vocabularies", "none", OLD.id]).exception, ConfigError)
