"""Gates on differences: `faithfulness > -0.02` read from text, and held against a comparison."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from core.errors import ConfigError
from core.model.comparison import (
    COMPARED,
    Comparison,
    DifferenceGate,
    DifferenceGateResult,
    GateComparator,
    GateOn,
    MetricComparison,
    PairComparison,
)

_PARTS = re.compile(r"(\s*)([^\s<>=!]*)(\s*)([<>=!]*)(\s*)(.*?)\s*", re.DOTALL)
_REMEDY = 'write it as "faithfulness > -0.02": a metric, one of > >= < <=, and the bar for B minus A'


def parse_gate(text: str, metrics: Sequence[str] = COMPARED) -> DifferenceGate:
    """The gate that `text` means. Raises ConfigError with the column, from 1, of the first fault."""
    parts = _PARTS.fullmatch(text)
    assert parts is not None, "every text has these parts, if empty ones"
    metric, comparator, number = parts[2], parts[4], parts[6]
    if metric not in metrics:
        raise _fault(text, parts.start(2), f"{metric!r} is not among what is compared: {', '.join(metrics)}")
    if comparator not in set(GateComparator):
        raise _fault(text, parts.start(4), f"expected one of > >= < <=, found {comparator or number or 'the end'!r}")
    return DifferenceGate(
        metric=metric,
        comparator=GateComparator(comparator),
        threshold=_number(text, parts.start(6), number),
        text=text.strip(),
    )


def gate_results(gates: Iterable[DifferenceGate], comparison: Comparison, on: GateOn) -> Comparison:
    """`comparison` with every gate held against every pair."""
    results = tuple(_result(gate, pair, on) for gate in gates for pair in comparison.pairs)
    return comparison.model_copy(update={"gates": results})


def _result(gate: DifferenceGate, pair: PairComparison, on: GateOn) -> DifferenceGateResult:
    found = pair.metric(gate.metric)
    value = None if found is None else _value(gate, found, on)
    reason = "; ".join(pair.incomparable) if found is None else found.why_not
    return DifferenceGateResult(
        a=pair.a,
        b=pair.b,
        gate=gate,
        on=on,
        value=value,
        passed=value is not None and _holds(value, gate),
        reason="" if value is not None else reason or "there is no interval",
    )


def _value(gate: DifferenceGate, found: MetricComparison, on: GateOn) -> float | None:
    if found.why_not:
        return None
    if on is GateOn.ESTIMATE or found.interval is None:
        return found.difference if on is GateOn.ESTIMATE else None
    wants_more = gate.comparator in {GateComparator.MORE, GateComparator.AT_LEAST}
    return found.interval.low if wants_more else found.interval.high


def _holds(value: float, gate: DifferenceGate) -> bool:
    match gate.comparator:
        case GateComparator.MORE:
            return value > gate.threshold
        case GateComparator.AT_LEAST:
            return value >= gate.threshold
        case GateComparator.LESS:
            return value < gate.threshold
        case GateComparator.AT_MOST:
            return value <= gate.threshold


def _number(text: str, at: int, number: str) -> float:
    try:
        value = float(number)
    except ValueError:
        raise _fault(text, at, f"expected a number, found {number or 'the end'!r}") from None
    if not math.isfinite(value):
        raise _fault(text, at, f"{number} is no bar")
    return value


def _fault(text: str, at: int, what: str) -> ConfigError:
    return ConfigError(f"gate {text!r}, column {at + 1}: {what}", path="gate", remedy=_REMEDY)
