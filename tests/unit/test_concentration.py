"""Are failures concentrated, and what to document next: permutation tests over questions, and a ranking."""

from __future__ import annotations

import numpy as np
import pytest
from evaluation_rows import question, row

from core.measure.concentration import concentrations
from core.measure.priorities import priorities
from core.model.evaluation import ConcentratedIn, Concentration, ConstructFailures, Thin
from core.model.judged import JudgedRow
from core.model.sample import GoldenQuestion
from core.model.syntax import Category, Validity

CONSTRUCTS = ("startLoop", "try", "go", "import")
QUESTIONS = [question(n, constructs=(CONSTRUCTS[n % 4],)) for n in range(40)]


def judged(asked: GoldenQuestion, run: int, category: Category | None) -> JudgedRow:
    if category is None:
        return row(asked, run)
    return row(asked, run, syntax=Validity.INVALID, category=category)


def by(rows: list[JudgedRow], where: ConcentratedIn, seed: int = 0, resamples: int = 999) -> Concentration:
    found = concentrations(rows, QUESTIONS, seed=seed, resamples=resamples)
    return next(each for each in found if each.where is where)


def test_failures_of_one_construct_are_concentrated_in_it() -> None:
    rows = [judged(q, 1, Category.SYNTAX_ERROR if q.constructs == ("try",) else None) for q in QUESTIONS]
    found = by(rows, ConcentratedIn.CONSTRUCT)
    assert (found.p, found.failing_questions, found.invalid) == (1 / 1000, 10, 10)
    assert by(rows, ConcentratedIn.CATEGORY).p == 1 / 1000, "all of one category"
    assert found == by(rows, ConcentratedIn.CONSTRUCT), "seeded"


def test_constructs_that_fail_in_their_own_way_are_told() -> None:
    order = list(Category)
    rows = [judged(q, 1, order[CONSTRUCTS.index(q.constructs[0])]) for q in QUESTIONS]
    assert by(rows, ConcentratedIn.CATEGORY_BY_CONSTRUCT).p == 1 / 1000
    assert by(rows, ConcentratedIn.CATEGORY).p == 1.0, "each category as often as the others"
    assert by(rows, ConcentratedIn.CONSTRUCT).p == 1.0, "every question fails"


def test_runs_of_a_question_are_no_further_evidence() -> None:
    once = [judged(q, 1, Category.SYNTAX_ERROR if n < 8 else None) for n, q in enumerate(QUESTIONS)]
    often = [
        judged(q, run, Category.SYNTAX_ERROR if n < 8 else None) for n, q in enumerate(QUESTIONS) for run in (1, 2)
    ]
    for where in ConcentratedIn:
        assert by(once, where).p == by(often, where).p


@pytest.mark.parametrize("where", list(ConcentratedIn))
def test_failures_at_random_are_rarely_called_concentrated(where: ConcentratedIn) -> None:
    ps = []
    for seed in range(30):
        draws = np.random.default_rng(seed)
        rows = [judged(q, 1, list(Category)[draws.integers(4)] if draws.random() < 0.4 else None) for q in QUESTIONS]
        ps.append(by(rows, where, seed, resamples=199).p)
    # 30 tests at 5 % give 6 or more in 1 of 100 cases.
    assert sum(p is not None and p <= 0.05 for p in ps) < 6


def test_too_few_failing_questions_are_not_tested() -> None:
    rows = [judged(q, 1, Category.SYNTAX_ERROR if n < 4 else None) for n, q in enumerate(QUESTIONS)]
    assert all(found.p is None and found.statistic is None for found in concentrations(rows, QUESTIONS, seed=0))
    assert all(found.p is None for found in concentrations([], QUESTIONS, seed=0))


def line(name: str, passages: int | None, examples: int | None) -> ConstructFailures:
    return ConstructFailures(
        node_type=name, questions=1, code_bearing=4, invalid=2, by_category={}, passages=passages, examples=examples
    )


def test_what_to_document_next_is_what_fails_often_and_is_shown_little() -> None:
    both = question(1, constructs=("try", "go"))
    alone = question(2, constructs=("go",))
    rows = [row(both, syntax=Validity.INVALID), row(alone, syntax=Validity.INVALID), row(alone, run=2)]
    found = priorities(rows, [line("go", 9, 5), line("try", 0, 1), line("import", 0, 0), line("else", None, None)])
    assert [(c.node_type, c.failures, c.score, c.thin) for c in found] == [
        ("try", 0.5, 0.25, Thin.DOCUMENTATION),
        ("go", 1.5, 0.1, Thin.EXAMPLES),
    ]
