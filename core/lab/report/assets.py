"""Styles and scripts as text that stands inside a page, and the policy that lets a browser run that text alone."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import BaseLoader, Environment, PackageLoader, StrictUndefined

WEB = files("core.lab.report") / "web"

REPORT_STYLES = ("theme", "layout", "tables", "plots", "explorer", "answer", "print")
REPORT_SCRIPTS = (
    "dom",
    "tables",
    "data",
    "state",
    "filter",
    "list",
    "program",
    "answer",
    "explorer",
    "keyboard",
    "main",
)
"""In this order: a script uses only what stands before it."""


def templates() -> PackageLoader:
    """The templates of reports, whose macros other pages may use."""
    return PackageLoader("core.lab.report", "web/templates")


def environment(loader: BaseLoader) -> Environment:
    """Templates that escape everything and miss nothing silently."""
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


@cache
def styles(names: Sequence[str]) -> str:
    """The named style sheets, one after the other."""
    return "".join((WEB / "styles" / f"{name}.css").read_text("utf-8") for name in names)


@cache
def scripts(names: Sequence[str]) -> str:
    """The named scripts as one module: they share a scope, and nothing else reaches into it."""
    return "".join((WEB / "scripts" / f"{name}.js").read_text("utf-8") for name in names)


@dataclass(frozen=True)
class Inlined:
    """What a page brings along."""

    style: str
    script: str
    form_action: str = "'none'"
    """Where forms may go."""
    connect: str = "'none'"
    """What the script may ask."""

    @property
    def policy(self) -> str:
        """A Content-Security-Policy under which exactly this style and this script work, and nothing is fetched.

        Style attributes are let through because plots place their marks with them; they cannot run anything.
        """
        return "; ".join(
            (
                "default-src 'none'",
                f"script-src '{_hash(self.script)}'",
                f"style-src-elem '{_hash(self.style)}'",
                "style-src-attr 'unsafe-inline'",
                "base-uri 'none'",
                f"form-action {self.form_action}",
                f"connect-src {self.connect}",
                "require-trusted-types-for 'script'",
            )
        )


def report_assets() -> Inlined:
    """What the HTML report brings along."""
    return Inlined(styles(REPORT_STYLES), scripts(REPORT_SCRIPTS))


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
