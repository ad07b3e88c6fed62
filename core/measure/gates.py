"""Gates: bars that a finished run must meet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.errors import ConfigError
from core.measure.series import READINGS, SuiteRows, estimate_of
from core.model.evaluation import Estimate, GateResult
from core.model.sample import QueryType
from core.model.specs import Comparator, GateSpec


def require_known(gates: Iterable[GateSpec]) -> None:
    """Raise ConfigError for the first gate on a metric or query type that no evaluation has."""
    for position, gate in enumerate(gates):
        if gate.metric not in READINGS:
            _refuse(f"gates.{position}.metric", gate.metric, sorted(READINGS))
        if gate.query_type is not None and gate.query_type not in set(QueryType):
            _refuse(f"gates.{position}.query_type", gate.query_type, [member.value for member in QueryType])


def gate_results(gates: Sequence[GateSpec], suite: SuiteRows) -> tuple[GateResult, ...]:
    """Every gate on the mean of one suite. A mean that no row could be scored for fails: no evidence is not a pass."""
    return tuple(_result(gate, suite) for gate in gates)


def _result(gate: GateSpec, suite: SuiteRows) -> GateResult:
    slice_ = suite.of_type(QueryType(gate.query_type) if gate.query_type else None)
    found = estimate_of(slice_, gate.metric)
    return GateResult(
        suite=suite.suite,
        metric=gate.metric,
        query_type=gate.query_type,
        comparator=gate.comparator,
        threshold=gate.threshold,
        value=found.mean,
        passed=found.mean is not None and _holds(found.mean, gate),
        reason=_why_unscored(found) if found.mean is None else "",
    )


def _holds(value: float, gate: GateSpec) -> bool:
    return value >= gate.threshold if gate.comparator is Comparator.AT_LEAST else value <= gate.threshold


def _why_unscored(found: Estimate) -> str:
    counts = ", ".join(f"{reason.value} {count}" for reason, count in found.unscored.items())
    return f"no row could be scored ({counts or 'no such questions'})"


def _refuse(path: str, found: str, allowed: list[str]) -> None:
    raise ConfigError(f"{path}: {found!r} is not known", path=path, remedy=f"use one of: {', '.join(allowed)}")
