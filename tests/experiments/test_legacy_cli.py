"""`assay import-legacy` as it is typed, and where what it took can be seen."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typed import Said

from core.model.legacy import LegacyEvaluation
from experiments.__main__ import main

APRIL: dict[str, Any] = {
    "model": "qwen3:1.7b",
    "judge_model": "claude-sonnet-4-20250514",
    "index_name": "avap-docs-test-v4-bge",
    "timestamp": "2026-04-06T10:12:13",
    "verdict": "ACCEPTABLE",
    "scores": {
        "faithfulness": 58.43, "answer_relevancy": 84.0, "context_recall": 60.67, "context_precision": 63.84,
    },
    "global_score": 66.81,
    "results": [
        {"id": "GD-V-009", "faithfulness": 90,
         "answer_preview": '```avap\npackage main\nimport "fmt"\nfunc main() {\n  fm...'},
        {"id": "GD-C-001", "answer_preview": "```avap\nx = 1\naddResult(x)\n```\n", "faithfulness": 80, "tokens": 7},
    ],
}  # fmt: skip


class Desk:
    """A folder with old files, and a results root."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.results = root / "results"
        self._capsys = capsys

    def file(self, name: str, content: Any) -> Path:
        file = self.root / name
        file.write_bytes(content if isinstance(content, bytes) else json.dumps(content, indent=1).encode())
        return file

    def type(self, *words: str | Path) -> Said:
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(words[0]), "--results", str(self.results), *map(str, words[1:])])
        captured = self._capsys.readouterr()
        return Said(int(ended.value.code or 0), captured.out, captured.err)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    monkeypatch.setenv("COLUMNS", "160")
    return Desk(tmp_path, capsys)


def test_a_file_is_kept_byte_for_byte_beside_what_it_says(desk: Desk) -> None:
    file = desk.file("evaluation_bge docs.json", APRIL)
    said = desk.type("import-legacy", file)
    assert said.code == 0, said.err
    [folder] = (desk.results / "legacy").iterdir()
    assert folder.name.startswith("evaluation_bge-docs-")
    assert (folder / "original.json").read_bytes() == file.read_bytes()
    kept = LegacyEvaluation.model_validate_json((folder / "imported.json").read_bytes())
    assert kept.source == "evaluation_bge docs.json"
    assert folder.name.endswith(kept.sha256[:12])
    for line in (
        "NON-BINDING",
        "judge: claude-sonnet-4-20250514  (from judge_model)",
        "faithfulness: 0.5843  (from scores.faithfulness, written 58.43)",
        "scores were read as percentages",
        "the global score 0.6681 is NOT the mean of its parts, 0.66735",
        "code in 2 of 2 answers (2 of them previews): 1 invalid, 1 clean, under lrm-2026.04; lower bounds",
        "not citable: judge claude-sonnet-4-20250514 was retired on 2026-06-15",
        "kept, not understood: results.*.tokens",
    ):
        assert line in said.out


def test_it_is_seen_in_the_list_and_shown_by_any_of_its_names(desk: Desk) -> None:
    desk.type("import-legacy", desk.file("evaluation_bge.json", APRIL))
    listed = desk.type("list")
    assert "legacy/evaluation_bge-" in listed.out
    assert "non-binding" in listed.out
    assert "2026-04-06 10:12" in listed.out
    [line] = desk.type("list", "--json").json["legacy"]
    assert (line["entries"], line["date"]) == (2, "2026-04-06T10:12:13")
    name = line["name"]
    for wanted in (name, name.removeprefix("legacy/"), "evaluation_bge", name[-12:-6], line["folder"]):
        shown = desk.type("show", wanted)
        assert shown.code == 0, shown.err
        assert name in shown.out
    assert desk.type("show", "evaluation_bge", "--json").json["facts"]["verdict"]["value"] == "ACCEPTABLE"
    assert desk.type("show", "evaluation").code == 2


def test_importing_again_changes_nothing(desk: Desk) -> None:
    file = desk.file("evaluation_bge.json", APRIL)
    desk.type("import-legacy", file)
    [folder] = (desk.results / "legacy").iterdir()
    before = (folder / "imported.json").read_bytes()
    assert desk.type("import-legacy", file).code == 0
    assert [path.name for path in (desk.results / "legacy").iterdir()] == [folder.name]
    assert (folder / "imported.json").read_bytes() == before


def test_a_half_import_is_not_listed_and_is_completed_by_the_next(desk: Desk) -> None:
    file = desk.file("evaluation_bge.json", APRIL)
    desk.type("import-legacy", file)
    [folder] = (desk.results / "legacy").iterdir()
    (folder / "imported.json").unlink()
    assert desk.type("list", "--json").json["legacy"] == []
    assert desk.type("import-legacy", file).code == 0
    assert len(desk.type("list", "--json").json["legacy"]) == 1


def test_a_damaged_import_is_told_and_hides_no_other(desk: Desk) -> None:
    desk.type("import-legacy", desk.file("one.json", APRIL), desk.file("two.json", {**APRIL, "verdict": "x"}))
    [damaged] = (desk.results / "legacy").glob("one-*")
    (damaged / "imported.json").write_text("{")
    lines = {line["name"].partition("-")[0]: line for line in desk.type("list", "--json").json["legacy"]}
    assert "does not read back" in lines["legacy/one"]["fault"]
    assert lines["legacy/two"]["entries"] == 2
    shown = desk.type("show", "one")
    assert shown.code == 3
    assert "original.json again" in shown.err


def test_files_that_mean_nothing_certain_are_refused_and_the_others_imported(desk: Desk) -> None:
    good = desk.file("good.json", APRIL)
    twice = desk.file("twice.json", b'{"model": "a",\n "model": "b"}')
    other = desk.file("other.json", {"weather": "fine"})
    said = desk.type("import-legacy", twice, good, other, desk.root / "none.json")
    assert said.code == 2
    assert f'{twice}:2: the key "model" is there twice' in said.err
    assert "other.json: no name of the mapping legacy@1 finds anything in it" in said.err
    assert "none.json: cannot be read" in said.err
    assert [path.name.partition("-")[0] for path in (desk.results / "legacy").iterdir()] == ["good"]
    view = desk.type("import-legacy", twice, good, "--json")
    assert view.code == 2
    assert (len(view.json["imported"]), len(view.json["refused"])) == (1, 1)


def test_the_scale_and_the_names_can_be_said(desk: Desk, configs: Path) -> None:
    mixed = desk.file("mixed.json", {"faithfulness": 53.2, "context_recall": 0.9, "richter": "a-judge"})
    assert "not taken: some scores are above 1 and some below" in desk.type("import-legacy", mixed).out
    mapping = desk.root / "mine.yaml"
    shutil.copyfile(configs / "legacy.yaml", mapping)
    mapping.write_text(mapping.read_text().replace("judge: [judge,", "judge: [richter, judge,"))
    said = desk.type("import-legacy", mixed, "--scale", "percent", "--mapping", mapping)
    assert "judge: a-judge  (from richter)" in said.out
    assert "context_recall: 0.0090" in said.out
    assert desk.type("import-legacy", mixed, "--scale", "undecided").code == 2
    assert desk.type("import-legacy", mixed, "--mapping", desk.root / "gone.yaml").code == 2


def test_nothing_that_it_keeps_is_taken_for_a_run(desk: Desk) -> None:
    desk.type("import-legacy", desk.file("evaluation_bge.json", APRIL))
    assert desk.type("list", "--json").json["runs"] == []
    assert desk.type("report", "evaluation_bge").code == 2
