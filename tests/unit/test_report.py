"""What a reader sees: one page that needs nothing else, the same words everywhere, no answer that can break it."""

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from evaluation_rows import question, record, row, scored

from core.lab import report as rendering
from core.measure.summary import Background, summarise
from core.model.evaluation import EvaluationReport
from core.model.judged import Block, BlockKind, JudgedRow, Metric
from core.model.sample import QueryType
from core.model.specs import BandSpec, GateSpec
from core.model.syntax import Category, Diagnostic, ParseResult, Validity

HOSTILE = "<script>alert('x')</script> | `a` & \u2028 ¿qué?"
QUESTIONS = (question(1, question=HOSTILE), question(2), question(3, type=QueryType.RETRIEVAL))
BANDS = (BandSpec(name="GOOD", floor=0.6), BandSpec(name="POOR", floor=0.0))


def rows(*, rejected: bool = True) -> tuple[JudgedRow, ...]:
    lost = {Metric.FAITHFULNESS: scored(0.0, raw=0.9), Metric.GLOBAL: scored(0.2, raw=0.7)}
    bad: dict[str, Any] = {"syntax": Validity.INVALID, "scores": lost, "answer": HOSTILE} if rejected else {}
    return (
        row(QUESTIONS[0], 1, **bad),
        *(row(q, r) for q in QUESTIONS for r in (1, 2) if (q.id, r) != ("GD-C-001", 1)),
    )


def summary(judged: tuple[JudgedRow, ...], **changed: Any) -> EvaluationReport:
    fields: dict[str, Any] = {"record": record(), "questions": QUESTIONS, "bands": BANDS, **changed}
    return summarise(judged, Background(**fields))


class Page(HTMLParser):
    """Tags that never close, and everything that would be fetched."""

    VOID = frozenset({"meta", "br", "path", "use", "img", "link", "input", "hr"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        self.fetched += [
            value or "" for name, value in attrs if name in {"src", "href"} and not str(value).startswith("#")
        ]

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"style", "script"}:
            self.text.append(data)


def test_the_page_is_whole_and_fetches_nothing() -> None:
    page = Page(rendering.page(summary(rows()), rows()))
    assert page.open == []
    assert [address for address in page.fetched if not address.startswith("data:")] == []
    assert "script" not in page.open


def test_an_answer_cannot_break_out_of_the_page() -> None:
    text = rendering.page(summary(rows()), rows())
    assert "<script>alert" not in text
    assert HOSTILE.split("|", 1)[0].strip() in "".join(Page(text).text)


def test_page_and_markdown_say_what_the_gate_changed() -> None:
    of = summary(rows())
    effect = rendering.words.gate_effect(of.suites[0])
    assert "rejected 1 of" in effect
    assert effect in rendering.markdown(of)
    assert effect in " ".join("".join(Page(rendering.page(of, rows())).text).split())


def test_a_rejected_program_stands_with_what_the_parser_said() -> None:
    judged = rows()
    [bad] = [r for r in judged if r.syntax is Validity.INVALID]
    assert bad.blocks[0].result is not None
    text = "".join(Page(rendering.page(summary(judged), judged)).text)
    for line in bad.blocks[0].result.trace:
        assert line in text


def test_nothing_rejected_is_said_without_empty_plots() -> None:
    judged = rows(rejected=False)
    text = rendering.page(summary(judged), judged)
    assert "What the parser rejected" not in text
    assert "Rejected answers" not in text


def test_a_table_of_markdown_survives_hostile_cells() -> None:
    of = summary(rows(), gates=(GateSpec(metric="faithfulness", threshold=0.99),))
    lines = rendering.markdown(of).splitlines()
    tables = [line for line in lines if line.startswith("|")]
    widths = {len(re.split(r"(?<!\\)\|", line)) for line in tables if "faithfulness" in line or "metric" in line}
    assert len(widths) == 1
    assert any("bar >= 0.99: missed" in line for line in lines)


def test_what_was_not_measured_is_said_and_never_zero() -> None:
    of = summary((), questions=QUESTIONS)
    markdown = rendering.markdown(of)
    assert "not measured" in markdown
    assert "PARTIAL" in markdown
    assert "PARTIAL" in rendering.page(of, ())


def test_equal_reports_are_equal_bytes() -> None:
    judged = rows()
    once, again = (rendering.files(summary(judged), judged) for _ in range(2))
    assert once == again
    assert json.loads(once["report.json"])["name"] == "test"


@pytest.mark.parametrize("suites", [("a",), ("a", "b")])
def test_every_suite_has_its_part(suites: tuple[str, ...]) -> None:
    judged = tuple(r.model_copy(update={"suite": suite}) for suite in suites for r in rows())
    of = summary(judged, record=record(*suites))
    text = "".join(Page(rendering.page(of, judged)).text)
    for suite in suites:
        assert f"{suite} in numbers" in text
    assert len(rendering.summary(of)) >= 2 * len(suites)


def test_a_verdict_that_no_band_gives_is_no_verdict() -> None:
    high, both = (BandSpec(name="GOOD", floor=0.99),), (BandSpec(name="GOOD", floor=0.45),)
    for bands, end in ((), "0.4500."), (high, "0.4500."), (both, "0.4500; the verdict stays GOOD."):
        [suite] = summary(rows(), bands=bands).suites
        assert rendering.words.gate_effect(suite).endswith(end)
    [suite] = summary(rows(), bands=(BandSpec(name="GOOD", floor=0.5),)).suites
    assert rendering.words.gate_effect(suite).endswith("the verdict goes from GOOD to none.")


def test_every_fault_of_a_line_is_shown_at_its_line() -> None:
    faults = tuple(Diagnostic(line=line, column=1, category=Category.SYNTAX_ERROR, message="m") for line in (2, 2, 3))
    result = ParseResult(
        verdict=Validity.INVALID, category=Category.SYNTAX_ERROR, diagnostics=faults, trace=("one", "two", "three")
    )
    code = "first\u2028still first\nsecond\nthird\n"
    block = Block(kind=BlockKind.CODE, label="avap", line=1, closed=True, code=code, result=result)
    bad = row(QUESTIONS[0], 1, syntax=Validity.INVALID).model_copy(update={"blocks": (block,)})
    page = rendering.page(summary((bad,)), (bad,))
    program = re.sub(r"<[^>]+>", " ", page[page.index("<pre>") : page.index("</pre>")])
    said = ["1", "first\u2028still", "first", "2", "second", "one", "two", "3", "third", "three"]
    assert program.replace("\u2028", "@").split() == [word.replace("\u2028", "@") for word in said]


def test_suites_stand_side_by_side_only_where_there_are_several() -> None:
    alone = rendering.page(summary(rows()), rows())
    other = tuple(judged.model_copy(update={"suite": "other"}) for judged in rows())
    both = rendering.page(summary(rows() + other, record=record("main", "other")), rows() + other)
    assert ("Side by side" in alone, "Side by side" in both) == (False, True)
    assert both.count(">main<") >= 1


def test_questions_that_could_not_be_scored_are_counted_under_the_plot() -> None:
    page = rendering.page(summary(rows()[:2]), rows()[:2])
    assert "2 questions without a global score cannot be shown" in page
