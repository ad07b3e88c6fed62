"""Plots as inline SVG, byte for byte the same for the same numbers."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from core.lab.report.words import METRIC_NAMES
from core.model.evaluation import Estimate, Metric, SuiteSummary
from core.model.syntax import Category

INK, MUTED, GRID = "#1c2430", "#69768a", "#e3e8ef"
FINAL, RAW, BAD = "#0b6e99", "#b8c4d2", "#c2412d"
SHADES = LinearSegmentedColormap.from_list("rejected", ["#f6f8fb", "#f0b6a8", BAD])
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "assay",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["system-ui", "DejaVu Sans"],
    "font.size": 10,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": INK,
    "xtick.labelcolor": MUTED,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def metrics_plot(suites: Sequence[SuiteSummary]) -> str:
    """Every metric of every suite: before the gate (hollow), after it (filled) with its 95 % interval."""
    labels, rows = [], []
    # By metric, so that what is to be compared stands together.
    for metric in Metric:
        for suite in suites:
            name = METRIC_NAMES[metric]
            labels.append(f"{name} · {suite.suite}" if len(suites) > 1 else name)
            rows.append((suite.metric(metric).raw, suite.metric(metric).final))
    figure, axes = _figure(width=10.4, height=0.9 + 0.42 * len(rows))
    for y, (raw, final) in enumerate(rows):
        _before_and_after(axes, y, raw, final)
    if len(suites) > 1:
        axes.hlines([len(suites) * n - 0.5 for n in range(1, len(Metric))], 0, 1, color=GRID, linewidth=1)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(min(0.0, *(_lowest(raw, final) for raw, final in rows)), 1)
    axes.grid(visible=False, axis="y")
    return _svg(figure, "Each metric before and after the gate, with its interval")


def _before_and_after(axes: Axes, y: int, raw: Estimate, final: Estimate) -> None:
    if raw.mean is not None and final.mean is not None:
        axes.plot([raw.mean, final.mean], [y, y], color=RAW, linewidth=2, zorder=1)
        axes.scatter(
            [raw.mean], [y], s=46, facecolors="white", edgecolors=MUTED, linewidths=1.4, zorder=2, clip_on=False
        )
    if final.interval is not None:
        axes.plot([final.interval.low, final.interval.high], [y, y], color=FINAL, linewidth=5, alpha=0.28, zorder=2)
    if final.mean is not None:
        axes.scatter([final.mean], [y], s=52, color=FINAL, zorder=3, clip_on=False)


def _lowest(raw: Estimate, final: Estimate) -> float:
    """The lesser of the two means, or 0: answer relevancy is a cosine and may be negative."""
    return min(value for value in (raw.mean, final.mean, 0.0) if value is not None)


def runs_plot(suites: Sequence[SuiteSummary]) -> str:
    """The global score of each run, one row per suite; the bar is the score over all of them."""
    figure, axes = _figure(width=10.4, height=0.9 + 0.5 * len(suites))
    for y, suite in enumerate(suites):
        estimate = suite.metric(Metric.GLOBAL).final
        values = [value for value in estimate.by_run if value is not None]
        axes.scatter(values, [y] * len(values), s=44, color=FINAL, alpha=0.65, linewidths=0)
        if estimate.mean is not None:
            axes.plot([estimate.mean, estimate.mean], [y - 0.22, y + 0.22], color=INK, linewidth=2)
    axes.set_yticks(range(len(suites)), [suite.suite for suite in suites])
    axes.set_ylim(len(suites) - 0.5, -0.5)
    axes.margins(x=0.25)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("global score of a run, after the gate")
    return _svg(figure, "Global score of every run")


def questions_plot(suite: SuiteSummary) -> str:
    """Every question, worst first: where the gate took its score from (hollow) to (filled)."""
    scored = sorted(
        (q.global_score, q.id, q.global_raw, q.invalid)
        for q in suite.questions
        if q.global_score is not None and q.global_raw is not None
    )
    figure, axes = _figure(width=10.4, height=3.3)
    x = range(len(scored))
    final, ids, raw, invalid = ([question[field] for question in scored] for field in range(4))
    axes.vlines(x, final, raw, color=BAD, alpha=0.45, linewidth=2)
    axes.scatter(x, raw, s=22, facecolors="white", edgecolors=MUTED, linewidths=1.1)
    axes.scatter(x, final, s=24, color=[BAD if count else FINAL for count in invalid], zorder=3)
    axes.set_xticks(x, [str(name).removeprefix("GD-") for name in ids], rotation=90, fontsize=8)
    axes.set_ylim(0, 1)
    axes.set_xlim(-0.8, max(len(scored) - 0.2, 1))
    axes.set_ylabel("global score")
    axes.grid(visible=False, axis="x")
    return _svg(figure, "Global score of every question, red where an answer was rejected")


def confusion_plot(suite: SuiteSummary) -> str:
    """Failure category by construct; how often the parser said so. Empty text when nothing was rejected."""
    constructs = [c for c in suite.confusion.constructs if c.invalid][:24]
    if not constructs:
        return ""
    categories = list(Category)
    counts = [[c.by_category.get(category, 0) for c in constructs] for category in categories]
    figure, axes = _figure(width=10.4, height=3.0)
    axes.imshow(counts, cmap=SHADES, aspect="auto", vmin=0)
    peak = max(max(row) for row in counts)
    for y, row in enumerate(counts):
        for x, count in enumerate(row):
            if count:
                ink = "white" if count > 0.55 * peak else INK
                axes.text(x, y, str(count), ha="center", va="center", fontsize=9, color=ink)
    axes.set_yticks(range(len(categories)), [category.value for category in categories])
    axes.set_xticks(range(len(constructs)), [c.node_type for c in constructs], rotation=45, ha="right", fontsize=9)
    axes.grid(visible=False)
    return _svg(figure, "Rejected answers by failure category and construct")


def _figure(*, width: float, height: float) -> tuple[Figure, Axes]:
    with rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.add_subplot()


def _svg(figure: Figure, title: str) -> str:
    text = io.StringIO()
    with rc_context(STYLE):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Title": title})
    svg = text.getvalue()
    return svg[svg.index("<svg") :].replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)
