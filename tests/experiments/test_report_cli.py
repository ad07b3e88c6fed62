"""`assay report` as it is typed: it renders, it says what it wrote, and it touches no number."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest
from shown_runs import begun, stored
from typed import Said

from core.errors import ExitCode
from core.lab.store import RunFolder
from experiments.__main__ import main


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


@pytest.fixture
def april(results: Path) -> RunFolder:
    return stored(results, "april")


def typed(capsys: pytest.CaptureFixture[str], results: Path, *words: str) -> Said:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(["report", "--results", str(results), *words])
    captured = capsys.readouterr()
    return Said(int(ended.value.code or 0), captured.out, captured.err)


def contents(folder: RunFolder) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder.path)): file.read_bytes()
        for file in sorted(folder.path.rglob("*"))
        if file.is_file() and file.name != "lock"
    }


def test_what_is_as_it_should_be_is_left_alone(
    results: Path, april: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(april)
    said = typed(capsys, results, "april")
    assert said.code == 0, said.err
    assert said.out.count("unchanged") == 2
    assert contents(april) == before


def test_a_page_of_another_day_is_written_again_and_the_outcome_knows_it(
    results: Path, april: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(april)
    april.write("report.html", b"an older page")
    (april.path / "report.md").unlink()
    said = typed(capsys, results, "april")
    assert said.code == 0, said.err
    assert said.out.count("written") == 2
    assert contents(april) == before
    assert april.outcome is not None
    assert april.holds(april.outcome.files)


def test_numbers_are_never_written(results: Path, april: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    spaced = (april.path / "report.json").read_bytes() + b"\n"
    april.write("report.json", spaced)
    assert typed(capsys, results, "april").code == 0
    assert (april.path / "report.json").read_bytes() == spaced


@pytest.mark.parametrize("harm", ["row lost", "score changed"])
def test_rows_that_the_numbers_were_not_made_from_are_refused(
    results: Path, april: RunFolder, capsys: pytest.CaptureFixture[str], harm: str
) -> None:
    file = april.path / "cells" / "main.run-02" / "samples.jsonl"
    lines = file.read_text("utf-8").splitlines(keepends=True)
    file.write_text(
        "".join(lines[1:] if harm == "row lost" else [lines[0].replace("0.32", "0.52"), *lines[1:]]), "utf-8"
    )
    before = contents(april)
    said = typed(capsys, results, "april")
    assert said.code == ExitCode.INCOMPLETE
    assert ("counts 16 rows, there are 15" if harm == "row lost" else "faithfulness is") in said.err
    assert contents(april) == before


def test_a_run_without_a_report_is_told_what_makes_one(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    killed = begun(results, "killed")
    said = typed(capsys, results, "killed")
    assert said.code == ExitCode.CONFIG
    assert f"assay resume {killed.name}" in said.err


def test_a_run_that_is_driven_is_not_written_to(
    results: Path, april: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    april.write("report.html", b"an older page")
    with april.driven():
        assert typed(capsys, results, "april").code != 0
    assert (april.path / "report.html").read_bytes() == b"an older page"


def test_elsewhere_leaves_the_run_alone_and_the_page_opens(
    results: Path, april: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def browser(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", browser)
    page = contents(april)["report.html"]
    april.write("report.html", b"an older page")
    said = typed(capsys, results, "april", "--to", str(tmp_path / "out"), "--open")
    assert said.code == 0, said.err
    assert (tmp_path / "out" / "report.html").read_bytes() == page
    assert (april.path / "report.html").read_bytes() == b"an older page"
    assert opened == [(tmp_path / "out" / "report.html").as_uri()]
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert "no browser could be started" in typed(capsys, results, "april", "--open").err
