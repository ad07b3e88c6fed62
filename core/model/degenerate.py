"""Why data leave a statistic undefined: named, so that neither NaN nor an exception has to say it."""

from __future__ import annotations

from enum import StrEnum


class Degenerate(StrEnum):
    """The reason why there is no number, or why the number is trivially what it is."""

    NOTHING_SCORED = "nothing scored"
    """No score at all, or for a pair no question that both sides scored."""
    ONE_QUESTION = "one question"
    """A single cluster says nothing of how questions vary."""
    ONE_RUN = "one run"
    """No question was answered twice, so that nothing can differ between runs."""
    ALL_EQUAL = "all equal"
    """The values do not vary, to the last digits that floating point can tell."""
    TOO_FEW_RUNS = "not assessable"
    """Fewer runs than a test of this kind needs to mean anything."""
    NOT_FINITE = "not finite"
    """An infinite score, or one so large that its square is."""
    ONE_SIDED_RESAMPLES = "all resamples on one side"
    """Every resample lies on one side of the estimate, so that its bias has no finite correction."""
    OUT_OF_REACH = "out of reach"
    """No sample of any practical size gets there."""
