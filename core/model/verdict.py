"""One judgement of one sample by one check."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import model_validator

from core.model.frozen import Frozen
from core.model.syntax import Diagnostic


class Outcome(StrEnum):
    """PASS and FAIL are evidence; UNKNOWN is the absence of any."""

    PASS = "PASS"
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"


class Verdict(Frozen):
    """What a check concluded. `score` is None exactly when the outcome is UNKNOWN."""

    check: str
    version: int
    outcome: Outcome
    score: float | None
    reason: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()

    @model_validator(mode="after")
    def _score_matches_outcome(self) -> Self:
        if (self.score is None) != (self.outcome is Outcome.UNKNOWN):
            raise ValueError(f"{self.check}: score {self.score} does not fit outcome {self.outcome}")
        return self

    @property
    def name(self) -> str:
        """The check and its version, as written in records: `faithfulness@1`."""
        return f"{self.check}@{self.version}"
