"""What differs between two runs: in what they were told, in what they stood on, and in how each question came out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.model.evaluation import EvaluationReport, QuestionSummary, SuiteSummary
from core.model.record import RunRecord

ABSENT = "–"
UNTOLD = ("fingerprint", "provenance.argv[")
"""Beginnings of paths in a record that differ between any two runs and tell nothing."""
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
SHOWN_OF_DIGEST = 12


@dataclass(frozen=True)
class Line:
    """One setting that the two runs do not share."""

    path: str
    a: str
    b: str


@dataclass(frozen=True)
class QuestionLine:
    """One question in both runs."""

    id: str
    text: str
    a: float | None
    b: float | None
    a_invalid: str
    """`2 of 5` code-bearing answers were rejected."""
    b_invalid: str
    rejected_more: int
    """1 where B has the greater share of rejected answers, -1 where A has it, else 0."""

    @property
    def difference(self) -> float | None:
        """B minus A; None where one side has no score."""
        return None if self.a is None or self.b is None else self.b - self.a


@dataclass(frozen=True)
class SuitePair:
    """A suite of the one run beside a suite of the other."""

    a: SuiteSummary
    b: SuiteSummary
    questions: tuple[QuestionLine, ...]
    """Greatest difference first."""


def lines(a: Any, b: Any) -> tuple[Line, ...]:
    """Leaves in which two plain values differ, by dotted path; items of lists go by their name if they have one."""
    left, right = dict(_leaves(a)), dict(_leaves(b))
    paths = sorted(left.keys() | right.keys())
    return tuple(
        Line(path, left.get(path, ABSENT), right.get(path, ABSENT))
        for path in paths
        if left.get(path, ABSENT) != right.get(path, ABSENT)
    )


def record_lines(a: RunRecord | None, b: RunRecord | None) -> tuple[Line, ...]:
    """What two runs stood on, where it differs."""
    told = (record.model_dump(mode="json") if record else {} for record in (a, b))
    return tuple(line for line in lines(*told) if not line.path.startswith(UNTOLD))


def suite_pairs(a: EvaluationReport, b: EvaluationReport) -> tuple[SuitePair, ...]:
    """Suites of the same name; where each run has just one, these two whatever they are called."""
    theirs = {suite.suite: suite for suite in b.suites}
    pairs = [(suite, theirs[suite.suite]) for suite in a.suites if suite.suite in theirs]
    if not pairs and len(a.suites) == len(b.suites) == 1:
        pairs = [(a.suites[0], b.suites[0])]
    return tuple(SuitePair(left, right, tuple(_questions(left, right))) for left, right in pairs)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for place, item in enumerate(value):
            yield from _leaves(item, f"{path}[{_label(item, place)}]")
    else:
        yield path, _shown(value)


def _shown(value: Any) -> str:
    """A leaf as text; of a digest, as much as tells two apart."""
    text = ABSENT if value is None else str(value)
    return text[:SHOWN_OF_DIGEST] if _DIGEST.fullmatch(text) else text


def _label(item: Any, place: int) -> str:
    names = [str(item[key]) for key in ("name", "suite") if isinstance(item, Mapping) and item.get(key)]
    return names[0] if names else str(place)


def _questions(a: SuiteSummary, b: SuiteSummary) -> list[QuestionLine]:
    theirs = {question.id: question for question in b.questions}
    found = [_question(question, theirs[question.id]) for question in a.questions if question.id in theirs]
    return sorted(found, key=lambda line: (-abs(line.difference or 0.0), line.id))


def _question(a: QuestionSummary, b: QuestionSummary) -> QuestionLine:
    return QuestionLine(
        id=a.id,
        text=a.question,
        a=a.global_score,
        b=b.global_score,
        a_invalid=_rejected(a),
        b_invalid=_rejected(b),
        rejected_more=_sign(b.invalid * a.code_bearing - a.invalid * b.code_bearing),
    )


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)


def _rejected(question: QuestionSummary) -> str:
    return f"{question.invalid} of {question.code_bearing}" if question.code_bearing else ABSENT
