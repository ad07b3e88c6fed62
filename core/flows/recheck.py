"""A finished run under another parser or vocabulary: its recorded answers parsed again, its scores derived again.

No model is asked. What a judge said of an answer does not depend on the parser; only the gate's override does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from core.checks.judged import Judgement
from core.checks.syntax import Examination
from core.flows.scoring import final_scores
from core.measure.summary import Background, summarise
from core.model.evaluation import EvaluationReport, GateResult
from core.model.frozen import Frozen
from core.model.judged import JUDGED_METRICS, Block, BlockKind, JudgedRow, Metric, Score, Scores
from core.model.sample import GoldenQuestion
from core.model.syntax import Category, ParseResult, Validity

SYNTACTIC_VALIDITY = "syntactic_validity"


class RowChange(Frozen):
    """One answer whose verdict, category or faults are others now."""

    row: str
    """As `suite.run-01/GD-C-003`."""
    verdict_before: Validity | None
    verdict_after: Validity | None
    category_before: Category | None
    category_after: Category | None
    global_before: float | None
    global_after: float | None

    @property
    def is_verdict(self) -> bool:
        """Whether VALID became INVALID or the other way, and with that the scores."""
        return self.verdict_before is not self.verdict_after


class Shift(Frozen):
    """One mean of one suite; None where nothing was scored."""

    suite: str
    metric: str
    before: float | None
    after: float | None


class GateShift(Frozen):
    """One gate that passes on one side only."""

    suite: str
    metric: str
    passed_before: bool
    passed_after: bool


class Recheck(Frozen):
    """What another parser would have made of a run."""

    rows: int
    code_bearing: int
    changes: tuple[RowChange, ...]
    shifts: tuple[Shift, ...]
    """Of every suite and metric, changed or not."""
    gates: tuple[GateShift, ...]

    @property
    def verdicts_changed(self) -> int:
        """Answers whose verdict is another one."""
        return sum(change.is_verdict for change in self.changes)


Reparse = Callable[[JudgedRow, str], ParseResult]
"""The judgement of a code block of a row."""


def recheck(rows: Sequence[JudgedRow], background: Background, parse: Reparse) -> Recheck:
    """Compare `rows` with what they would be had `parse` been the gate.

    `background` needs no questions: those of the rows are taken. Raises ValueError as `summarise` does.
    """
    again = [rejudged(row, parse) for row in rows]
    known = Background(
        record=background.record,
        questions=questions_of(rows),
        gates=background.gates,
        bands=background.bands,
        truth=background.truth,
    )
    before, after = summarise(rows, known), summarise(again, known)
    changes = (_change(old, new) for old, new in zip(rows, again, strict=True))
    return Recheck(
        rows=len(rows),
        code_bearing=sum(row.syntax is not None for row in rows),
        changes=tuple(change for change in changes if change is not None),
        shifts=tuple(_shifts(before, after)),
        gates=tuple(_gate_shifts(before.gates, after.gates)),
    )


def rejudged(row: JudgedRow, parse: Reparse) -> JudgedRow:
    """`row` as it would be had `parse` been the gate: blocks, verdict, category and final scores."""
    examination = Examination(tuple(_reparsed(row, block, parse) for block in row.blocks))
    return row.model_copy(
        update={
            "blocks": examination.blocks,
            "syntax": examination.validity,
            "category": examination.category,
            "scores": _rescored(row.scores, examination.validity),
            "judged_again": tuple(_rescored(scores, examination.validity) for scores in row.judged_again),
        }
    )


def questions_of(rows: Iterable[JudgedRow]) -> tuple[GoldenQuestion, ...]:
    """The questions that `rows` answer, by id."""
    found = {
        row.id: GoldenQuestion(
            id=row.id,
            type=row.type,
            language=row.language,
            question=row.question,
            ground_truth=row.reference,
            gold_passages=row.gold_passages,
            constructs=row.constructs,
            answerable=row.answerable,
        )
        for row in rows
    }
    return tuple(found[question] for question in sorted(found))


def _reparsed(row: JudgedRow, block: Block, parse: Reparse) -> Block:
    if block.kind is not BlockKind.CODE:
        return block
    return block.model_copy(update={"result": parse(row, block.code)})


def _rescored(scores: Scores, syntax: Validity | None) -> Scores:
    return final_scores({metric: _judgement(scores[metric]) for metric in JUDGED_METRICS}, syntax)


def _judgement(score: Score) -> Judgement:
    return Judgement(score.raw, score.reason, score.detail, score.findings)


def _change(old: JudgedRow, new: JudgedRow) -> RowChange | None:
    if (old.syntax, old.category) == (new.syntax, new.category):
        return None
    return RowChange(
        row=f"{old.suite}.run-{old.run:02}/{old.id}",
        verdict_before=old.syntax,
        verdict_after=new.syntax,
        category_before=old.category,
        category_after=new.category,
        global_before=old.scores.global_score.final,
        global_after=new.scores.global_score.final,
    )


def _shifts(before: EvaluationReport, after: EvaluationReport) -> Iterable[Shift]:
    for old, new in zip(before.suites, after.suites, strict=True):
        validity = old.syntax.overall.mean, new.syntax.overall.mean
        yield Shift(suite=old.suite, metric=SYNTACTIC_VALIDITY, before=validity[0], after=validity[1])
        for metric in Metric:
            means = old.metric(metric).final.mean, new.metric(metric).final.mean
            yield Shift(suite=old.suite, metric=metric.value, before=means[0], after=means[1])


def _gate_shifts(before: Sequence[GateResult], after: Sequence[GateResult]) -> Iterable[GateShift]:
    for old, new in zip(before, after, strict=True):
        if old.passed != new.passed:
            yield GateShift(suite=old.suite, metric=old.metric, passed_before=old.passed, passed_after=new.passed)
