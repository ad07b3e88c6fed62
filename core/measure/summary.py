"""The report of an evaluation, computed from its rows and its record alone: equal input, equal bytes."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.measure.bands import band_of
from core.measure.bootstrap import RESAMPLES
from core.measure.calibration import calibrate
from core.measure.confusion import confusion
from core.measure.gates import gate_results
from core.measure.run_statistics import limits, run_statistics
from core.measure.series import SuiteRows, suite_rows
from core.measure.spending import spend
from core.measure.spread import variance_splits
from core.measure.statistics import mean
from core.measure.suite import (
    few_shot_summary,
    metric_summaries,
    question_summaries,
    retrieval_summary,
    run_means,
    syntax_summary,
    unanswerable_summary,
)
from core.model.calibration import InjectedFault
from core.model.evaluation import ConstructCoverage, EvaluationReport, SuiteSummary, Timing
from core.model.frozen import seed_for
from core.model.judged import JudgedRow, Metric
from core.model.record import FewShotStatus, RunRecord, SuiteRecord, binding_faults
from core.model.sample import GoldenQuestion
from core.model.specs import BandSpec, GateSpec, Provider


@dataclass(frozen=True)
class Background:
    """What a report is told beside the rows."""

    record: RunRecord
    questions: Sequence[GoldenQuestion]
    gates: Sequence[GateSpec] = ()
    bands: Sequence[BandSpec] = ()
    truth: Mapping[str, InjectedFault] | None = None
    """By message id of the spoiled reply; None when nothing is known of the answers."""
    coverage: Mapping[str, Sequence[ConstructCoverage]] = field(default_factory=dict)
    """By suite."""
    resamples: int = RESAMPLES
    """Of the bootstrap over questions."""


def summarise(rows: Iterable[JudgedRow], background: Background) -> EvaluationReport:
    """The report over `rows` in any order.

    Raises ValueError for a row that is there twice, or whose suite, run or question the record does not have.
    """
    record = background.record
    ordered = sorted(rows, key=lambda row: (row.suite, row.run, row.id))
    suites = _by_suite(ordered, background)
    expected = sum(len(suite.questions) * suite.runs for suite in suites.values())
    gates = tuple(
        result
        for suite in record.suites
        for result in gate_results(background.gates, suites[suite.suite], _truth_of(suite, background))
    )
    faults = (*binding_faults(record), *_faults_seen(record, ordered, expected))
    summaries = tuple(_suite(suites[suite.suite], suite, background) for suite in record.suites)
    return EvaluationReport(
        experiment=record.experiment,
        name=record.name,
        fingerprint=record.fingerprint,
        seed=record.seed,
        runs=record.runs,
        binding=not faults,
        binding_faults=faults,
        partial=len(ordered) < expected,
        n_expected=expected,
        n_rows=len(ordered),
        n_usable=sum(_is_usable(row) for row in ordered),
        bands=tuple(background.bands),
        gates=gates,
        gates_passed=all(gate.passed for gate in gates),
        suites=summaries,
        spend=spend(ordered),
        prompts=dict(sorted(record.prompts.items())),
        metric_versions=record.metrics,
        caveats=_caveats(record, summaries),
        timing=_timing(record, ordered),
    )


def _by_suite(rows: Sequence[JudgedRow], background: Background) -> dict[str, SuiteRows]:
    record = background.record
    names = [suite.suite for suite in record.suites]
    strangers = sorted({row.suite for row in rows} - set(names))
    if strangers:
        raise ValueError(f"rows of suites that the record does not have: {', '.join(strangers)}")
    return {name: suite_rows(rows, suite=name, questions=background.questions, runs=record.runs) for name in names}


def _suite(suite: SuiteRows, record: SuiteRecord, background: Background) -> SuiteSummary:
    assert record.judge is not None, "an evaluation has a judge"
    metrics = metric_summaries(suite)
    syntax = syntax_summary(suite)
    overall = next(summary for summary in metrics if summary.metric is Metric.GLOBAL)
    truth = _truth_of(record, background)
    return SuiteSummary(
        suite=suite.suite,
        n_expected=len(suite.questions) * suite.runs,
        n_rows=len(suite.rows),
        generator=record.generator,
        judge=record.judge,
        parser=record.parser,
        metrics=metrics,
        syntax=syntax,
        band=band_of(overall.final.mean, background.bands),
        raw_band=band_of(overall.raw.mean, background.bands),
        runs=run_means(suite, metrics, syntax.overall, background.bands),
        questions=question_summaries(suite),
        retrieval=retrieval_summary(suite, record),
        few_shot=few_shot_summary(suite, record.few_shot),
        confusion=confusion(
            suite.rows,
            suite.questions,
            background.coverage.get(suite.suite, ()),
            seed=seed_for(background.record.seed, "confusion", suite.suite),
        ),
        calibration=None if truth is None else calibrate(suite.rows, truth),
        unanswerable=unanswerable_summary(suite),
        spend=spend(suite.rows),
        variance=variance_splits(suite),
        statistics=run_statistics(suite, seed=background.record.seed, resamples=background.resamples),
    )


def _truth_of(suite: SuiteRecord, background: Background) -> Mapping[str, InjectedFault] | None:
    """What is known of one suite's answers: nothing unless its generator was rehearsed."""
    return background.truth if suite.generator.provider is Provider.REHEARSAL else None


def _is_usable(row: JudgedRow) -> bool:
    return any(score.raw is not None for _, score in row.scores.items())


def _faults_seen(record: RunRecord, rows: Sequence[JudgedRow], expected: int) -> list[str]:
    """Reasons against citing the result that only the rows can show."""
    faults = []
    if len(rows) < expected:
        faults.append(f"{expected - len(rows)} of {expected} rows are missing")
    for suite in record.suites:
        own = [row for row in rows if row.suite == suite.suite]
        faults.extend(f"suite {suite.suite}: {fault}" for fault in _suite_faults_seen(suite, own))
    return faults


def _suite_faults_seen(record: SuiteRecord, rows: Sequence[JudgedRow]) -> list[str]:
    faults = []
    degraded = sum(row.few_shots.status is FewShotStatus.DEGRADED for row in rows)
    if degraded and record.few_shot.status is not FewShotStatus.DEGRADED:
        faults.append(f"few_shot_injection: degraded in {degraded} of {len(rows)} rows")
    versions = {block.result.parser_version for row in rows for block in row.blocks if block.result is not None}
    others = sorted(versions - {record.parser.version})
    if others:
        faults.append(f"parsed by version {', '.join(others)} where the record has {record.parser.version}")
    return faults


def _caveats(record: RunRecord, suites: Sequence[SuiteSummary]) -> tuple[str, ...]:
    caveats: list[str] = []
    models = [model for suite in record.suites for model in suite.models]
    if any(model.provider is Provider.REHEARSAL for model in models):
        caveats.append(
            "Rehearsed models answered or judged: these numbers test the pipeline and say nothing of a model."
        )
    return (*caveats, *limits(record.runs, suites))


def _timing(record: RunRecord, rows: Sequence[JudgedRow]) -> Timing:
    seconds = [row.elapsed_s for row in rows]
    return Timing(
        created_at=record.created_at,
        index_built_at={suite.suite: suite.index.built_at for suite in record.suites},
        row_seconds_mean=mean(seconds),
        row_seconds_p50=statistics.median(seconds) if seconds else None,
        row_seconds_max=max(seconds, default=None),
    )
