"""The gate against known faults: caught, missed and falsely alarmed."""

from evaluation_rows import question, row

from core.measure.calibration import calibrate
from core.model.calibration import InjectedFault
from core.model.specs import Fault
from core.model.syntax import Category, Validity

Q = question(1)


def truth(**faults: Fault) -> dict[str, InjectedFault]:
    return {name: InjectedFault(message_id=name, fault=fault, detail="d", code="c") for name, fault in faults.items()}


def test_every_answer_is_counted_once_under_its_truth() -> None:
    rows = [
        row(Q, 1, message_id="a", syntax=Validity.INVALID, category=Category.FOREIGN_KEYWORD),
        row(Q, 2, message_id="b", syntax=Validity.INVALID, category=Category.UNKNOWN_TOKEN),
        row(Q, 3, message_id="c", syntax=Validity.VALID),
        row(Q, 4, message_id="d", syntax=None),
        row(Q, 5, message_id="clean", syntax=Validity.INVALID),
        row(Q, 6, message_id="good", syntax=Validity.VALID),
        row(Q, 7, message_id="prose", syntax=None),
    ]
    known = truth(
        a=Fault.FOREIGN_LANGUAGE,
        b=Fault.HALLUCINATED_COMMAND,
        c=Fault.HALLUCINATED_COMMAND,
        d=Fault.FOREIGN_STRUCTURE,
        elsewhere=Fault.FOREIGN_STRUCTURE,
    )
    found = calibrate(reversed(rows), known)
    assert (found.injected, found.caught, found.missed) == (4, 2, 2)
    assert (found.clean, found.false_alarms) == (2, 1)
    assert found.missed_rows == ("main.run-03/GD-C-001", "main.run-04/GD-C-001")
    assert found.false_alarm_rows == ("main.run-05/GD-C-001",)
    lines = {line.fault: (line.injected, line.caught, line.missed) for line in found.by_fault}
    assert lines == {
        Fault.FOREIGN_LANGUAGE: (1, 1, 0),
        Fault.HALLUCINATED_COMMAND: (2, 1, 1),
        Fault.FOREIGN_STRUCTURE: (1, 0, 1),
    }
    assert found.by_fault[1].categories == {Category.UNKNOWN_TOKEN: 1}
    assert sum(line.injected for line in found.by_fault) == found.injected


def test_nothing_injected_is_a_calibration_of_false_alarms_alone() -> None:
    found = calibrate([row(Q, 1), row(Q, 2)], {})
    assert (found.injected, found.caught, found.missed, found.clean, found.false_alarms) == (0, 0, 0, 2, 0)
