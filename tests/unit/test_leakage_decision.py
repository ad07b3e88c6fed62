"""The decision of a leakage audit: each leak found under its name, silence without one, and honest about too little."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from audited_rows import OTHER, PROGRAM, asked, audited, said

from core.measure.leakage.copies import sources
from core.measure.leakage.decision import Evidence, leak_tests, verdict_of
from core.measure.leakage.table import table
from core.model.leakage import Arm, AuditedRow, AuditSpec, Leak, LeakTest, Verdict

QUESTIONS = [asked(number) for number in range(20)]
SPEC = AuditSpec(resamples=999)
RUNS = 3
Habit = Callable[[AuditedRow, float], AuditedRow]
"""An honest answer and a draw to the answer that is given."""


def honest(row: AuditedRow, draw: float) -> AuditedRow:
    return row


def copying(row: AuditedRow, draw: float) -> AuditedRow:
    copies = row.arm.has_examples and draw < 0.5
    return remade(row, said(PROGRAM)) if copies else row


def remembering(row: AuditedRow, draw: float) -> AuditedRow:
    knows = row.arm is Arm.NEITHER and draw < 0.4
    return remade(row, said(OTHER), unprompted=("getDateTime",)) if knows else row


def reciting(row: AuditedRow, draw: float) -> AuditedRow:
    return remade(row, row.reference) if row.arm is Arm.NEITHER and draw < 0.4 else row


def remade(row: AuditedRow, answer: str, unprompted: tuple[str, ...] = ()) -> AuditedRow:
    return answered(row.id, row.arm, row.run, answer, unprompted)


@cache
def answered(question: str, arm: Arm, run: int, answer: str, unprompted: tuple[str, ...] = ()) -> AuditedRow:
    asked_for = next(known for known in QUESTIONS if known.id == question)
    return audited(asked_for, arm, run, answer=answer, unprompted=unprompted)


def leaks_of(
    habit: Habit, seed: int = 0, questions: int = len(QUESTIONS), spec: AuditSpec = SPEC
) -> tuple[LeakTest, ...]:
    draws = np.random.default_rng(seed)
    chosen = QUESTIONS[:questions]
    rows = [
        habit(answered(q.id, arm, run, said(OTHER) if arm.has_documents else "I do not know."), draws.random())
        for q in chosen
        for arm in Arm
        for run in range(1, RUNS + 1)
    ]
    return leak_tests(sources(table(rows, chosen, RUNS), (), spec), seed)


def found(tests: tuple[LeakTest, ...]) -> set[Leak]:
    return {test.leak for test in tests if test.verdict is Verdict.FOUND}


@pytest.mark.parametrize(
    ("habit", "leak"),
    [
        (copying, Leak.FEW_SHOT_COPY),
        (remembering, Leak.MEMORISED_SYNTAX),
        (reciting, Leak.MEMORISED_ANSWERS),
    ],
)
def test_a_planted_leak_is_found_under_its_name(habit: Habit, leak: Leak) -> None:
    tests = leaks_of(habit)
    assert found(tests) == {leak}
    verdict, reason = verdict_of(tests)
    assert verdict is Verdict.FOUND
    assert reason.startswith("Leak by ")


def test_an_honest_model_is_acquitted_with_reasons() -> None:
    tests = leaks_of(honest)
    assert found(tests) == set()
    verdict, reason = verdict_of(tests)
    assert verdict is Verdict.NOT_FOUND
    assert reason.count("found") == 3


def test_what_documents_share_with_examples_is_no_copying() -> None:
    def quoting_documents(row: AuditedRow, draw: float) -> AuditedRow:
        return remade(row, said(PROGRAM)) if row.arm.has_documents and draw < 0.7 else row

    assert found(leaks_of(quoting_documents)) == set()


def test_the_excess_is_over_the_questions_that_have_both() -> None:
    observed, baseline = np.array([[0.9], [0.5], [np.nan]]), np.array([[np.nan], [0.2], [0.4]])
    evidence = Evidence(Leak.FEW_SHOT_COPY, observed, baseline, 0.5)
    assert evidence.questions == 1
    assert evidence.excess == pytest.approx(0.3)


def test_a_leak_too_small_to_matter_is_no_finding() -> None:
    assert found(leaks_of(copying, spec=SPEC.model_copy(update={"least_effect": 0.9}))) == set()


def test_too_few_questions_give_no_verdict() -> None:
    tests = leaks_of(copying, questions=9)
    assert {test.verdict for test in tests} == {Verdict.NOT_ASSESSABLE}
    assert all(test.p is None and test.excess is None for test in tests)
    verdict, reason = verdict_of(tests)
    assert verdict is Verdict.NOT_ASSESSABLE
    assert "9 questions were answered where it would show, and 10 are needed" in reason


def test_chance_alone_accuses_at_most_one_model_in_twenty() -> None:
    # Of larger models, and of answers that are harder to tell apart, speaks `scripts/bench leakage`.
    def unsteady(row: AuditedRow, draw: float) -> AuditedRow:
        # As likely to match an example when it is shown as when it is not.
        return remade(row, said(PROGRAM)) if draw < 0.3 and row.arm.has_documents else row

    accused = sum(bool(found(leaks_of(unsteady, seed))) for seed in range(100))
    assert accused <= 5


def test_equal_seeds_give_equal_tests() -> None:
    assert leaks_of(copying, 4) == leaks_of(copying, 4)
