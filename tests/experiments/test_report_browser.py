"""The HTML report in a real browser: it opens, filters, drills down, obeys keys, fits a phone, runs nobody's script."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import CONTRAST, NAMELESS, chromium, opened
from evaluation_rows import question, record, row, scored

from core.lab import report as rendering
from core.measure.summary import Background, summarise
from core.model.judged import Block, BlockKind, Finding, JudgedRow, Metric, Score
from core.model.sample import Passage, QueryType
from core.model.syntax import Category, Diagnostic, ParseResult, Validity

pytestmark = pytest.mark.e2e

ATTACKS = (
    "</script><script>window.pwned = 1</script>",
    '<img src=x onerror="window.pwned = 1">',
    "</textarea></style><svg onload=window.pwned=1>",
    "{{ 7 * 7 }} &lt;b&gt; &amp; \u2028 \u202e",
    "<!--<script>",
    "javascript:window.pwned=1",
)
HOSTILE = "\n".join(ATTACKS)
CODE = "addVar(x, 1)\nif x == 1\nend()"
QUESTIONS = (
    question(1, question=f"hostile {HOSTILE}"),
    question(2, question="¿Cómo se declara una función?", language="es"),
    question(3, type=QueryType.RETRIEVAL, question="which methods"),
)
SUITES = ("one", "two")


def rejected() -> Block:
    fault = Diagnostic(line=2, column=4, category=Category.SYNTAX_ERROR, message="m", text="x == 1")
    result = ParseResult(
        verdict=Validity.INVALID, category=Category.SYNTAX_ERROR, diagnostics=(fault,), trace=(f"line 2 {HOSTILE}",)
    )
    return Block(kind=BlockKind.CODE, label="avap", line=3, closed=True, code=f"{CODE}\n", result=result)


def made(suite: str, run: int) -> Iterator[JudgedRow]:
    findings = (Finding(id="1", text=f"statement {HOSTILE}", value=1, reason=f"because {HOSTILE}"),)
    lost = {Metric.FAITHFULNESS: Score(raw=0.9, final=0.0, findings=findings), Metric.GLOBAL: scored(0.2, raw=0.7)}
    passages = (Passage(id=ATTACKS[0], text=HOSTILE, source=ATTACKS[1]),)
    for asked in QUESTIONS:
        bad = asked is QUESTIONS[0] and run == 1
        changed: dict[str, Any] = {"suite": suite, "passages": passages, "query": HOSTILE}
        if not bad:
            yield row(asked, run, value=0.5 + run / 10, **changed, answer="declara" if run == 1 else "answer")
            continue
        whole = row(asked, run, syntax=Validity.INVALID, category=Category.SYNTAX_ERROR, scores=lost, **changed)
        answer = f"{HOSTILE.splitlines()[0]}\n\n```avap\n{CODE}\n```\nafter it"
        yield whole.model_copy(update={"answer": answer, "blocks": (rejected(),)})


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    judged = tuple(each for suite in SUITES for run in (1, 2) for each in made(suite, run))
    return written(tmp_path_factory.mktemp("report"), judged)


def written(folder: Path, judged: tuple[JudgedRow, ...], **background: Any) -> str:
    known = {"record": record(*SUITES), "questions": QUESTIONS, **background}
    file = folder / "report.html"
    file.write_bytes(rendering.files(summarise(judged, Background(**known)), judged)["report.html"])
    return file.as_uri()


def count(page: Any) -> str:
    return str(page.locator(".count").inner_text())


def until(page: Any, expected: str) -> None:
    """Wait for the count to say so; a page under this policy lets nobody poll it with text that is run."""
    page.locator(".count").filter(has_text=re.compile(f"^{expected}")).wait_for()


def choose(page: Any, place: int) -> None:
    page.locator(f"[data-place='{place}']").click()


def test_it_opens_alone_and_in_peace(browser: Any, address: str) -> None:
    with opened(browser, address) as (page, heard):
        assert count(page) == "12 of 12 answers"
        assert heard.requests == [address]
        assert heard.faults == []


def test_nobodys_text_runs(browser: Any, address: str) -> None:
    with opened(browser, address) as (page, heard):
        for place in range(12):
            choose(page, place)
            page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
        choose(page, 0)
        shown = page.locator(".shown").inner_text()
        for attack in (*ATTACKS[:3], ATTACKS[4]):
            assert attack in shown
        assert page.evaluate("window.pwned") is None
        assert heard.requests == [address]
        assert heard.faults == []


def test_a_script_that_got_in_all_the_same_would_not_run(browser: Any, address: str) -> None:
    with opened(browser, address) as (page, heard):
        page.evaluate("""() => {
            const planted = document.createElement("div");
            document.body.append(planted);
            try { planted.innerHTML = "<img src=x onerror='window.pwned=1'>"; }
            catch (error) { window.refused = error.name; }
        }""")
        assert page.evaluate("[window.refused, window.pwned]") == ["TypeError", None]
        assert any("Trusted" in fault or "trusted" in fault for fault in heard.faults)


def test_an_answer_is_told_with_the_parsers_words_at_their_line(browser: Any, address: str) -> None:
    with opened(browser, address) as (page, _):
        choose(page, 0)
        lines = page.locator(".program pre > span").all_inner_texts()
        assert [line.split("\n")[0].strip() for line in lines][:2] == ["1addVar(x, 1)", "2if x == 1"]
        assert lines[2].startswith("line 2")
        assert page.locator(".program mark").inner_text() == "x == 1"
        assert "after it" in page.locator(".shown").inner_text()
        scores = page.locator(".shown table").inner_text()
        assert "0.9000" in scores
        assert "0.0000" in scores


@pytest.mark.parametrize(
    ("control", "value", "expected"),
    [
        ("suite", "two", 6), ("type", "RETRIEVAL", 4), ("language", "es", 4), ("validity", "INVALID", 2),
        ("validity", "syntax_error", 2), ("flipped", "gate", 2), ("flipped", "runs", 4), ("flipped", "unscored", 0),
    ],
)  # fmt: skip
def test_filters_narrow_the_list_and_stand_in_the_address(
    browser: Any, address: str, control: str, value: str, expected: int
) -> None:
    with opened(browser, address) as (page, _):
        page.select_option(f"select[name={control}]", value)
        until(page, f"{expected} of 12 answers")
        assert f"{control}={value}" in page.evaluate("location.hash")
        there = page.evaluate("location.href")
        page.locator("button[type=reset]").click()
        until(page, "12 of 12 answers")
    with opened(browser, there) as (page, _):
        assert count(page) == f"{expected} of 12 answers"
        assert page.locator(f"select[name={control}]").input_value() == value


def test_a_search_minds_neither_case_nor_accents_and_needs_every_word(browser: Any, address: str) -> None:
    with opened(browser, address) as (page, _):
        page.fill("input[name=text]", "FUNCION declara")
        until(page, "4 of 12 answers")
        page.fill("input[name=text]", "endloop")
        until(page, "0 of 12 answers")


def test_a_number_of_the_table_leads_to_its_answers(browser: Any, address: str) -> None:
    with opened(browser, address) as (page, _):
        page.locator("#questions tbody td.n a").first.click()
        until(page, "2 of 12 answers of question GD-C-001")
        assert "question=" in page.evaluate("location.hash")
        assert "suite=one" in page.evaluate("location.hash")


def test_keys_walk_through_the_answers(browser: Any, address: str) -> None:
    with opened(browser, address) as (page, _):
        page.locator(".list").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        assert page.locator(".row[aria-selected=true]").get_attribute("data-place") == "1"
        page.keyboard.press("]")
        assert page.locator(".row[aria-selected=true]").get_attribute("data-place") == "2"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.className") == "shown"
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.className") == "list"
        assert page.locator(".row[aria-selected=true]").count() == 0
        page.keyboard.press("/")
        page.keyboard.type("j")
        assert page.evaluate("document.activeElement.name") == "text"
        assert page.locator("input[name=text]").input_value() == "j"


def test_back_closes_an_answer(browser: Any, address: str) -> None:
    with opened(browser, address) as (page, _):
        choose(page, 3)
        choose(page, 4)
        page.go_back()
        page.locator("#answers:not([data-open])").wait_for()


def test_columns_sort_and_say_so(browser: Any, address: str) -> None:
    with opened(browser, address) as (page, _):
        head = page.locator("#scoreboard th").nth(2)
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        numbers = page.locator("#scoreboard tbody td:nth-child(3)").all_inner_texts()
        assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize("width", [375, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read_and_every_control_has_a_name(
    browser: Any, address: str, width: int, scheme: str
) -> None:
    with opened(browser, address, viewport={"width": width, "height": 800}, color_scheme=scheme) as (page, _):
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
        assert page.evaluate(CONTRAST) == []
        assert page.evaluate(NAMELESS) == []
        choose(page, 0)
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
        assert page.evaluate(CONTRAST) == []
        assert page.evaluate(NAMELESS) == []


def test_on_a_phone_nothing_is_wider_than_the_screen_and_an_answer_covers_it(browser: Any, address: str) -> None:
    with opened(browser, address, viewport={"width": 375, "height": 740}) as (page, _):
        assert page.evaluate("document.documentElement.scrollWidth") == 375
        choose(page, 0)
        box = page.locator(".shown").bounding_box()
        assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 375, 740)
        page.locator(".close").click()
        assert not page.locator(".shown").is_visible()


def test_on_paper_everything_is_unfolded_and_controls_are_gone(browser: Any, address: str) -> None:
    with opened(browser, address) as (page, _):
        folded = page.locator("main > section details:not([open])").count()
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("main > section details:not([open])").count() == 0
        assert not page.locator(".filters").is_visible()
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("main > section details:not([open])").count() == folded


def test_many_rows_are_a_few_elements(browser: Any, tmp_path: Path) -> None:
    asked = tuple(question(number) for number in range(1, 51))
    judged = tuple(row(each, run, suite=suite) for suite in SUITES for each in asked for run in range(1, 16))
    there = written(tmp_path, judged, record=record(*SUITES, runs=15), questions=asked)
    with opened(browser, there) as (page, _):
        assert count(page) == "1500 of 1500 answers"
        assert page.locator(".row").count() < 60
        page.evaluate("document.querySelector('.list').scrollTop = 1e9")
        page.wait_for_selector("[data-place='1499']")
        assert page.locator(".row").count() < 60
        assert page.locator("[data-place='1499']").get_attribute("aria-posinset") == "1500"


def test_without_scripts_the_findings_are_still_there(browser: Any, address: str) -> None:
    with opened(browser, address, java_script_enabled=False) as (page, _):
        assert "Side by side" in page.content()
        assert page.locator("noscript").count() == 1
        assert page.locator("#gate .mark").count() == 11
