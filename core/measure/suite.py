"""One suite summarised: its metrics, its code, its retrieval, its examples, its questions one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from core.measure.bands import band_of
from core.measure.series import (
    GOLD_RECALL,
    SYNTACTIC_VALIDITY,
    SuiteRows,
    estimate_of,
)
from core.measure.statistics import mean
from core.model.evaluation import (
    Estimate,
    FewShotSummary,
    IndexFacts,
    MetricSummary,
    QuestionSummary,
    RetrievalSummary,
    RunMeans,
    SyntaxSummary,
    UnanswerableSummary,
)
from core.model.judged import Block, BlockKind, JudgedRow, Metric
from core.model.record import FewShotRecord, FewShotStatus, SuiteRecord
from core.model.retrieval import IndexManifest
from core.model.sample import GoldenQuestion, QueryType
from core.model.specs import BandSpec
from core.model.syntax import Validity


def metric_summaries(suite: SuiteRows) -> tuple[MetricSummary, ...]:
    """The four judged metrics and their mean, final and raw."""
    return tuple(
        MetricSummary(
            metric=metric,
            final=estimate_of(suite, metric.value),
            raw=estimate_of(suite, f"raw_{metric.value}"),
        )
        for metric in Metric
    )


def run_means(
    suite: SuiteRows, metrics: Sequence[MetricSummary], validity: Estimate, bands: Sequence[BandSpec]
) -> tuple[RunMeans, ...]:
    """Every run in one line."""
    counts = Counter(row.run for row in suite.rows)
    lines = []
    for position in range(suite.runs):
        final = {summary.metric: summary.final.by_run[position] for summary in metrics}
        lines.append(
            RunMeans(
                run=position + 1,
                rows=counts[position + 1],
                final=final,
                raw={summary.metric: summary.raw.by_run[position] for summary in metrics},
                syntactic_validity=validity.by_run[position],
                band=band_of(final[Metric.GLOBAL], bands),
            )
        )
    return tuple(lines)


def syntax_summary(suite: SuiteRows) -> SyntaxSummary:
    """Valid code-bearing answers over code-bearing answers, and what never reached the parser."""
    blocks = [block for row in suite.rows for block in row.blocks]
    kinds = Counter(block.kind for block in blocks)
    types = sorted({question.type for question in suite.questions})
    return SyntaxSummary(
        overall=estimate_of(suite, SYNTACTIC_VALIDITY),
        by_type={kind: estimate_of(suite.of_type(kind), SYNTACTIC_VALIDITY) for kind in types},
        n_blocks=kinds[BlockKind.CODE],
        n_foreign_blocks=kinds[BlockKind.FOREIGN],
        n_foreign_only=sum(map(_foreign_only, suite.rows)),
        n_unclosed=sum(_is_open_code(block) for block in blocks),
    )


def question_summaries(suite: SuiteRows) -> tuple[QuestionSummary, ...]:
    """Every question over all runs, by id."""
    by_question: dict[str, list[JudgedRow]] = {}
    for row in suite.rows:
        by_question.setdefault(row.id, []).append(row)
    return tuple(_question(question, by_question.get(question.id, [])) for question in suite.questions)


def retrieval_summary(suite: SuiteRows, record: SuiteRecord) -> RetrievalSummary:
    """The index searched, and how much of the gold came back."""
    return RetrievalSummary(
        mode=record.retrieval_mode,
        index=index_facts(record.index),
        k_mean=mean([len(row.passages) for row in suite.rows]),
        gold_recall=estimate_of(suite, GOLD_RECALL),
    )


def few_shot_summary(suite: SuiteRows, configured: FewShotRecord) -> FewShotSummary:
    """Injection as it went: one degraded row makes it degraded."""
    degraded = [row.few_shots for row in suite.rows if row.few_shots.status is FewShotStatus.DEGRADED]
    counts = [row.few_shots.k_effective for row in suite.rows]
    status = FewShotStatus.DEGRADED if degraded else configured.status
    return FewShotSummary(
        configured=configured,
        status=status.value,
        k_mean=mean(counts),
        k_min=min(counts, default=None),
        k_max=max(counts, default=None),
        degraded_rows=len(degraded),
        reasons=tuple(sorted({few_shots.reason for few_shots in degraded})),
    )


def unanswerable_summary(suite: SuiteRows) -> UnanswerableSummary:
    """Who declined, where declining is right and where it is not."""
    rows = [row for row in suite.rows if not row.answerable]
    said = Counter(row.noncommittal for row in rows)
    return UnanswerableSummary(
        questions=sum(not question.answerable for question in suite.questions),
        rows=len(rows),
        declined=said[True],
        answered=said[False],
        unjudged=said[None],
        declined_answerable=sum(row.answerable and row.noncommittal is True for row in suite.rows),
    )


def _foreign_only(row: JudgedRow) -> bool:
    kinds = {block.kind for block in row.blocks}
    generation = row.type is QueryType.CODE_GENERATION
    return generation and BlockKind.FOREIGN in kinds and BlockKind.CODE not in kinds


def _is_open_code(block: Block) -> bool:
    return block.kind is BlockKind.CODE and not block.closed


def _question(question: GoldenQuestion, rows: Iterable[JudgedRow]) -> QuestionSummary:
    rows = tuple(rows)
    finals = [row.scores.global_score.final for row in rows]
    raws = [row.scores.global_score.raw for row in rows]
    categories = Counter(row.category for row in rows if row.category is not None)
    return QuestionSummary(
        id=question.id,
        type=question.type,
        question=question.question,
        rows=len(rows),
        global_score=mean([value for value in finals if value is not None]),
        global_raw=mean([value for value in raws if value is not None]),
        invalid=sum(row.syntax is Validity.INVALID for row in rows),
        code_bearing=sum(row.syntax is not None for row in rows),
        categories=dict(sorted(categories.items())),
    )


def index_facts(manifest: IndexManifest) -> IndexFacts:
    """Which index was searched, without the moment it was built."""
    return IndexFacts(
        name=manifest.name,
        version=manifest.version,
        engine=manifest.engine,
        pipeline=manifest.pipeline,
        embedder=manifest.embedder_name,
        corpus_sha256=manifest.corpus_sha256,
        count=manifest.count,
    )
