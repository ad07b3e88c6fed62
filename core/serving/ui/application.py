"""The addresses of the pages. Only GET: nothing a browser sends can change a run."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.disk import read
from core.errors import AssayError
from core.lab.outcome import Status
from core.lab.report.marks import difference_scales, scale
from core.lab.store import RunFolder
from core.model.comparison import Comparison
from core.model.evaluation import Metric
from core.serving.ui.catalogue import PAGE, Run, config_of, families, folder_of, known, live_of, rows_of, run_of
from core.serving.ui.differences import lines, record_lines, suite_pairs
from core.serving.ui.insight import Insight
from core.serving.ui.pages import html, protected

HOSTS = ["127.0.0.1", "localhost"]
"""Names that this server answers to: a page elsewhere that resolves its own name to loopback is refused."""
STORED_PAGE = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
"""A stored report is a file that anybody may have edited: it runs apart from these pages, and can reach nothing."""


def application(insight: Insight, hosts: list[str] | None = None) -> Starlette:
    """The pages over `insight.results`, answering to `hosts` (default HOSTS) alone."""
    served = Pages(insight)
    return Starlette(
        routes=[
            Route("/", served.index),
            Route("/favicon.ico", _no_icon),
            Route("/compare", served.compare),
            Route("/runs/{experiment}/{name}", served.run),
            Route("/runs/{experiment}/{name}/report", served.report),
            Route("/runs/{experiment}/{name}/now", served.now),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=hosts or HOSTS, www_redirect=False)],
        exception_handlers={HTTPException: _refused, AssayError: _failed},
    )


class Pages:
    """One method per address. Starlette calls them in threads: they read files."""

    def __init__(self, insight: Insight) -> None:
        self._insight = insight

    def index(self, _: Request) -> Response:
        """All runs, by family."""
        found = known(self._insight)
        scores = (suite.metric(Metric.GLOBAL) for run in found if run.report for suite in run.report.suites)
        means = [value for summary in scores for value in (summary.raw.mean, summary.final.mean)]
        return html(
            "index.html.j2",
            results=str(self._insight.results),
            families=families(found),
            scale=scale(means, including=(0.0, 1.0)),
        )

    def run(self, request: Request) -> Response:
        """One run: where it is, what it stood on, what it found."""
        folder = self._folder(request)
        run = run_of(self._insight, folder)
        return html(
            "run.html.j2",
            run=run,
            config=lines(config_of(folder), {}),
            has_page=read(folder.path / PAGE) is not None,
            live=live_of(folder),
            rows=_rows(folder, run),
            others=[other.name for other in known(self._insight) if other.name != run.name],
        )

    def report(self, request: Request) -> Response:
        """The stored page of a run."""
        folder = self._folder(request)
        content = read(folder.path / PAGE)
        if content is None:
            raise HTTPException(404, f"{folder.name} has no report yet.")
        return Response(content, media_type="text/html", headers=protected(STORED_PAGE))

    def now(self, request: Request) -> Response:
        """Where a run is, for a page that is watching it."""
        folder = self._folder(request)
        run = run_of(self._insight, folder)
        told = [(line.path, line.a) for line in lines(live_of(folder), {})]
        rows = _rows(folder, run)
        return JSONResponse({"status": run.status, "rows": rows, "told": told}, headers={"Cache-Control": "no-store"})

    def compare(self, request: Request) -> Response:
        """Two runs beside each other: `?run=A&run=B`; with `order=age` the one begun first is A."""
        asked = request.query_params.getlist("run")
        if len(asked) != 2:
            raise HTTPException(400, f"Choose two runs to compare, not {len(asked)}.")
        folders = [self._named(name) for name in asked]
        if request.query_params.get("order") == "age":
            folders.sort(key=_begun)
        a, b = (run_of(self._insight, folder) for folder in folders)
        comparison, refusal = self._comparison(*folders)
        return html(
            "compare.html.j2",
            a=a,
            b=b,
            config=lines(*(config_of(folder) for folder in folders)),
            record=record_lines(a.record, b.record),
            suites=suite_pairs(a.report, b.report) if a.report and b.report else (),
            comparison=comparison,
            refusal=refusal,
            differences=difference_scales(comparison),
        )

    def _comparison(self, a: RunFolder, b: RunFolder) -> tuple[Comparison | None, str]:
        """The comparison, or why there is none."""
        try:
            return self._insight.compare(a, b), ""
        except AssayError as error:
            return None, f"{error}. {error.remedy}".removesuffix(". ")

    def _folder(self, request: Request) -> RunFolder:
        return self._named(f"{request.path_params['experiment']}/{request.path_params['name']}")

    def _named(self, name: str) -> RunFolder:
        folder = folder_of(self._insight, name)
        if folder is None:
            raise HTTPException(404, f"There is no run {name}.")
        return folder


def _rows(folder: RunFolder, run: Run) -> Mapping[str, int]:
    """Rows by suite, counted while a driver is at work; its end has counted them for good."""
    return rows_of(folder, run.record) if run.status is Status.RUNNING else {}


def _begun(folder: RunFolder) -> str:
    record = folder.record
    return record.created_at if record else ""


def _no_icon(_: Request) -> Response:
    """Browsers ask for one unasked."""
    return Response(status_code=204)


def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return html("refused.html.j2", status=error.status_code, what=error.detail, remedy="")


def _failed(_: Request, error: Exception) -> Response:
    assert isinstance(error, AssayError)
    return html("refused.html.j2", status=500, what=str(error), remedy=error.remedy)
