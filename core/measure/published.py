"""A published campaign against a run that repeats it: recomputed, side by side, with what the run does otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from core.model.conduct import IndexHistory, non_binding_reasons
from core.model.deviation import Area, Deviation
from core.model.evaluation import EvaluationReport, SuiteSummary
from core.model.judged import JUDGED_METRICS, Metric
from core.model.published import (
    AgainstPublished,
    PublishedCampaign,
    PublishedMetric,
    PublishedResult,
    PublishedSuite,
    Recomputation,
)
from core.model.record import ModelRecord, RunRecord, SuiteRecord
from core.model.specs import Provider

NOT_STATED = "not stated"


def recomputed(suite: PublishedSuite, decimals: int) -> Recomputation:
    """Whether a published global score is the mean of its parts."""
    return recomputation(tuple(suite.score(metric) for metric in JUDGED_METRICS), suite.global_score, decimals)


def recomputation(parts: Sequence[float], published: float, decimals: int) -> Recomputation:
    """Whether `published` is the mean of `parts`, all of them rounded to `decimals`.

    Each of the parts is known to half a unit of its last decimal, hence their mean too; the global score was rounded
    by as much again. So they agree when they are at most one unit apart. Computed in decimal, as they were written.
    """
    mean = sum((Decimal(str(part)) for part in parts), Decimal()) / len(parts)
    agrees = abs(mean - Decimal(str(published))) <= Decimal(1).scaleb(-decimals)
    return Recomputation(published=published, mean=float(mean), agrees=agrees)


def miscomputed(campaign: PublishedCampaign) -> tuple[str, ...]:
    """The suites whose published global score is not the mean of its parts."""
    return tuple(suite.suite for suite in campaign.suites if not recomputed(suite, campaign.decimals).agrees)


def against_published(campaign: PublishedCampaign, report: EvaluationReport, record: RunRecord) -> PublishedResult:
    """`campaign` beside what `report` found, suite by suite, with every deviation of the run."""
    found = {suite.suite: suite for suite in report.suites}
    return PublishedResult(
        source=campaign.source,
        date=campaign.date,
        questions=campaign.questions,
        non_binding=reasons(campaign),
        suites=tuple(_beside(suite, found.get(suite.suite), campaign.decimals) for suite in campaign.suites),
        deviations=published_deviations(campaign, record, _asked(report, record)),
        notes=campaign.notes,
    )


def reasons(campaign: PublishedCampaign) -> tuple[str, ...]:
    """Why the published scores may not be cited."""
    wrong = (_miscomputed(suite, campaign.decimals) for suite in campaign.suites)
    return (*non_binding_reasons(campaign.conduct), *(line for line in wrong if line))


def _miscomputed(suite: PublishedSuite, decimals: int) -> str:
    check = recomputed(suite, decimals)
    if check.agrees:
        return ""
    return f"suite {suite.suite}: global score {check.published} is not the mean of its parts, {check.mean}"


def _beside(published: PublishedSuite, found: SuiteSummary | None, decimals: int) -> AgainstPublished:
    check = recomputed(published, decimals)
    if found is None:
        return AgainstPublished(published=published, recomputed=check, metrics=())
    bearing = sum(question.code_bearing for question in found.questions)
    invalid = sum(question.invalid for question in found.questions)
    return AgainstPublished(
        published=published,
        recomputed=check,
        metrics=tuple(_metric(published, found, metric) for metric in (*JUDGED_METRICS, Metric.GLOBAL)),
        raw_verdict=found.raw_band,
        verdict=found.band,
        syntactic_validity=found.syntax.overall.mean,
        code_bearing_per_run=bearing / len(found.runs) if found.runs else None,
        invalid_per_run=invalid / len(found.runs) if found.runs else None,
    )


def _metric(published: PublishedSuite, found: SuiteSummary, metric: Metric) -> PublishedMetric:
    summary = found.metric(metric)
    return PublishedMetric(
        metric=metric, published=published.score(metric), raw=summary.raw.mean, final=summary.final.mean
    )


def published_deviations(campaign: PublishedCampaign, record: RunRecord, asked: int) -> tuple[Deviation, ...]:
    """What the run of `record`, with `asked` questions, does otherwise than the published campaign."""
    return tuple(_deviations(campaign, record, asked))


def _asked(report: EvaluationReport, record: RunRecord) -> int:
    return report.n_expected // (record.runs * len(record.suites) or 1)


def _deviations(campaign: PublishedCampaign, record: RunRecord, asked: int) -> Iterator[Deviation]:
    conduct = campaign.conduct
    yield from _whole(campaign, record, asked)
    rows = {suite.suite: suite for suite in campaign.suites}
    known = [suite for suite in record.suites if suite.suite in rows]
    yield from _shared("generator", Area.MODEL, conduct.generator, [(s, _model(s.generator)) for s in known])
    yield from _shared(
        "judge",
        Area.MODEL,
        conduct.judge,
        [(s, _model(s.judge)) for s in known],
        f"retired on {conduct.judge_retired}" if conduct.judge_retired else "",
    )
    yield from _shared("retrieval.mode", Area.CONFIGURATION, conduct.retrieval_mode,
                       [(s, s.retrieval_mode) for s in known])  # fmt: skip
    few = NOT_STATED if conduct.few_shot_k is None else str(conduct.few_shot_k)
    yield from _shared("few_shot.k", Area.CONFIGURATION, few, [(s, str(s.few_shot.k_configured)) for s in known])
    yield from _shared("parser", Area.GATE, "none" if conduct.gate is False else NOT_STATED,
                       [(s, f"parser {s.parser.version}, {s.parser.vocabulary}") for s in known])  # fmt: skip
    for suite in known:
        yield from _index(rows[suite.suite], suite, conduct.index)
    yield from (_left_out(suite) for suite in campaign.suites if suite.suite not in {s.suite for s in known})


def _whole(campaign: PublishedCampaign, record: RunRecord, asked: int) -> Iterator[Deviation]:
    """What the suites have in common."""
    conduct, code = campaign.conduct, record.provenance
    golden = ", ".join(sorted(name for name in record.data if "golden" in name)) or NOT_STATED
    image = code.container_image_digest or f"no container image recorded, {code.platform}"
    for area, setting, was, now, note in (
        (Area.CONFIGURATION, "runs", _stated(conduct.runs), str(record.runs), ""),
        (Area.CONFIGURATION, "seed", _stated(conduct.seed), str(record.seed), ""),
        (Area.CONFIGURATION, "questions", str(campaign.questions), str(asked), ""),
        (Area.DATA, "golden", "content not published", golden, "other questions, other answers"),
        (Area.CODE, "commit", conduct.commit or NOT_STATED, code.commit[:12] or "unknown", ""),
        (Area.ENVIRONMENT, "machine", conduct.environment or NOT_STATED, image, ""),
    ):
        if was != now:
            yield Deviation(area=area, setting=setting, was=was, now=now, note=note)


def _shared(
    setting: str, area: Area, was: str, now: Sequence[tuple[SuiteRecord, str]], note: str = ""
) -> Iterator[Deviation]:
    """One deviation for all suites where they agree, else one for each suite that deviates."""
    values = {value for _, value in now}
    if len(values) == 1 and was not in values:
        yield Deviation(area=area, setting=setting, was=was or NOT_STATED, now=values.pop(), note=note)
        return
    for suite, value in now:
        if value != was:
            yield Deviation(area=area, setting=f"suites.{suite.suite}.{setting}", was=was or NOT_STATED, now=value,
                            note=note)  # fmt: skip


def _index(published: PublishedSuite, suite: SuiteRecord, history: IndexHistory) -> Iterator[Deviation]:
    index = suite.index
    now = f"{index.name}@{index.version}, {index.pipeline}, {index.count} passages"
    note = "the published index was rebuilt and is not at hand" if history is IndexHistory.REBUILT else ""
    if published.index != index.name or history is not IndexHistory.REGISTERED:
        yield Deviation(area=Area.INDEX, setting=f"suites.{suite.suite}.index", was=published.index, now=now, note=note)
    if published.embedding != index.embedder_name:
        yield Deviation(area=Area.INDEX, setting=f"suites.{suite.suite}.embedder", was=published.embedding,
                        now=index.embedder_name, note=_stand_in(index.embedder_name))  # fmt: skip


def _stand_in(embedder: str) -> str:
    """Whether the embedder is none that could have been published: a hashing baseline or a packaged model."""
    return "a stand-in: says nothing of the published model" if embedder.startswith(("hash:", "pypi:")) else ""


def _left_out(suite: PublishedSuite) -> Deviation:
    return Deviation(area=Area.CONFIGURATION, setting=f"suites.{suite.suite}", was="published", now="not run")


def _model(model: ModelRecord | None) -> str:
    if model is None:
        return "none"
    return f"{model.model} (rehearsal)" if model.provider is Provider.REHEARSAL else model.model


def _stated(value: object) -> str:
    return NOT_STATED if value is None else str(value)
