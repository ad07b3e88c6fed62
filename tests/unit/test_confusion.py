"""Failure category x question x construct, with what could have taught the construct beside it."""

from evaluation_fakes import ScriptedParser
from evaluation_rows import question, row

from core.flows.coverage import construct_coverage
from core.measure.confusion import confusion
from core.model.evaluation import ConfusionCell, ConstructCoverage
from core.model.sample import Example, Passage
from core.model.syntax import Category, Validity

LOOP = question(1, constructs=("startLoop", "addVar"))
HASH = question(2, constructs=("encodeSHA256",))
COVERAGE = (ConstructCoverage(node_type="startLoop", passages=4, examples=9),)


def test_every_failure_is_placed_by_category_and_question() -> None:
    rows = [
        row(LOOP, 3, syntax=Validity.INVALID, category=Category.UNKNOWN_TOKEN),
        row(LOOP, 1, syntax=Validity.INVALID, category=Category.UNKNOWN_TOKEN),
        row(LOOP, 2, syntax=Validity.INVALID, category=Category.FOREIGN_KEYWORD),
        row(HASH, 1),
        row(HASH, 2, syntax=None),
    ]
    found = confusion(rows, (LOOP, HASH), COVERAGE)
    assert found.cells == (
        ConfusionCell(
            category=Category.FOREIGN_KEYWORD, question=LOOP.id, constructs=LOOP.constructs, count=1, runs=(2,)
        ),
        ConfusionCell(
            category=Category.UNKNOWN_TOKEN, question=LOOP.id, constructs=LOOP.constructs, count=2, runs=(1, 3)
        ),
    )
    assert sum(cell.count for cell in found.cells) == 3


def test_constructs_carry_failures_and_coverage_worst_first() -> None:
    rows = [row(LOOP, 1, syntax=Validity.INVALID), row(LOOP, 2), row(HASH, 1, syntax=None), row(HASH, 2)]
    lines = confusion(rows, (LOOP, HASH), COVERAGE).constructs
    assert [(c.node_type, c.questions, c.code_bearing, c.invalid) for c in lines] == [
        ("addVar", 1, 2, 1),
        ("startLoop", 1, 2, 1),
        ("encodeSHA256", 1, 1, 0),
    ]
    assert (lines[1].passages, lines[1].examples) == (4, 9)
    assert (lines[0].passages, lines[0].examples) == (None, None)
    assert lines[0].by_category == {Category.FOREIGN_KEYWORD: 1}


def test_without_failures_there_are_no_cells_but_still_constructs() -> None:
    found = confusion([], (LOOP, HASH), ())
    assert found.cells == ()
    assert len(found.constructs) == 3


async def test_coverage_counts_passages_with_valid_code_and_examples_that_list_the_construct() -> None:
    passages = [
        Passage(id="a", text="```avap\nfine\n```\n```avap\nalso fine\n```"),
        Passage(id="b", text="prose", code="fine"),
        Passage(id="c", text="```avap\nBAD\n```"),
        Passage(id="d", text="```go\nfine\n```"),
    ]
    examples = [
        Example(id="e", language="en", description="d", code="c", constructs=("addVar", "try", "addVar")),
        Example(id="f", language="en", description="d", code="c", constructs=("try",)),
    ]
    assert await construct_coverage(ScriptedParser(), passages, examples) == (
        ConstructCoverage(node_type="addVar", passages=2, examples=1),
        ConstructCoverage(node_type="try", passages=0, examples=2),
    )
