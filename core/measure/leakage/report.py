"""The report of a leakage audit, computed from its rows and its record alone: equal input, equal bytes."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.measure.leakage.arms import arm_summary
from core.measure.leakage.copies import listed, overlaps, sources
from core.measure.leakage.decision import leak_tests, verdict_of
from core.measure.leakage.divergence import divergences
from core.measure.leakage.provenance import provenance
from core.measure.leakage.survival import survival
from core.measure.leakage.table import table
from core.measure.leakage.words import TOKENIZER
from core.measure.spending import spend
from core.measure.statistics import mean
from core.measure.suite import index_facts
from core.model.evaluation import Timing
from core.model.frozen import seed_for
from core.model.leakage import Arm, AuditedRow, AuditSpec, LeakageReport, ModelAudit
from core.model.record import FewShotStatus, RunRecord, SuiteRecord, binding_faults
from core.model.sample import Example, GoldenQuestion
from core.model.specs import Provider


@dataclass(frozen=True)
class AuditBackground:
    """What an audit is told beside the rows."""

    record: RunRecord
    questions: Sequence[GoldenQuestion]
    spec: AuditSpec
    pools: Mapping[str, Sequence[Example]]
    """Every few-shot example, by suite."""
    vocabularies: Mapping[str, Collection[str]]
    """Every word that AVAP gives a meaning, by suite."""


def audit(rows: Iterable[AuditedRow], background: AuditBackground) -> LeakageReport:
    """The report over `rows` in any order. Raises ValueError for a row that is there twice."""
    record = background.record
    ordered = sorted(rows, key=lambda row: (row.suite, list(Arm).index(row.arm), row.run, row.id))
    expected = len(record.suites) * len(Arm) * len(background.questions) * record.runs
    faults = (*binding_faults(record), *_faults_seen(record, ordered, expected))
    return LeakageReport(
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
        audit=background.spec,
        tokenizer=TOKENIZER,
        models=tuple(_model(suite, ordered, background) for suite in record.suites),
        spend=spend(ordered),
        caveats=_caveats(record),
        timing=_timing(record, ordered),
    )


def _model(suite: SuiteRecord, rows: Sequence[AuditedRow], background: AuditBackground) -> ModelAudit:
    spec, seed = background.spec, seed_for(background.record.seed, "leakage", suite.suite)
    own = table((row for row in rows if row.suite == suite.suite), background.questions, background.record.runs)
    found = sources(own, background.pools.get(suite.suite, ()), spec)
    tests = leak_tests(found, seed)
    verdict, sentence = verdict_of(tests)
    return ModelAudit(
        suite=suite.suite,
        generator=suite.generator,
        parser=suite.parser,
        retrieval_mode=suite.retrieval_mode,
        index=index_facts(suite.index),
        few_shot=suite.few_shot,
        verdict=verdict,
        sentence=sentence,
        tests=tests,
        arms=tuple(arm_summary(own, arm) for arm in Arm),
        survival=survival(own, spec, seed),
        provenance=provenance(own, background.vocabularies.get(suite.suite, ())),
        divergences=divergences(own, spec, seed),
        overlaps=overlaps(found),
        copies=listed(found),
    )


def _faults_seen(record: RunRecord, rows: Sequence[AuditedRow], expected: int) -> list[str]:
    """Reasons against citing the result that only the rows can show."""
    faults = []
    if len(rows) < expected:
        faults.append(f"{expected - len(rows)} of {expected} rows are missing")
    for suite in record.suites:
        own = [row for row in rows if row.suite == suite.suite]
        degraded = sum(row.few_shots.status is FewShotStatus.DEGRADED for row in own)
        if degraded and suite.few_shot.status is not FewShotStatus.DEGRADED:
            faults.append(f"suite {suite.suite}: few_shot_injection: degraded in {degraded} of {len(own)} rows")
        versions = {block.result.parser_version for row in own for block in row.blocks if block.result is not None}
        if others := sorted(versions - {suite.parser.version}):
            faults.append(f"suite {suite.suite}: parsed by version {', '.join(others)}, not {suite.parser.version}")
    return faults


def _caveats(record: RunRecord) -> tuple[str, ...]:
    caveats = [
        "Only what stands in the prompts, the pool and the references is compared: text that a model learned elsewhere "
        "and words anew is not seen.",
        "No leak found does not mean that there is none: the intervals say how large one could still be.",
    ]
    if any(suite.generator.provider is Provider.REHEARSAL for suite in record.suites):
        caveats.insert(0, "A rehearsed model answered: these numbers test the audit and say nothing of a model.")
    return tuple(caveats)


def _timing(record: RunRecord, rows: Sequence[AuditedRow]) -> Timing:
    seconds = [row.elapsed_s for row in rows]
    return Timing(
        created_at=record.created_at,
        index_built_at={suite.suite: suite.index.built_at for suite in record.suites},
        row_seconds_mean=mean(seconds),
        row_seconds_p50=statistics.median(seconds) if seconds else None,
        row_seconds_max=max(seconds, default=None),
    )
