"""Which constructs go wrong, and how: failure category x question x construct, beside what could have taught them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from core.measure.concentration import concentrations
from core.measure.priorities import priorities
from core.model.evaluation import Confusion, ConfusionCell, ConstructCoverage, ConstructFailures
from core.model.judged import JudgedRow
from core.model.sample import GoldenQuestion
from core.model.syntax import Category, Validity


def confusion(
    rows: Iterable[JudgedRow],
    questions: Sequence[GoldenQuestion],
    coverage: Iterable[ConstructCoverage],
    *,
    seed: int = 0,
) -> Confusion:
    """The confusion of `rows`, with a line for every construct that one of `questions` is about."""
    rows = tuple(rows)
    covered = {line.node_type: line for line in coverage}
    constructs = sorted({construct for question in questions for construct in question.constructs})
    lines = [_line(construct, rows, questions, covered.get(construct)) for construct in constructs]
    ordered = tuple(sorted(lines, key=lambda line: (-line.invalid, line.node_type)))
    return Confusion(
        cells=_cells(row for row in rows if row.category is not None),
        constructs=ordered,
        document_next=priorities(rows, ordered),
        concentrations=concentrations(rows, questions, seed=seed),
    )


def _cells(invalid: Iterable[JudgedRow]) -> tuple[ConfusionCell, ...]:
    groups: dict[tuple[Category, str], list[JudgedRow]] = {}
    for row in invalid:
        assert row.category is not None, "only INVALID rows are counted here"
        groups.setdefault((row.category, row.id), []).append(row)
    return tuple(
        ConfusionCell(
            category=category,
            question=question,
            constructs=rows[0].constructs,
            count=len(rows),
            runs=tuple(sorted(row.run for row in rows)),
        )
        for (category, question), rows in sorted(groups.items())
    )


def _line(
    construct: str,
    rows: Sequence[JudgedRow],
    questions: Sequence[GoldenQuestion],
    coverage: ConstructCoverage | None,
) -> ConstructFailures:
    about = [row for row in rows if construct in row.constructs]
    invalid = [row for row in about if row.syntax is Validity.INVALID]
    categories = Counter(row.category for row in invalid if row.category is not None)
    return ConstructFailures(
        node_type=construct,
        questions=sum(construct in question.constructs for question in questions),
        code_bearing=sum(row.syntax is not None for row in about),
        invalid=len(invalid),
        by_category=dict(sorted(categories.items())),
        passages=coverage.passages if coverage else None,
        examples=coverage.examples if coverage else None,
    )
