"""A run beside what it repeats: the campaign that was published, and the run that it is a rerun of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import ConfigError
from core.measure.published import against_published
from core.model.evaluation import EvaluationReport
from core.model.record import RunRecord

if TYPE_CHECKING:
    from experiments.msvl import MsvlConfig


def with_history(report: EvaluationReport, config: MsvlConfig, record: RunRecord) -> EvaluationReport:
    """`report` with the published campaign beside it and what the run repeats, where there is either."""
    published = None if config.published is None else against_published(config.published, report, record)
    return report.model_copy(update={"published": published, "rerun_of": record.rerun_of})


def require_published_suites(config: MsvlConfig) -> None:
    """Raise ConfigError for published suites none of which the run has: a campaign repeats at least one."""
    if config.published is None:
        return
    names = [suite.name for suite in config.suites]
    if not {suite.suite for suite in config.published.suites}.intersection(names):
        raise ConfigError(
            f"published.suites: none of them is a suite of this run ({', '.join(names)})",
            path="published.suites",
            remedy="name the suites alike, or remove `published:`",
        )
