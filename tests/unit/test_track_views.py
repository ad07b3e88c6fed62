"""What W&B is to show of a run: the same for the same record, and nothing that a later row could change."""

import json
from pathlib import Path

import pytest
from evaluation_rows import record
from tracked_runs import DATA, QUESTIONS, RUNS, SUITES, begun, conclude, evaluation, finished, judged, write_cell

from core.adapters.track import View, project, tracked_ids
from core.adapters.track.project import CellRows, Subject
from core.adapters.track.tables import any_rows, numbers_in, sheets
from core.errors import ConfigError, StoreError
from core.lab.store import RunFolder
from core.model.judged import Metric
from experiments.tracked import subject
from experiments.tracking import views_of


def by_name(views: tuple[View, ...]) -> dict[str, View]:
    return {view.name: view for view in views}


def test_one_view_per_suite_and_one_for_the_whole(tmp_path: Path) -> None:
    views = views_of(finished(tmp_path))
    assert [(view.name, view.job_type, view.group) for view in views] == [
        ("test/alpha", "suite", "test"),
        ("test/beta", "suite", "test"),
        ("test", "experiment", "test"),
    ]
    assert {view.id for view in views} == set(tracked_ids(record(*SUITES, runs=RUNS, data=DATA)).values())


def test_ids_belong_to_one_beginning_of_one_run() -> None:
    one, again = tracked_ids(record("a", "b")), tracked_ids(record("a", "b"))
    assert one == again
    assert len({*one.values()}) == 3
    over = tracked_ids(record("a", "b", created_at="2026-11-22T00:00:00Z"))
    assert not {*one.values()} & {*over.values()}
    assert all(run.startswith("f" * 12) for run in one.values())


def test_curves_are_the_run_means_of_the_report(tmp_path: Path) -> None:
    views = by_name(views_of(finished(tmp_path)))
    for suite in evaluation().suites:
        history = views[f"test/{suite.suite}"].history
        assert [row.step for row in history] == [1, 2, 3]
        for row, means in zip(history, suite.runs, strict=True):
            assert row.values["run"] == means.run
            for metric in Metric:
                assert row.values[f"run/{metric.value}/final"] == means.final[metric]
                assert row.values[f"run/{metric.value}/raw"] == means.raw[metric]
            assert row.values["run/syntactic_validity"] == means.syntactic_validity


def test_a_point_is_told_only_when_none_can_come_before_it() -> None:
    def cell(run: int, *, is_done: bool) -> CellRows:
        return CellRows("alpha", run, judged("alpha", run), is_done=is_done)

    def steps(*cells: CellRows) -> list[int]:
        [view, _] = project(Subject(record("alpha", runs=RUNS), {}, cells))
        return [row.step for row in view.history]

    assert steps(cell(2, is_done=True)) == []
    assert steps(cell(1, is_done=True), cell(2, is_done=False), cell(3, is_done=True)) == [1]
    assert steps(cell(3, is_done=True), cell(1, is_done=True), cell(2, is_done=True)) == [1, 2, 3]


def test_a_cell_without_code_has_no_validity_rather_than_zero() -> None:
    rows = [row.model_copy(update={"syntax": None, "blocks": (), "category": None}) for row in judged("alpha", 2)]
    [view, _] = project(Subject(record("alpha"), {}, (CellRows("alpha", 1, rows, is_done=True),)))
    assert "run/syntactic_validity" not in view.history[0].values
    assert view.history[0].values["run/code_bearing"] == 0


def test_tables_hold_every_row_raw_and_final(tmp_path: Path) -> None:
    table = by_name(views_of(finished(tmp_path)))["test/alpha"].tables["rows"]
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert [(row["run"], row["id"]) for row in rows] == [(r, q.id) for r in (1, 2, 3) for q in QUESTIONS]
    assert (rows[0]["faithfulness/final"], rows[0]["faithfulness/raw"]) == (0.0, 0.9)
    assert rows[0]["syntax"] == "INVALID"
    assert rows[0]["trace"]


def test_confusion_scoreboard_gates_and_the_sheets_of_a_report(tmp_path: Path) -> None:
    views = by_name(views_of(finished(tmp_path)))
    confusion = views["test/alpha"].tables["confusion"]
    assert confusion.rows == (("foreign_keyword", "GD-C-001", "startLoop", 1, "1"),)
    spread = {row[0]: row for row in views["test/alpha"].tables["statistics"].rows}
    told = {line.metric: line.dip_power for line in evaluation().suites[0].statistics}
    assert {metric: row[-2] for metric, row in spread.items()} == told
    whole = views["test"]
    board = {row[:2]: row for row in whole.tables["scoreboard"].rows}
    means = evaluation().suites[0].metric(Metric.GLOBAL).final
    assert board["alpha", "global_score"][2] == means.mean
    assert {row[6] for row in whole.tables["gates"].rows} == {False}
    assert whole.tables["tests"].rows == (("copy", 0.25), ("none", None))
    assert sorted(whole.pages) == ["report.html", "shares.svg"]
    assert [row[0] for row in whole.tables["binding_faults"].rows] == whole.summary["binding_faults"]
    assert whole.tags[-1] == "non-binding"


def test_lineage_is_by_content_and_knows_no_clock(tmp_path: Path) -> None:
    suite, _, whole = views_of(finished(tmp_path))
    assert [(artifact.type, artifact.name) for artifact in suite.used] == [
        ("index", "index-docs"), ("dataset", "golden-golden"), ("dataset", "pool-pool"),
    ]  # fmt: skip
    assert suite.used == whole.used
    assert "built_at" not in json.loads(suite.used[0].files["manifest.json"])
    assert json.loads(suite.used[2].files["pins.json"]) == {"pool/a.yaml": "2" * 64, "pool/b.yaml": "3" * 64}
    record_of, report_of = whole.made
    assert sorted(record_of.files) == ["config.yaml", "record.json"]
    assert {"report.html", "report.json", "report.md"} <= report_of.files.keys()


def test_equal_folders_give_equal_views_and_a_changed_one_another(tmp_path: Path) -> None:
    one, other = finished(tmp_path / "a"), finished(tmp_path / "b")
    assert [view.digest for view in views_of(one)] == [view.digest for view in views_of(other)]
    other.write("report.html", b"another page")
    before, after = views_of(one), views_of(other)
    assert [a.digest == b.digest for a, b in zip(before, after, strict=True)] == [True, True, False]


def test_what_is_shown_live_changes_with_cells_and_not_with_rows(tmp_path: Path) -> None:
    folder = begun(tmp_path)
    write_cell(folder, "alpha", 1)
    before = [view.live.digest for view in project(subject(folder))]
    (folder.path / "cells" / "alpha.run-02").mkdir()
    line = judged("alpha", 2)[0].model_dump_json()
    (folder.path / "cells" / "alpha.run-02" / "samples.jsonl").write_text(f"{line}\n")
    assert [view.live.digest for view in project(subject(folder))] == before
    assert not project(subject(folder))[0].live.tables


def test_a_run_without_its_end_is_shown_as_far_as_it_got(tmp_path: Path) -> None:
    folder = begun(tmp_path)
    write_cell(folder, "alpha", 1)
    alpha, beta, whole = views_of(folder)
    assert ([row.step for row in alpha.history], beta.history) == ([1], ())
    assert whole.summary["status"] == "interrupted"
    assert "the run has not come to its end" in whole.summary["binding_faults"]
    assert [artifact.type for artifact in whole.made] == ["record"]


def test_a_run_without_a_record_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no record yet"):
        views_of(RunFolder(tmp_path / "msvl" / "x-000000000000"))


def test_a_report_file_that_is_gone_is_told(tmp_path: Path) -> None:
    folder = finished(tmp_path)
    (folder.path / "report.md").unlink()
    with pytest.raises(StoreError, match=r"report\.md is not there"):
        views_of(folder)


def test_a_damaged_row_is_told(tmp_path: Path) -> None:
    folder = finished(tmp_path)
    file = folder.path / "cells" / "beta.run-02" / "samples.jsonl"
    file.write_text("nonsense\n" + file.read_text())
    with pytest.raises(StoreError, match=r"beta\.run-02"):
        views_of(folder)


def test_an_unfinished_run_has_no_gates_and_a_finished_one_has(tmp_path: Path) -> None:
    folder = begun(tmp_path)
    assert "gates" not in views_of(folder)[-1].tables
    for suite in SUITES:
        for run in range(1, RUNS + 1):
            write_cell(folder, suite, run)
    conclude(folder)
    assert "gates" in views_of(folder)[-1].tables


def test_rows_of_any_experiment_become_a_table_of_one_type_per_column() -> None:
    table = any_rows([{"id": "a", "n": 1, "mixed": 1}, {"id": "b", "n": 2.5, "mixed": "x", "nested": {"k": [1]}}])
    assert table.columns == ("id", "n", "mixed", "nested")
    assert table.rows == (("a", 1, "1", None), ("b", 2.5, "x", '{"k": [1]}'))


def test_arms_of_a_suite_stand_for_it() -> None:
    cells = tuple(CellRows(f"alpha.{arm}", 1, [{"id": "a", "n": 2}], is_done=True) for arm in ("both", "neither"))
    views = project(Subject(record("alpha"), {"suites": [{"name": "alpha"}]}, cells))
    assert [view.name for view in views] == ["test/alpha.both", "test/alpha.neither", "test"]
    assert views[0].config["recorded"]["retrieval_mode"] == "hybrid"
    assert views[0].used == views[1].used != ()
    assert views[0].history[0].values == {"run": 1, "run/rows": 1, "run/n": 2.0}


def test_numbers_of_a_report_of_another_kind() -> None:
    assert numbers_in({"a": {"b": 1, "c": "x"}, "d": True, "e": [1], "f": float("nan")}) == {"a.b": 1}


def test_sheets_read_words_numbers_and_gaps() -> None:
    [table] = sheets({"x.csv": b"name,value\na,1\nb,\nc,nan\n", "y.json": b"{}"}).values()
    assert table.rows == (("a", "1.0"), ("b", None), ("c", "nan"))
    assert sheets({"z.csv": b""})["z"].rows == ()
