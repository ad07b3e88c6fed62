"""How a leakage audit looks: JSON, Markdown, one page, its tables as CSV and its plots as SVG."""

from __future__ import annotations

from collections.abc import Mapping

from core.lab.audit.page import page
from core.lab.audit.plots import plots
from core.lab.audit.sheets import as_csv, sheets
from core.lab.audit.wording import markdown, summary
from core.model.leakage import LeakageReport

__all__ = ["files", "summary"]


def files(report: LeakageReport) -> Mapping[str, bytes]:
    """The report files by name. Equal reports give equal bytes."""
    drawn = plots(report)
    return {
        "report.json": (report.model_dump_json(indent=2) + "\n").encode(),
        "report.md": markdown(report).encode(),
        "report.html": page(report, drawn).encode(),
        **{f"{sheet.name}.csv": as_csv(sheet).encode() for sheet in sheets(report)},
        **{f"{plot.name}.svg": plot.svg.encode() for plot in drawn},
    }
