"""What to document next: the constructs that most failures can be laid to, where least is shown of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from core.model.evaluation import ConstructFailures, DocumentNext, Thin
from core.model.judged import JudgedRow
from core.model.syntax import Validity


def priorities(rows: Iterable[JudgedRow], constructs: Sequence[ConstructFailures]) -> tuple[DocumentNext, ...]:
    """The constructs of failing answers, most urgent first; those whose coverage was not counted are left out.

    score = failures laid to the construct / (1 + passages + examples that show it). A failing answer counts once: each
    construct that it should have been about gets an equal part. So a construct scores high when answers about it fail
    often and little shows how it is written; one more passage or example of it lowers its score at once.
    """
    laid = _laid(rows)
    found = [
        _next(line, laid[line.node_type], line.passages, line.examples)
        for line in constructs
        if line.passages is not None and line.examples is not None and laid[line.node_type] > 0
    ]
    return tuple(sorted(found, key=lambda line: (-line.score, line.node_type)))


def _laid(rows: Iterable[JudgedRow]) -> defaultdict[str, float]:
    """Construct -> failing answers laid to it."""
    parts: defaultdict[str, float] = defaultdict(float)
    for row in sorted(rows, key=lambda row: (row.run, row.id)):
        if row.syntax is Validity.INVALID:
            for construct in row.constructs:
                parts[construct] += 1 / len(row.constructs)
    return parts


def _next(line: ConstructFailures, failures: float, passages: int, examples: int) -> DocumentNext:
    return DocumentNext(
        node_type=line.node_type,
        score=failures / (1 + passages + examples),
        failures=failures,
        invalid=line.invalid,
        code_bearing=line.code_bearing,
        passages=passages,
        examples=examples,
        thin=Thin.DOCUMENTATION if passages <= examples else Thin.EXAMPLES,
    )
