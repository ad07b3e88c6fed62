"""What the page's script is given: every row whole, every text once, nothing that could end its element."""

import json
import re
from typing import Any

import pytest
from evaluation_rows import question, row, scored
from hypothesis import given
from hypothesis import strategies as st

from core.checks.blocks import code_blocks
from core.lab.report.embedded import Listing, ShownAnswer, ShownBlock, ShownQuestion
from core.lab.report.embedding import embed, script_json
from core.lab.report.texts import TextPool
from core.model.judged import Block, BlockKind, Finding, JudgedRow, Metric, Score
from core.model.sample import Passage, QueryType
from core.model.syntax import Category, Diagnostic, ParseResult, Validity

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "&lt;b&gt;",
    "\u2028\u2029",
    "]]>",
    "\x00\u202e",
    "-->",
)
QUESTIONS = (question(1), question(2, type=QueryType.RETRIEVAL))


def told(judged: JudgedRow) -> tuple[ShownQuestion, ShownAnswer]:
    data = embed((judged.suite,), (judged,))
    return data.questions[0], data.questions[0].answers[0]


def shown(judged: JudgedRow) -> list[str]:
    """The parts of the answer, code in brackets."""
    details, answer = told(judged)
    texts = details.texts
    return [texts[part] if isinstance(part, int) else f"[{texts[part.code]}]" for part in answer.parts]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_can_end_its_element(text: str) -> None:
    data = embed(("main",), (row(question(1, question=text, id=text), answer=text, query=text),))
    for value in (data.listing, data.passages, *data.questions):
        written = script_json(value)
        assert not re.search(r"[<>&\u2028\u2029]", written)
        assert written.isascii()
        assert type(value).model_validate_json(written) == value


@given(st.text(), st.text())
def test_any_text_comes_back_as_it_was(asked: str, answer: str) -> None:
    judged = row(question(1, question=asked), syntax=None, answer=answer)
    listing = Listing.model_validate_json(script_json(embed(("main",), (judged,)).listing))
    assert listing.questions[0].question == asked
    assert "\n".join(shown(judged)).strip("\n") == answer.replace("\r\n", "\n").strip("\n")


def test_rows_are_listed_by_question_suite_and_run() -> None:
    judged = [row(q, r, suite=s) for q in QUESTIONS for r in (2, 1) for s in ("b", "a")]
    listing = embed(("b", "a"), judged).listing
    assert listing.columns[:3] == ("question", "suite", "run")
    assert [tuple(answer[:3]) for answer in listing.answers] == [
        (q, s, r) for q in (0, 1) for s in (0, 1) for r in (1, 2)
    ]
    assert json.loads(script_json(listing))["suites"] == ["b", "a"]


def test_details_stand_in_the_order_of_the_listing() -> None:
    judged = [row(q, r, value=r / 10) for q in QUESTIONS for r in (1, 2, 3)]
    data = embed(("main",), judged)
    finals = [[s.final for s in a.scores if s.metric is Metric.GLOBAL] for q in data.questions for a in q.answers]
    assert [final for [final] in finals] == [answer[-1] for answer in data.listing.answers]


def test_what_many_rows_share_is_written_once() -> None:
    said = Finding(id="1", text="a statement " * 20, value=1, reason="because " * 20)
    scores = {Metric.FAITHFULNESS: Score(raw=0.5, final=0.5, findings=(said,) * 5)}
    judged = [row(QUESTIONS[0], run, scores=scores) for run in range(1, 9)]
    data = embed(("main",), judged)
    assert data.questions[0].texts.count(said.text) == 1
    assert len(data.passages.passages) == len(judged[0].passages)


def test_a_passage_shows_its_code_only_where_its_text_does_not() -> None:
    inside = Passage(id="a", text="see x = 1 here", code="x = 1")
    apart = Passage(id="b", text="see there", code="x = 1", metadata={"section": "part"})
    texts = embed(("main",), (row(QUESTIONS[0], passages=(inside, apart)),)).passages.passages
    assert [text.code for text in texts] == ["", "x = 1"]
    assert [text.section for text in texts] == ["a", "part"]


def test_passages_that_look_the_same_are_one() -> None:
    code, none = (Passage(id="a", text="see x = 1 here", code=code) for code in ("x = 1", ""))
    data = embed(("main",), (row(QUESTIONS[0], passages=(code, none, code)),))
    assert len(data.passages.passages) == 1
    assert [shown.passage for shown in data.questions[0].answers[0].passages] == [0, 0, 0]


ANSWERS = {
    "prose around code": ("before\n\n```avap\nx = 1\ny = 2\n```\nafter", ["before", "[x = 1\ny = 2]", "after"]),
    "code alone": ("```avap\nx = 1\n```", ["[x = 1]"]),
    "never closed": ("before\n```avap\nx = 1\n", ["before", "[x = 1]"]),
    "two of them": ("```avap\na\n```\nand\n```avap\nb\n```", ["[a]", "and", "[b]"]),
    "indented": ("before\n\n    x = 1\n    y = 2\n\nafter", ["before", "[x = 1\ny = 2]", "after"]),
    "in a list": ("- item\n  ```avap\n  x = 1\n  ```\n- next", ["- item", "[x = 1]", "- next"]),
    "blank lines within": ("```avap\na\n\nb\n```\nafter", ["[a\n\nb]", "after"]),
    "carriage returns": ("before\r\n```avap\r\nx\r\n```\r\nafter", ["before", "[x]", "after"]),
    "no code": ("a\n\nb", ["a\n\nb"]),
    "nothing": ("", []),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_told_from_top_to_bottom(name: str) -> None:
    answer, expected = ANSWERS[name]
    assert shown(parsed(answer)) == expected


def parsed(answer: str) -> JudgedRow:
    """A row with the blocks that the gate finds in `answer`, all valid."""
    result = ParseResult(verdict=Validity.VALID)
    found = code_blocks(answer, QueryType.RETRIEVAL)
    blocks = tuple(b.model_copy(update={"result": result}) if b.kind is BlockKind.CODE else b for b in found)
    code = any(block.kind is BlockKind.CODE for block in blocks)
    changed: dict[str, Any] = {"answer": answer, "blocks": blocks, "syntax": Validity.VALID if code else None}
    return row(QUESTIONS[1], 1, syntax=changed.pop("syntax")).model_copy(update=changed)


def test_every_fault_is_told_with_the_parsers_words() -> None:
    places = ((2, "one"), (2, "two"), (3, "three"))
    faults = tuple(
        Diagnostic(line=line, column=4, category=Category.SYNTAX_ERROR, message=f"m {name}", text="end")
        for line, name in places
    )
    result = ParseResult(
        verdict=Validity.INVALID, category=Category.SYNTAX_ERROR, diagnostics=faults, trace=("one", "two")
    )
    block = Block(kind=BlockKind.CODE, label="avap", line=1, closed=True, code="a\u2028b\nc\nd\n", result=result)
    judged = row(QUESTIONS[0], 1, syntax=Validity.INVALID).model_copy(update={"blocks": (block,), "answer": ""})
    details, answer = told(judged)
    [part] = answer.parts
    assert isinstance(part, ShownBlock)
    said = [(fault.line, details.texts[fault.said], details.texts[fault.offending]) for fault in part.faults]
    assert said == [(2, "one", "end"), (2, "two", "end"), (3, "m three", "end")]
    assert details.texts[part.code] == "a\u2028b\nc\nd"


def test_what_the_clock_decides_is_not_in_the_page() -> None:
    quick, slow = (embed(("main",), (row(QUESTIONS[0], elapsed_s=seconds),)) for seconds in (0.1, 99.0))
    assert quick == slow


def test_raw_and_final_are_both_told() -> None:
    lost = {Metric.FAITHFULNESS: scored(0.0, raw=0.987654321)}
    _, answer = told(row(QUESTIONS[0], scores=lost))
    [score] = [score for score in answer.scores if score.metric is Metric.FAITHFULNESS]
    assert (score.raw, score.final) == (0.987654, 0.0)


@given(st.lists(st.text()))
def test_a_pool_keeps_each_text_once_and_finds_it_again(texts: list[str]) -> None:
    pool = TextPool()
    numbers = [pool.number(text) for text in texts]
    assert [pool.texts()[number] for number in numbers] == texts
    assert len(set(pool.texts())) == len(pool.texts())
