"""Gates: bars that a finished run must meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from core.errors import ConfigError
from core.measure.calibration import calibrate
from core.measure.series import READINGS, SuiteRows, estimate_of
from core.model.calibration import InjectedFault
from core.model.evaluation import Calibration, Estimate, GateResult
from core.model.sample import QueryType
from core.model.specs import Comparator, GateSpec

Truth = Mapping[str, InjectedFault]
"""What was spoiled, by message id of the reply."""


def _recall(found: Calibration) -> tuple[int, int]:
    return found.caught, found.injected


def _false_alarms(found: Calibration) -> tuple[int, int]:
    return found.false_alarms, found.clean


CALIBRATED: Mapping[str, Callable[[Calibration], tuple[int, int]]] = {
    "calibration_recall": _recall,
    "calibration_false_alarm_rate": _false_alarms,
}
"""Metrics of the syntactic gate itself, as a count and what it is a share of; they need a rehearsal's truth."""


def require_known(gates: Iterable[GateSpec]) -> None:
    """Raise ConfigError for the first gate on a metric or query type that no evaluation has."""
    known = sorted([*READINGS, *CALIBRATED])
    for position, gate in enumerate(gates):
        if gate.metric not in known:
            _refuse(f"gates.{position}.metric", gate.metric, known)
        if gate.query_type is not None and gate.query_type not in set(QueryType):
            _refuse(f"gates.{position}.query_type", gate.query_type, [member.value for member in QueryType])


def gate_results(gates: Sequence[GateSpec], suite: SuiteRows, truth: Truth | None = None) -> tuple[GateResult, ...]:
    """Every gate on one suite. What nobody could score fails: no evidence is not a pass."""
    return tuple(_result(gate, suite, truth) for gate in gates)


def _result(gate: GateSpec, suite: SuiteRows, truth: Truth | None) -> GateResult:
    slice_ = suite.of_type(QueryType(gate.query_type) if gate.query_type else None)
    if gate.metric in CALIBRATED:
        value, reason = _calibrated(gate.metric, slice_, truth)
    else:
        found = estimate_of(slice_, gate.metric)
        value, reason = found.mean, _why_unscored(found)
    return GateResult(
        suite=suite.suite,
        metric=gate.metric,
        query_type=gate.query_type,
        comparator=gate.comparator,
        threshold=gate.threshold,
        value=value,
        passed=value is not None and _holds(value, gate),
        reason=reason if value is None else "",
    )


def _calibrated(metric: str, suite: SuiteRows, truth: Truth | None) -> tuple[float | None, str]:
    if truth is None:
        return None, "the answers were not rehearsed, so nothing is known of them"
    count, whole = CALIBRATED[metric](calibrate(suite.rows, truth))
    return (count / whole, "") if whole else (None, "there was nothing to count")


def _holds(value: float, gate: GateSpec) -> bool:
    return value >= gate.threshold if gate.comparator is Comparator.AT_LEAST else value <= gate.threshold


def _why_unscored(found: Estimate) -> str:
    counts = ", ".join(f"{reason.value} {count}" for reason, count in found.unscored.items())
    return f"no row could be scored ({counts or 'no such questions'})"


def _refuse(path: str, found: str, allowed: list[str]) -> None:
    raise ConfigError(f"{path}: {found!r} is not known", path=path, remedy=f"use one of: {', '.join(allowed)}")
