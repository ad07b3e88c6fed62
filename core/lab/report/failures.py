"""What the confusion matrix says in words: whether failures are concentrated, and what to document next."""

from __future__ import annotations

from core.lab.report.words import plural
from core.model.evaluation import ConcentratedIn, Concentration, Confusion, DocumentNext

CLAIMED_BELOW = 0.05
SHOWN = 12
"""Constructs of the ranking in Markdown."""
_CLAIMS = {
    ConcentratedIn.CATEGORY: (
        "Failures are concentrated in some of the four categories",
        "Nothing shows that failures prefer any of the four categories",
    ),
    ConcentratedIn.CONSTRUCT: (
        "Answers about some constructs fail more often than about others",
        "Nothing shows that answers about some constructs fail more often than about others",
    ),
    ConcentratedIn.CATEGORY_BY_CONSTRUCT: (
        "Constructs fail in different ways",
        "Nothing shows that constructs fail in different ways",
    ),
}


def concentrated(found: Concentration) -> str:
    """One test as a sentence."""
    failed = f"{plural(found.invalid, 'rejected answer')} to {plural(found.failing_questions, 'question')}"
    if found.p is None:
        return f"By {found.where.value}: too little failed to say anything ({failed})."
    claim = _CLAIMS[found.where][0 if found.p <= CLAIMED_BELOW else 1]
    return f"{claim} (p {found.p:.4f}, {failed}, runs of a question counted as one)."


def urgent(confusion: Confusion) -> tuple[DocumentNext, ...]:
    """The head of the ranking."""
    return confusion.document_next[:SHOWN]
