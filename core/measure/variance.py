"""Where the variation of scores comes from: the question, the run, or the judge who scores the same answer again."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.measure.clusters import Floats, is_finite
from core.model.degenerate import Degenerate

_ROUNDING = 1e-13
"""Variances below this share of the largest squared score are rounding."""


class Source(StrEnum):
    """Levels of the nesting: judgements within runs within questions."""

    QUESTION = "question"
    RUN = "run"
    JUDGE = "judge"


@dataclass(frozen=True)
class VarianceComponents:
    """Variances in squared score units. One that the data cannot tell is None: it is part of the level around it."""

    question: float | None
    """Between questions; None below two."""
    run: float | None
    """Between answers to one question; None where no question has two."""
    judge: float | None
    """Between judgements of one answer; None where no answer has two."""
    truncated: tuple[Source, ...] = ()
    """Components whose estimate was negative, and which therefore stand at 0: too small to be seen here."""
    degenerate: Degenerate | None = None

    @property
    def total(self) -> float | None:
        """The variance of a single score of a random question; None where that of questions is not known."""
        return None if self.question is None else self.question + (self.run or 0.0) + (self.judge or 0.0)


@dataclass(frozen=True)
class _Level:
    """The sum of squares of one level. It expects df x judge + of_run x run + of_question x question."""

    squares: float
    df: int
    of_run: float = 0.0
    of_question: float = 0.0


def variance_components(scores: ArrayLike) -> VarianceComponents:
    """Nested random effects of `scores[question, run, judgement]`; `scores[question, run]` is one judgement each.

    Sums of squares are set equal to their expectations, unbalanced where scores are missing (Searle, Casella and
    McCulloch, Variance Components, 1992, chapter 5; balanced: Scheffe, The Analysis of Variance, 1959, chapter 7).
    A negative estimate becomes 0 and is listed in `truncated`; the others are computed from it as it was, which keeps
    them unbiased. Raises ValueError for more than three axes.
    """
    array = _as_cube(scores)
    if not is_finite(array):
        return VarianceComponents(None, None, None, degenerate=Degenerate.NOT_FINITE)
    scored = ~np.isnan(array)
    if not scored.any():
        return VarianceComponents(None, None, None, degenerate=Degenerate.NOTHING_SCORED)
    estimates = _solve(*_levels(np.where(scored, array, 0.0), scored))
    return _named(estimates, float(np.abs(array[scored]).max()) ** 2 * _ROUNDING)


def _as_cube(scores: ArrayLike) -> Floats:
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim > 3:
        raise ValueError(f"scores have {array.ndim} axes; expected questions x runs x judgements")
    return array.reshape((*array.shape, *(1,) * (3 - array.ndim)))


def _levels(values: Floats, scored: NDArray[np.bool_]) -> tuple[_Level, _Level, _Level]:
    """Judge, run and question."""
    counts = scored.sum(axis=2).astype(np.float64)
    sizes = counts.sum(axis=1)
    total, answers, questions = int(sizes.sum()), int((counts > 0).sum()), int((sizes > 0).sum())
    question_mean = _ratio(values.sum(axis=(1, 2)), sizes)
    answer_mean = _ratio(values.sum(axis=2), counts)
    within = np.where(scored, values - answer_mean[:, :, None], 0.0)
    between_runs = counts * (answer_mean - question_mean[:, None]) ** 2
    between_questions = sizes * (question_mean - values.sum() / total) ** 2
    squared_counts = (counts**2).sum(axis=1)
    shared = float(_ratio(squared_counts, sizes).sum())
    of_run, of_question = (total - float(each.sum()) / total for each in (squared_counts, sizes**2))
    return (
        _Level(float((within**2).sum()), total - answers),
        _Level(float(between_runs.sum()), answers - questions, total - shared),
        _Level(float(between_questions.sum()), questions - 1, of_run - (total - shared), of_question),
    )


def _solve(judge: _Level, run: _Level, question: _Level) -> dict[Source, float | None]:
    """The expectations solved from the innermost level outwards; a level that was never repeated counts as 0 there."""
    judges = judge.squares / judge.df if judge.df else None
    left = judges or 0.0
    runs = (run.squares - run.df * left) / run.of_run if run.df else None
    explained = question.df * left + question.of_run * (runs or 0.0)
    questions = (question.squares - explained) / question.of_question if question.df else None
    return {Source.QUESTION: questions, Source.RUN: runs, Source.JUDGE: judges}


def _named(estimates: dict[Source, float | None], noise: float) -> VarianceComponents:
    kept = {source: None if found is None else max(0.0, found) for source, found in estimates.items()}
    known = [found for found in estimates.values() if found is not None]
    return VarianceComponents(
        question=kept[Source.QUESTION],
        run=kept[Source.RUN],
        judge=kept[Source.JUDGE],
        truncated=tuple(source for source, found in estimates.items() if found is not None and found < -noise),
        degenerate=_reason(estimates, all(abs(found) <= noise for found in known)),
    )


def _reason(estimates: dict[Source, float | None], still: bool) -> Degenerate | None:
    if estimates[Source.QUESTION] is None:
        return Degenerate.ONE_QUESTION
    if still:
        return Degenerate.ALL_EQUAL
    return Degenerate.ONE_RUN if estimates[Source.RUN] is None else None


def _ratio(sums: Floats, counts: Floats) -> Floats:
    """Quotients, 0 where nothing was counted."""
    return np.asarray(sums / np.maximum(counts, 1.0))
