"""Where the variance of a suite's scores comes from: the question, the run, or the judge asked again."""

from __future__ import annotations

import math

import numpy as np

from core.measure.clusters import Floats
from core.measure.series import SuiteRows
from core.measure.variance import variance_components
from core.model.evaluation import VarianceSplit
from core.model.judged import JudgedRow, Metric


def variance_splits(suite: SuiteRows) -> tuple[VarianceSplit, ...]:
    """The split of every judged metric's final scores; nothing where every answer was judged once."""
    judgings = max((1 + len(row.judged_again) for row in suite.rows), default=1)
    if judgings == 1:
        return ()
    return tuple(_split(suite, metric, judgings) for metric in Metric)


def _split(suite: SuiteRows, metric: Metric, judgings: int) -> VarianceSplit:
    cube = _cube(suite, metric, judgings)
    found = variance_components(cube)
    return VarianceSplit(
        metric=metric,
        question=found.question,
        run=found.run,
        judge=found.judge,
        n_questions=int(np.sum(~np.isnan(cube).all(axis=(1, 2)))),
        runs=suite.runs,
        judgings=judgings,
    )


def _cube(suite: SuiteRows, metric: Metric, judgings: int) -> Floats:
    """Final scores by question, run and judging, NaN where there is none."""
    cube = np.full((len(suite.questions), suite.runs, judgings), math.nan)
    places = {question.id: place for place, question in enumerate(suite.questions)}
    for row in suite.rows:
        finals = _finals(row, metric)
        cube[places[row.id], row.run - 1, : len(finals)] = finals
    return cube


def _finals(row: JudgedRow, metric: Metric) -> list[float]:
    scores = [each[metric].final for each in (row.scores, *row.judged_again)]
    return [math.nan if score is None else score for score in scores]
