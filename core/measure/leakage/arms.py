"""Each arm in a few numbers: how much code, how much of it valid, how much of it in other languages."""

from __future__ import annotations

from collections import Counter

from core.measure.leakage.survival import correct
from core.measure.leakage.table import Table, share_of
from core.measure.leakage.words import programs, words
from core.model.leakage import Arm, ArmSummary, AuditedRow, ForeignShare
from core.model.record import FewShotStatus


def arm_summary(table: Table, arm: Arm) -> ArmSummary:
    """One arm of one model."""
    rows = table.of(arm)
    asked = tuple(question.id for question in table.questions)
    code_words = sum(len(words(code)) for row in rows for code in programs(row))
    return ArmSummary(
        arm=arm,
        n_expected=len(table.questions) * table.runs,
        n_rows=len(rows),
        code_bearing=sum(row.syntax is not None for row in rows),
        valid=share_of(table.matrix(arm, lambda row: None if row.syntax is None else correct(row), asked)),
        unprompted=share_of(table.matrix(arm, unprompted, table.after_code)),
        code_words=code_words,
        foreign=_foreign(rows, code_words),
        degraded=sum(row.few_shots.status is FewShotStatus.DEGRADED for row in rows),
    )


def unprompted(row: AuditedRow) -> float:
    """1 for an answer whose VALID code uses an AVAP name that its prompt does not hold, else 0."""
    return float(bool(row.unprompted))


def _foreign(rows: list[AuditedRow], code_words: int) -> tuple[ForeignShare, ...]:
    counts: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for row in rows:
        counts.update(row.foreign)
        answers.update(row.foreign.keys())
    ranked = sorted(counts, key=lambda language: (-counts[language], language))
    return tuple(
        ForeignShare(language=name, words=counts[name], share=counts[name] / code_words, answers=answers[name])
        for name in ranked
        if counts[name]
    )
