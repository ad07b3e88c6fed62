"""A leakage audit as one HTML page that needs nothing else: no network, no script, readable on a phone."""

from __future__ import annotations

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from core.lab.audit import wording
from core.lab.audit.plots import Plot
from core.lab.audit.sheets import sheets
from core.model.leakage import LeakageReport


def page(report: LeakageReport, plots: Sequence[Plot]) -> str:
    """The page as HTML text."""
    environment = Environment(
        loader=PackageLoader("core.lab.audit", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        report=report, plots=plots, sheets=sheets(report), wording=wording
    )
