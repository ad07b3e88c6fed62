"""Rows as a session reads them back: those that its run wrote, and the words for any other."""

import re
from pathlib import Path
from typing import Any

import pytest
from audited_rows import asked, audited
from evaluation_rows import question, row

from core.errors import ExitCode, StoreError
from core.lab.experiment import Cell, Session
from core.model.leakage import Arm
from experiments.leakage import LeakageConfig, LeakageSession
from experiments.msvl import MsvlConfig, MsvlSession, cell_id

JUDGED, AUDITED = row(question(1), run=2), audited(asked(1), Arm.BOTH, run=2)


def evaluation() -> tuple[Session[Any], Any, str]:
    config = MsvlConfig(experiment="msvl", name="t", golden="g", suites=())
    return MsvlSession(config, (question(1),), {}), JUDGED, cell_id(JUDGED.suite, 2)


def audit() -> tuple[Session[Any], Any, str]:
    config = LeakageConfig(experiment="leakage", name="t", golden="g", suites=())
    session = LeakageSession(config, Path(), (asked(1),), {})
    return session, AUDITED, f"{AUDITED.suite}.{Arm.BOTH.value}.run-02"


@pytest.mark.parametrize("of", [evaluation, audit])
class TestReading:
    def read(self, of: Any, **changed: Any) -> Any:
        session, stored, own = of()
        cell = Cell(id=own, suite=stored.suite, run=2, expected=1)
        return session.read(cell, [stored.model_copy(update=changed).model_dump_json()])

    def test_gives_what_was_stored(self, of: Any) -> None:
        assert self.read(of) == [of()[1]]

    @pytest.mark.parametrize("changed", [{"run": 3}, {"suite": "other"}, {"id": "nobody asked"}])
    def test_refuses_a_row_of_elsewhere(self, of: Any, changed: dict[str, Any]) -> None:
        with pytest.raises(StoreError, match="is not as this run wrote it: it is that of") as refused:
            self.read(of, **changed)
        assert refused.value.exit_code == ExitCode.INCOMPLETE
        assert "--fresh" in refused.value.remedy

    def test_refuses_text_that_is_no_row_and_names_the_field(self, of: Any) -> None:
        session, stored, own = of()
        cell = Cell(id=own, suite=stored.suite, run=2, expected=1)
        text = stored.model_dump_json().replace('"run":2', '"run":"two"', 1)
        with pytest.raises(StoreError, match=re.escape(f"a row of cell {own} is not as this run wrote it: run: ")):
            session.read(cell, [text])
