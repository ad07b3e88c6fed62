"""The rows of one suite as series of observations, one for each answer that should exist, scored or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

from core.measure.ranking import section_recall
from core.measure.rates import wilson
from core.measure.statistics import clustered_mean, mean, standard_deviation
from core.model.comparison import NATIVE_SYNTAX
from core.model.evaluation import Estimate, Interval
from core.model.judged import BlockKind, JudgedRow, Metric, Score, UnscoredReason
from core.model.sample import GoldenQuestion, QueryType
from core.model.syntax import Category, Validity

SYNTACTIC_VALIDITY = "syntactic_validity"
GOLD_RECALL = "gold_recall"
FRACTIONS = (SYNTACTIC_VALIDITY, NATIVE_SYNTAX)
"""Metrics that count answers: one score is 0 or 1."""


class Observation(NamedTuple):
    """One answer under one metric: a value, or the reason why there is none."""

    question: str
    run: int
    value: float | None
    reason: UnscoredReason | None = None


@dataclass(frozen=True)
class SuiteRows:
    """What a suite should have judged and what it did, in the order (run, question id)."""

    suite: str
    questions: tuple[GoldenQuestion, ...]
    runs: int
    rows: tuple[JudgedRow, ...]
    observed: dict[str, tuple[Observation, ...]] = field(default_factory=dict, init=False, compare=False, repr=False)
    """What was read of them so far, by metric; several parts of a report ask for the same."""

    def of_type(self, query_type: QueryType | None) -> SuiteRows:
        """The same for the questions of one type alone; None is all."""
        if query_type is None:
            return self
        questions = tuple(question for question in self.questions if question.type is query_type)
        rows = tuple(row for row in self.rows if row.type is query_type)
        return SuiteRows(self.suite, questions, self.runs, rows)

    @cached_property
    def places(self) -> tuple[tuple[str, int, JudgedRow | None], ...]:
        """Every question, by id, in every run, with its row where there is one."""
        found = {(row.id, row.run): row for row in self.rows}
        ids = [question.id for question in self.questions]
        return tuple((id_, run, found.get((id_, run))) for run in range(1, self.runs + 1) for id_ in ids)


def suite_rows(rows: Iterable[JudgedRow], *, suite: str, questions: Sequence[GoldenQuestion], runs: int) -> SuiteRows:
    """The rows of `suite`, in order. Raises ValueError for a row that is there twice or that nobody asked for."""
    own = sorted((row for row in rows if row.suite == suite), key=lambda row: (row.run, row.id))
    known = {question.id for question in questions}
    for place, count in Counter((row.id, row.run) for row in own).items():
        if count > 1:
            raise ValueError(f"{suite}: {place[0]} was judged {count} times in run {place[1]}")
        if place[0] not in known or not 1 <= place[1] <= runs:
            raise ValueError(f"{suite}: {place[0]} in run {place[1]} is not part of this evaluation")
    return SuiteRows(suite, tuple(sorted(questions, key=lambda question: question.id)), runs, tuple(own))


Reading = Callable[[JudgedRow], tuple[float | None, UnscoredReason | None]]
"""One metric of one row, or the reason why there is none."""


def _final(metric: Metric) -> Reading:
    of = attrgetter(f"scores.{metric.value}")

    def read(row: JudgedRow) -> tuple[float | None, UnscoredReason | None]:
        score: Score = of(row)
        return score.final, score.reason if score.final is None else None

    return read


def _raw(metric: Metric) -> Reading:
    of = attrgetter(f"scores.{metric.value}")

    def read(row: JudgedRow) -> tuple[float | None, UnscoredReason | None]:
        score: Score = of(row)
        return score.raw, score.reason

    return read


def _validity(row: JudgedRow) -> tuple[float | None, UnscoredReason | None]:
    if row.syntax is None:
        return None, UnscoredReason.NO_CODE
    return float(row.syntax is Validity.VALID), None


def _native_syntax(row: JudgedRow) -> tuple[float | None, UnscoredReason | None]:
    """1 for an answer whose code holds nothing of another language, by the parser's word, and 0 for one that does.

    An answer to CODE_GENERATION that writes its program in another language altogether, and labels it so, has 0 too.
    """
    results = [block.result for block in row.blocks if block.result is not None]
    foreign = any(block.kind is BlockKind.FOREIGN for block in row.blocks)
    if not results and not (foreign and row.type is QueryType.CODE_GENERATION):
        return None, UnscoredReason.NO_CODE
    faults = [fault.category for result in results for fault in result.diagnostics]
    return float(bool(results) and Category.FOREIGN_KEYWORD not in faults), None


def _gold_recall(row: JudgedRow) -> tuple[float | None, UnscoredReason | None]:
    recall = section_recall(row.gold_passages, [passage.id for passage in row.passages])
    return recall, UnscoredReason.NO_GOLD if recall is None else None


READINGS: Mapping[str, Reading] = {
    **{metric.value: _final(metric) for metric in Metric},
    **{f"raw_{metric.value}": _raw(metric) for metric in Metric},
    SYNTACTIC_VALIDITY: _validity,
    NATIVE_SYNTAX: _native_syntax,
    GOLD_RECALL: _gold_recall,
}
"""Every metric that a report estimates and a gate can name."""


def observations(suite: SuiteRows, metric: str) -> tuple[Observation, ...]:
    """One observation for every place of the suite. Raises KeyError for a metric that is not in READINGS."""
    read = READINGS[metric]
    if metric not in suite.observed:
        suite.observed[metric] = tuple(
            Observation(question, run, *(read(row) if row else (None, UnscoredReason.MISSING)))
            for question, run, row in suite.places
        )
    return suite.observed[metric]


def estimate(series: Sequence[Observation], runs: int) -> Estimate:
    """Mean, spread over runs and clustered error of a series, with denominators that add up."""
    scored = {(o.question, o.run): o.value for o in series if o.value is not None}
    places = sorted(scored)
    clusters = _grouped(scored, places, key=0)
    by_run = _grouped(scored, places, key=1)
    clustered = clustered_mean(clusters.values())
    means = [mean(by_run.get(run, [])) for run in range(1, runs + 1)]
    unscored = Counter(o.reason for o in series if o.reason is not None)
    return Estimate(
        mean=mean(list(scored.values())),
        sd_over_runs=standard_deviation([value for value in means if value is not None]),
        cluster_se=clustered.error,
        interval=clustered.interval,
        by_run=tuple(means),
        n_expected=len(series),
        n_scored=len(scored),
        n_unscored=len(series) - len(scored),
        n_questions=len(clusters),
        unscored=dict(sorted(unscored.items())),
    )


def estimate_of(suite: SuiteRows, metric: str) -> Estimate:
    """The estimate of one metric of READINGS over a suite; a fraction that is 0 or 1 everywhere has Wilson's interval.

    Clusters that never vary have no error to measure, and "all of 8" is no certainty: each question counts once.
    """
    found = estimate(observations(suite, metric), suite.runs)
    if metric not in FRACTIONS or found.mean not in (0.0, 1.0):
        return found
    low, high = wilson(found.n_questions if found.mean else 0, found.n_questions)
    return found.model_copy(update={"interval": Interval(low=low, high=high)})


def _grouped(
    scored: Mapping[tuple[str, int], float], places: Iterable[tuple[str, int]], *, key: int
) -> dict[str | int, list[float]]:
    groups: dict[str | int, list[float]] = {}
    for place in places:
        groups.setdefault(place[key], []).append(scored[place])
    return groups
