"""The gate measured: faults that a rehearsal is known to have put in, against what the parser rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from core.model.calibration import InjectedFault
from core.model.evaluation import Calibration, CalibrationLine
from core.model.judged import JudgedRow
from core.model.specs import Fault
from core.model.syntax import Validity


def calibrate(rows: Iterable[JudgedRow], truth: Mapping[str, InjectedFault]) -> Calibration:
    """Injected, caught, missed and false alarms. `truth` is by message id of the generation.

    A spoiled answer is caught when it is INVALID, and missed otherwise, also when its code escaped extraction. A false
    alarm is an INVALID answer that nobody spoiled.
    """
    rows = sorted(rows, key=lambda row: (row.suite, row.run, row.id))
    spoiled = [row for row in rows if row.message_id in truth]
    clean = [row for row in rows if row.message_id not in truth and row.syntax is not None]
    caught, missed = _split(spoiled)
    alarms, _ = _split(clean)
    return Calibration(
        injected=len(spoiled),
        caught=len(caught),
        missed=len(missed),
        clean=len(clean),
        false_alarms=len(alarms),
        by_fault=tuple(_line(fault, spoiled, truth) for fault in Fault),
        missed_rows=tuple(map(_place, missed)),
        false_alarm_rows=tuple(map(_place, alarms)),
    )


def _split(rows: Sequence[JudgedRow]) -> tuple[list[JudgedRow], list[JudgedRow]]:
    """INVALID rows, and the others."""
    invalid = [row for row in rows if row.syntax is Validity.INVALID]
    return invalid, [row for row in rows if row.syntax is not Validity.INVALID]


def _line(fault: Fault, spoiled: Sequence[JudgedRow], truth: Mapping[str, InjectedFault]) -> CalibrationLine:
    own = [row for row in spoiled if truth[row.message_id].fault is fault]
    caught, missed = _split(own)
    categories = Counter(row.category for row in caught if row.category is not None)
    return CalibrationLine(
        fault=fault,
        injected=len(own),
        caught=len(caught),
        missed=len(missed),
        categories=dict(sorted(categories.items())),
    )


def _place(row: JudgedRow) -> str:
    return f"{row.suite}.run-{row.run:02}/{row.id}"
