"""Pages from data: templates, what they share with reports, and the policy that goes with each."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader
from starlette.responses import HTMLResponse

from core.lab.report import comparison, words
from core.lab.report.assets import REPORT_STYLES, Inlined, environment, scripts, styles, templates
from core.model.evaluation import Metric

WEB = files("core.serving.ui") / "web"
SHARED_STYLES = tuple(name for name in REPORT_STYLES if name not in {"explorer", "answer"})


@cache
def brought() -> Inlined:
    """Style and script of every page here; it may ask this server and send its forms to it."""
    style = styles(SHARED_STYLES) + (WEB / "styles" / "ui.css").read_text("utf-8")
    script = scripts(("dom", "tables")) + (WEB / "scripts" / "ui.js").read_text("utf-8")
    return Inlined(style, script, form_action="'self'", connect="'self'")


@cache
def loaded() -> Environment:
    """The templates, with the report's own to draw from."""
    made = environment(ChoiceLoader([PackageLoader("core.serving.ui", "web/templates"), templates()]))
    made.globals.update(words=words, comparing=comparison, Metric=Metric)
    return made


def html(template: str, *, status: int = 200, **told: Any) -> HTMLResponse:
    """`template` as a response."""
    assets = brought()
    text = loaded().get_template(template).render(style=assets.style, script=assets.script, **told)
    return HTMLResponse(text, status_code=status, headers=protected(assets.policy))


def protected(policy: str) -> dict[str, str]:
    """Headers under which a page runs its own script, is framed by nobody and tells nobody where it was."""
    return {
        "Content-Security-Policy": f"{policy}; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
