"""The final scores of a row: what the judges said, under the gate's override."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from core.checks.judged import Judgement
from core.model.judged import JUDGED_METRICS, OVERRIDDEN_METRICS, Metric, Score, Scores, UnscoredReason
from core.model.syntax import Validity


def final_scores(judged: Mapping[Metric, Judgement], syntax: Validity | None) -> Scores:
    """The four metrics with the gate's override, and their mean.

    INVALID sets final faithfulness and answer relevancy to 0.0, whatever the judge said or failed to say; the context
    metrics stay. The mean is over all four or not at all: the mean of three is another metric.
    """
    scores = {metric: _score(judged[metric], metric, syntax) for metric in JUDGED_METRICS}
    absent = [metric.value for metric, score in scores.items() if score.raw is None]
    whole = Score(
        raw=_mean([score.raw for score in scores.values()]),
        final=_mean([score.final for score in scores.values()]),
        reason=UnscoredReason.PART_UNSCORED if absent else None,
        detail=f"unscored: {', '.join(absent)}" if absent else "",
    )
    return Scores(**{metric.value: score for metric, score in scores.items()}, global_score=whole)


def _score(judgement: Judgement, metric: Metric, syntax: Validity | None) -> Score:
    overridden = syntax is Validity.INVALID and metric in OVERRIDDEN_METRICS
    return Score(
        raw=judgement.raw,
        final=0.0 if overridden else judgement.raw,
        reason=judgement.reason,
        detail=judgement.detail,
        findings=judgement.findings,
    )


def _mean(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return math.fsum(known) / len(known) if len(known) == len(parts) else None
