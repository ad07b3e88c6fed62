"""What a reader sees: one page that needs nothing else, the same words everywhere, no answer that can break it."""

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser
from itertools import groupby
from typing import Any

import numpy as np
import pytest
from comparison_sides import contender, planted_rows
from evaluation_rows import question, record, row, scored

from core.lab import report as rendering
from core.lab.report import assets
from core.measure.compare import compare, pairs_of
from core.measure.summary import Background, summarise
from core.model.comparison import CompareSpec
from core.model.evaluation import EvaluationReport
from core.model.judged import JudgedRow, Metric
from core.model.sample import QueryType
from core.model.specs import BandSpec, GateSpec
from core.model.syntax import Validity

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

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})
    DRAWN = frozenset({"line", "rect", "circle"})
    """Closed where they open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID | self.DRAWN:
            self.open.append(tag)
        self.fetched += [
            value or "" for name, value in attrs if name in {"src", "href"} and not str(value).startswith("#")
        ]

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID | self.DRAWN:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"style", "script"}:
            self.text.append(data)


def test_the_page_is_whole_and_fetches_nothing() -> None:
    page = Page(rendering.page(summary(rows()), rows()))
    assert page.open == []
    assert page.fetched == []


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


def test_nothing_rejected_is_said_without_empty_tables() -> None:
    judged = rows(rejected=False)
    assert "What the parser rejected" not in rendering.page(summary(judged), judged)
    assert "What the parser rejected" in rendering.page(summary(rows()), rows())


def test_a_table_of_markdown_survives_hostile_cells() -> None:
    of = summary(rows(), gates=(GateSpec(metric="faithfulness", threshold=0.99),))
    lines = rendering.markdown(of).splitlines()
    tables = [list(table) for is_table, table in groupby(lines, lambda line: line.startswith("|")) if is_table]
    for table in tables:
        assert len({len(re.split(r"(?<!\\)\|", line)) for line in table}) == 1
    assert any("faithfulness" in line for table in tables for line in table)
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


def test_suites_stand_side_by_side_only_where_there_are_several() -> None:
    alone = rendering.page(summary(rows()), rows())
    other = tuple(judged.model_copy(update={"suite": "other"}) for judged in rows())
    both = rendering.page(summary(rows() + other, record=record("main", "other")), rows() + other)
    assert ("Side by side" in alone, "Side by side" in both) == (False, True)
    assert both.count(">main<") >= 1


def test_questions_without_a_score_are_counted_under_the_table() -> None:
    judged = rows()[:2]
    assert "2 questions have no global score in any suite" in rendering.page(summary(judged), judged)


def test_the_policy_lets_the_pages_own_style_and_script_run_and_nothing_else() -> None:
    text = rendering.page(summary(rows()), rows())
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    said = dict(part.strip().split(" ", 1) for part in html.unescape(policy[1]).split(";"))
    style, script = (re.search(rf"<{tag}>(.*?)</", text, re.DOTALL) for tag in ("style", 'script type="module"'))
    assert style is not None
    assert script is not None
    assert said["default-src"] == "'none'"
    assert said["style-src-elem"] == f"'{digest_of(style[1])}'"
    assert said["script-src"] == f"'{digest_of(script[1])}'"


def digest_of(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def test_the_order_of_rows_does_not_matter() -> None:
    judged = rows()
    of = summary(judged)
    assert rendering.page(of, judged) == rendering.page(of, judged[::-1])


def test_no_script_reads_text_as_markup_or_fetches() -> None:
    for name in assets.REPORT_SCRIPTS:
        text = assets.scripts((name,))
        for banned in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            "fetch(",
        ):
            assert banned not in text, (name, banned)
        assert "</" not in text


def test_every_part_that_the_navigation_names_is_there() -> None:
    text = rendering.page(summary(rows()), rows())
    ids = set(re.findall(r'id="([^"]+)"', text))
    named = set(re.findall(r'href="#([\w-]+)"', text))
    assert named - ids == set()
    labelled = set(re.findall(r'aria-labelledby="([^"]+)"', text))
    assert labelled - ids == set()
    assert len(re.findall(r'id="([^"]+)"', text)) == len(ids)


def test_a_comparison_is_told_with_its_refusals() -> None:
    rng = np.random.default_rng(0)
    same, lifted = (tuple(tuple(rng.uniform(low, low + 0.05, 2)) for _ in range(12)) for low in (0.4, 0.6))
    a, b = contender("a", planted_rows("a", same)), contender("b", planted_rows("b", lifted))
    other = contender("c", planted_rows("c", same), retrieval_mode="bm25_only")
    found = compare(pairs_of((a, b, other), None), CompareSpec(), seed=1)
    of = summary(rows()).model_copy(update={"comparison": found})
    text = " ".join("".join(Page(rendering.page(of, rows())).text).split())
    assert "b against a better on faithfulness" in text
    assert "These two may not be compared." in text
    for pair in found.pairs:
        for said in (*(metric.sentence for metric in pair.metrics), *pair.incomparable):
            assert " ".join(said.split()) in text


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.03, "+0.0300"), (-0.03, "−0.0300"), (-0.00001, "0.0000"), (0.0, "0.0000"), (None, "not measured")],
)
def test_differences_have_a_sign_unless_they_are_nothing(value: float | None, said: str) -> None:
    assert rendering.words.signed(value) == said
