"""Contenders with planted scores, for tests of comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from evaluation_rows import question, record, row, scored, unscored

from core.measure.compare_side import Contender, settings_of
from core.model.comparison import Side
from core.model.judged import JudgedRow, Metric, Score
from core.model.record import RunRecord, SuiteRecord
from core.model.specs import Provider
from core.model.syntax import Validity

Planted = Sequence[Sequence[float | None]]
"""Scores by question and run; None is unscored."""


def planted_rows(
    suite: str, scores: Planted, valid: Sequence[Sequence[bool | None]] | None = None
) -> tuple[JudgedRow, ...]:
    """A row for each score, the same on every metric; `valid` by question and run, None for an answer without code."""
    rows = []
    for number, by_run in enumerate(scores, start=1):
        for run, value in enumerate(by_run, start=1):
            every = {metric: _score(value) for metric in Metric}
            code = True if valid is None else valid[number - 1][run - 1]
            syntax = {True: Validity.VALID, False: Validity.INVALID, None: None}[code]
            rows.append(row(question(number), run, suite=suite, syntax=syntax, scores=every))
    return tuple(rows)


def contender(label: str, rows: Sequence[JudgedRow], **changed: Any) -> Contender:
    """A binding suite called `label` in a run of its own, with `changed` for its part of the record."""
    runs = max((row.run for row in rows), default=1)
    whole: RunRecord = record(label, runs=runs, provider=Provider.ANTHROPIC)
    stood_on: SuiteRecord = whole.suites[0].model_copy(update=changed)
    whole = whole.model_copy(update={"suites": (stood_on,)})
    side = Side(label=label, run=f"msvl/{label}", fingerprint="f" * 64, suite=label, rows=len(rows))
    settings = settings_of({"name": label, "retrieval": {"mode": stood_on.retrieval_mode, "k": 8}}, whole, stood_on)
    index = stood_on.index
    return Contender(
        side=side,
        record=whole,
        rows=tuple(rows),
        asked=frozenset(row.id for row in rows),
        dataset="d" * 64,
        settings=settings,
        ruler=f"{index.embedder_name} {index.embedder}",
    )


def spread(questions: int, runs: int, *, seed: int, lift: float = 0.0, noise: float = 0.05) -> list[list[float | None]]:
    """Scores of questions of differing difficulty (the same for every seed), `lift` higher, with noise of their own."""
    hard = np.random.default_rng(1).uniform(0.2, 0.7, size=(questions, 1))
    scores = hard + lift + np.random.default_rng(seed).normal(0.0, noise, size=(questions, runs))
    return [[float(score) for score in line] for line in scores]


def _score(value: float | None) -> Score:
    return unscored() if value is None else scored(value)
