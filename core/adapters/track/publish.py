"""The W&B Report of a run: what its views hold, as text and tables that need no panel and so no network to build."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.adapters.track.project import SUITE
from core.adapters.track.state import Published
from core.adapters.track.target import Target
from core.adapters.track.view import Scalar, Table, View
from core.errors import DependencyDown

SECTIONS = {
    "scoreboard": "Scoreboard",
    "validity": "Syntactic validity",
    "comparison": "Comparisons",
    "gates": "Gates",
}
"""Tables of the run as a whole that have a place of their own; other sheets follow as they are named."""
LEFT_OUT = frozenset({"binding_faults", "caveats"})
"""Told as lists."""
ROWS = 60
"""Of a table in a W&B Report; the table itself is in the run."""


def compose(views: Sequence[View], urls: Mapping[str, str], project: str, entity: str) -> Any:
    """The wandb_workspaces Report over `views`; nothing is sent. `urls` are addresses of W&B runs by id."""
    whole = views[-1]
    blocks = _workspaces()
    return blocks.Report(
        project=project,
        entity=entity,
        title=f"{whole.name}: {_standing(whole)}",
        description=f"{whole.config['experiment']}, fingerprint {whole.config['fingerprint'][:12]}, "
        f"seed {whole.config['seed']}",
        blocks=list(_blocks(blocks, views, urls)),
    )


def publish(views: Sequence[View], urls: Mapping[str, str], target: Target, known: Published | None) -> Published:
    """Save the W&B Report over `views`, over the one saved before when there is one. Raises DependencyDown."""
    entity = target.entity or _entity(urls)
    try:
        report = compose(views, urls, target.project, entity)
        if known is not None:
            report.id = known.id
        report.save()
        return Published(id=report.id, url=report.url)
    except Exception as error:  # whatever wandb raises is W&B not taking the report
        raise DependencyDown(
            f"W&B did not take the report: {type(error).__name__}: {error}",
            endpoint=target.base_url,
            remedy="the page and its tables are in the W&B run all the same; try again later",
        ) from error


def _workspaces() -> Any:
    """wandb_workspaces, whose own use of pydantic is not ours to be warned of."""
    from pydantic import PydanticDeprecatedSince20

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PydanticDeprecatedSince20)
        import wandb_workspaces.reports.v2 as found
    return found


def _blocks(blocks: Any, views: Sequence[View], urls: Mapping[str, str]) -> Iterator[Any]:
    *suites, whole = views
    yield blocks.CalloutBlock(_verdict(whole))
    yield blocks.TableOfContents()
    tables = {"validity": _validity(suites), **whole.tables}
    for name in (*SECTIONS, *sorted(tables.keys() - SECTIONS.keys() - LEFT_OUT)):
        if name in tables and tables[name].rows:
            yield blocks.H2(SECTIONS.get(name) or name.replace("-", " ").capitalize())
            yield blocks.MarkdownBlock(markdown(tables[name]))
    for suite in suites:
        yield from _suite(blocks, suite)
    for title, words in (("Why these numbers may not be cited", whole.summary["binding_faults"]),
                         ("What these numbers cannot show", whole.summary.get("caveats", ()))):  # fmt: skip
        if words:
            yield blocks.H2(title)
            yield blocks.UnorderedList(items=list(words))
    yield blocks.H2("Runs")
    yield blocks.MarkdownBlock("\n".join(f"- [{view.name}]({urls[view.id]})" if urls.get(view.id) else f"- {view.name}"
                                         for view in views))  # fmt: skip


def _suite(blocks: Any, suite: View) -> Iterator[Any]:
    for name, title in (("confusion", "what the parser rejected"), ("constructs", "failures by construct")):
        if name in suite.tables:
            yield blocks.H2(f"{suite.name}: {title}")
            yield blocks.MarkdownBlock(markdown(suite.tables[name]))


def _validity(suites: Sequence[View]) -> Table:
    keys = ("final", "low", "high")
    rows = tuple(
        (view.name, *(view.summary.get(f"suite/syntactic_validity/{key}") for key in keys),
         view.summary.get("suite/invalid"), view.summary.get("suite/code_bearing"))
        for view in suites if view.job_type == SUITE and "suite/syntactic_validity/final" in view.summary
    )  # fmt: skip
    return Table(("suite", "valid share", "low", "high", "rejected answers", "answers with code"), rows)


def _standing(whole: View) -> str:
    state = "BINDING" if whole.summary["binding"] else "NON-BINDING"
    return f"{state}, PARTIAL" if whole.summary.get("partial") else state


def _verdict(whole: View) -> str:
    if whole.summary["binding"]:
        return "BINDING: these numbers may be cited."
    count = len(whole.summary["binding_faults"])
    return f"{_standing(whole)}: these numbers may not be cited in a decision; {count} reasons are listed below."


def markdown(table: Table) -> str:
    """`table` as Markdown, cut at ROWS lines; a missing value is a dash, never zero."""
    lines = [_line(table.columns), "|" + "---|" * len(table.columns), *map(_line, table.rows[:ROWS])]
    left = len(table.rows) - ROWS
    return "\n".join([*lines, *([f"\n{left} more rows are in the table of the run."] if left > 0 else [])])


def _line(cells: Sequence[Scalar]) -> str:
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(value: Scalar) -> str:
    if value is None:
        return "–"
    text = _number(value) if isinstance(value, float) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")


def _number(value: float) -> str:
    return f"{value:.4f}" if value == 0 or abs(value) >= 0.001 else f"{value:.1e}"


def _entity(urls: Mapping[str, str]) -> str:
    """Whose project the runs are in, from the address of one: `<app>/<entity>/<project>/runs/<id>`."""
    return next((url.split("/")[-4] for url in urls.values() if url.count("/") >= 6), "")
