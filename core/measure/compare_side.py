"""One suite of one run as it enters a comparison: its scores by question, and the settings it was run with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from core.measure.series import READINGS
from core.model.comparison import Side
from core.model.judged import JudgedRow, UnscoredReason
from core.model.record import RunRecord, SuiteRecord
from core.model.sample import QueryType

OWN_NAME = "name"
"""The setting that always differs and never matters."""


@dataclass(frozen=True)
class Reading:
    """One question under one metric: its scores by run, with None where there is none, and why."""

    scores: tuple[float | None, ...]
    reasons: tuple[UnscoredReason, ...]

    @property
    def is_scored(self) -> bool:
        """Whether any run gave a score."""
        return any(score is not None for score in self.scores)

    @property
    def reason(self) -> UnscoredReason:
        """Why there is no score: the reason of most runs, the first in the alphabet among equals."""
        counts = Counter(self.reasons)
        return min(counts, key=lambda reason: (-counts[reason], reason.value))


@dataclass(frozen=True)
class Contender:
    """A suite with everything that a comparison asks of it."""

    side: Side
    record: RunRecord
    rows: tuple[JudgedRow, ...]
    """Of this suite."""
    asked: frozenset[str]
    """Ids of the questions that the run was about, those without a row included."""
    dataset: str
    """sha256 of the golden set."""
    settings: Mapping[str, str]
    """See `settings_of`."""
    ruler: str
    """The embedding model that answer relevancy was measured with: name and digest of its specification."""

    @cached_property
    def stood_on(self) -> SuiteRecord:
        """The suite's part of the record."""
        return next(suite for suite in self.record.suites if suite.suite == self.side.suite)

    def of_type(self, query_type: QueryType | None) -> Contender:
        """The same for the questions of one type alone; None is all. A question without a row has no known type."""
        if query_type is None:
            return self
        rows = tuple(row for row in self.rows if row.type is query_type)
        asked = frozenset(row.id for row in rows)
        return replace(self, rows=rows, asked=asked)

    def readings(self, metric: str, runs: int | None = None) -> dict[str, Reading]:
        """Every question asked, by id, under a metric of core.measure.series.READINGS, over the first `runs` runs."""
        read, found = READINGS[metric], {(row.id, row.run): row for row in self.rows}
        counted = range(1, (runs or self.record.runs) + 1)
        readings = {}
        for question in sorted(self.asked):
            rows = [found.get((question, run)) for run in counted]
            pairs = [read(row) if row else (None, UnscoredReason.MISSING) for row in rows]
            reasons = tuple(reason for score, reason in pairs if score is None and reason is not None)
            readings[question] = Reading(tuple(score for score, _ in pairs), reasons)
        return readings


def settings_of(suite: Mapping[str, Any], record: RunRecord, stood_on: SuiteRecord) -> dict[str, str]:
    """What a suite was run with, dotted setting -> value: its configuration, and what the record adds to it.

    `suite` is the configuration of the suite as plain JSON types. The content of corpus and few-shot pool is told by
    its digest, the code by its commit.
    """
    code = record.provenance
    return {
        **{path: value for path, value in leaves(suite).items() if path != OWN_NAME},
        "index.corpus_sha256": stood_on.index.corpus_sha256[:12],
        "few_shot.pool_sha256": stood_on.few_shot.pool_sha256[:12],
        **{f"{model.role}.sdk": model.sdk for model in stood_on.models},
        "code": f"{code.commit[:12] or 'unknown'}{' with changes' if code.dirty else ''}",
        "runs": str(record.runs),
        "seed": str(record.seed),
    }


def leaves(value: Mapping[str, Any]) -> dict[str, str]:
    """Nested plain JSON as dotted path -> text."""
    return {path: str(leaf) for path, leaf in _leaves(value)}


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield path, ", ".join(map(str, value))
    else:
        yield path, value
