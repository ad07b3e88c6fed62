"""Numbers for curves and scoreboards: of one cell as soon as it is done, of suite and run once there is a report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from core.measure.spending import spend
from core.model.evaluation import Estimate, EvaluationReport, Spend, SuiteSummary
from core.model.judged import JudgedRow, Metric
from core.model.syntax import Validity

Values = dict[str, int | float]


def cell_values(run: int, rows: Sequence[JudgedRow | Mapping[str, Any]]) -> Values:
    """The curves at one finished cell; a mean over nothing is left out, never zero."""
    judged = [row for row in rows if isinstance(row, JudgedRow)]
    values: Values = {"run": run, "run/rows": len(rows)}
    if judged:
        return {**values, **_judged(judged)}
    keys = sorted({key for row in rows if isinstance(row, Mapping) for key in row})
    means = {f"run/{key}": _mean([_number(row.get(key)) for row in rows if isinstance(row, Mapping)]) for key in keys}
    return {**values, **_known(means)}


def suite_values(suite: SuiteSummary) -> dict[str, Any]:
    """One suite over all its runs."""
    found: dict[str, Any] = {"suite/n_rows": suite.n_rows, "suite/n_expected": suite.n_expected}
    for metric in suite.metrics:
        found |= _estimate(f"suite/{metric.metric.value}", metric.final)
        found[f"suite/{metric.metric.value}/raw"] = metric.raw.mean
    found |= _estimate("suite/syntactic_validity", suite.syntax.overall)
    found |= _estimate("suite/gold_recall", suite.retrieval.gold_recall)
    found |= {"suite/band": suite.band, "suite/raw_band": suite.raw_band, "suite/few_shot": suite.few_shot.status}
    found |= {
        "suite/invalid": sum(question.invalid for question in suite.questions),
        "suite/code_bearing": sum(question.code_bearing for question in suite.questions),
    }
    if suite.calibration is not None:
        counts = suite.calibration.model_dump(include={"injected", "caught", "missed", "clean", "false_alarms"})
        found |= {f"calibration/{key}": value for key, value in counts.items()}
    return _known({**found, **_spent("suite", suite.spend)})


def report_values(report: EvaluationReport) -> dict[str, Any]:
    """The run as a whole."""
    return {
        "n_expected": report.n_expected,
        "n_rows": report.n_rows,
        "n_usable": report.n_usable,
        "partial": report.partial,
        "gates_passed": report.gates_passed,
        "caveats": list(report.caveats),
        **_spent("run", report.spend),
    }


def _judged(rows: Sequence[JudgedRow]) -> Values:
    found: dict[str, float | None] = {}
    for metric in Metric:
        for side in ("final", "raw"):
            scores = [getattr(row.scores[metric], side) for row in rows]
            found[f"run/{metric.value}/{side}"] = _mean(scores)
        found[f"run/{metric.value}/unscored"] = sum(row.scores[metric].final is None for row in rows)
    bearing = [row for row in rows if row.syntax is not None]
    found["run/syntactic_validity"] = _mean([float(row.syntax is Validity.VALID) for row in bearing])
    found["run/code_bearing"] = len(bearing)
    found["run/invalid"] = sum(row.syntax is Validity.INVALID for row in bearing)
    found["run/seconds_mean"] = _mean([row.elapsed_s for row in rows])
    return {**_known(found), **_spent("run", spend(rows))}


def _spent(prefix: str, spent: Spend) -> Values:
    return {
        f"{prefix}/calls": spent.calls,
        f"{prefix}/usd": spent.usd,
        f"{prefix}/input_tokens": spent.usage.input_tokens,
        f"{prefix}/output_tokens": spent.usage.output_tokens,
    }


def _estimate(key: str, of: Estimate) -> dict[str, Any]:
    ends = {f"{key}/low": of.interval.low, f"{key}/high": of.interval.high} if of.interval else {}
    rest = {
        f"{key}/sd_over_runs": of.sd_over_runs,
        f"{key}/cluster_se": of.cluster_se,
        f"{key}/n_scored": of.n_scored,
        f"{key}/n_unscored": of.n_unscored,
    }
    return {f"{key}/final": of.mean, **ends, **rest}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number and isinstance(value, int | float) else None


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
