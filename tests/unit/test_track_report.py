"""The W&B Report: built without a network, from what the views hold."""

from pathlib import Path
from typing import Any

import pytest
from tracked_runs import begun, finished

from core.adapters.track import compose
from core.adapters.track.publish import ROWS, markdown
from core.adapters.track.view import Table
from experiments.tracking import views_of


def composed(folder: Any, urls: dict[str, str] | None = None) -> Any:
    return compose(views_of(folder), urls or {}, "project", "team")


def sections(report: Any) -> dict[str, Any]:
    """The block after each heading, by the heading's text."""
    kinds = [type(block).__name__ for block in report.blocks]
    return {report.blocks[n].text: report.blocks[n + 1] for n, kind in enumerate(kinds) if kind == "H2"}


def test_every_part_of_the_campaign_has_its_block(tmp_path: Path) -> None:
    report = composed(finished(tmp_path))
    assert report.title == "test: NON-BINDING"
    assert report.blocks[0].text.startswith("NON-BINDING: these numbers may not be cited")
    found = sections(report)
    assert list(found) == [
        "Scoreboard", "Syntactic validity", "Gates", "Tests",
        "test/alpha: what the parser rejected", "test/alpha: failures by construct",
        "test/beta: what the parser rejected", "test/beta: failures by construct",
        "Why these numbers may not be cited", "What these numbers cannot show", "Runs",
    ]  # fmt: skip
    board = found["Scoreboard"].text
    assert "| alpha | global_score |" in board
    assert "| low | high |" in board
    assert "| test/alpha | 0.8889 |" in found["Syntactic validity"].text
    assert "foreign_keyword" in found["test/alpha: what the parser rejected"].text
    assert len(found["Why these numbers may not be cited"].items) == 5


def test_no_block_needs_the_network_and_the_server_takes_their_model(tmp_path: Path) -> None:
    report = composed(finished(tmp_path))
    kinds = {type(block).__name__ for block in report.blocks}
    assert kinds == {"CalloutBlock", "TableOfContents", "H2", "MarkdownBlock", "UnorderedList"}
    model = report._to_model()
    assert (model.project.entity_name, model.project.name) == ("team", "project")
    assert "markdown-block" in model.spec.model_dump_json()


def test_runs_are_linked_where_they_have_an_address(tmp_path: Path) -> None:
    folder = finished(tmp_path)
    whole = views_of(folder)[-1]
    runs = sections(composed(folder, {whole.id: "https://w/team/project/runs/x"}))["Runs"].text
    assert "- [test](https://w/team/project/runs/x)" in runs
    assert "\n- test/beta\n" in runs


def test_a_run_that_has_not_ended_can_be_reported_as_far_as_it_is(tmp_path: Path) -> None:
    assert "Why these numbers may not be cited" in sections(composed(begun(tmp_path)))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (0.0, "0.0000"), (0.5, "0.5000"), (1e-5, "1.0e-05"), ("a|b\nc", "a\\|b c"), (3, "3")],
)
def test_cells_say_what_is_missing_and_keep_their_table(value: Any, shown: str) -> None:
    assert markdown(Table(("x",), ((value,),))).splitlines()[2] == f"| {shown} |"


def test_a_long_table_is_cut_and_says_so() -> None:
    text = markdown(Table(("x",), tuple((n,) for n in range(ROWS + 7))))
    assert "7 more rows are in the table of the run." in text
