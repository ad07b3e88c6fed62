"""How an evaluation looks: the same numbers as JSON, as Markdown for a pull request, and as one page with plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.lab.report import words
from core.lab.report.markdown import markdown
from core.lab.report.page import page, template
from core.lab.report.words import gate_line, summary
from core.model.evaluation import EvaluationReport, JudgedRow

__all__ = ["files", "gate_line", "markdown", "page", "summary", "template", "words"]


def files(report: EvaluationReport, rows: Sequence[JudgedRow]) -> Mapping[str, bytes]:
    """The report files by name. Equal reports give equal bytes."""
    return {
        "report.json": (report.model_dump_json(indent=2) + "\n").encode(),
        "report.md": markdown(report).encode(),
        "report.html": page(report, rows).encode(),
    }
