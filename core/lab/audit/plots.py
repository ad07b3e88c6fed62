"""The plots of a leakage audit as SVG, byte for byte the same for the same numbers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from core.model.interval import Interval
from core.model.leakage import Arm, Divergence, LeakageReport, ModelAudit, Source, TextPart

INK, MUTED, GRID, STRONG, FAINT = "#1c2430", "#69768a", "#e3e8ef", "#0b6e99", "#b8c4d2"
COLOURS = {
    Source.PASSAGES_AND_EXAMPLES: "#4c9a8f",
    Source.PASSAGES: "#0b6e99",
    Source.EXAMPLES: "#d9a441",
    Source.QUESTION: "#8d7fb8",
    Source.VOCABULARY: "#c2412d",
    Source.NONE: "#d4d9e0",
}
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
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@dataclass(frozen=True)
class Plot:
    """A drawing; `name` is that of its file."""

    name: str
    title: str
    svg: str


def plots(report: LeakageReport) -> tuple[Plot, ...]:
    """Survival, provenance and divergences of every model."""
    return tuple(plot for model in report.models for plot in _plots(model))


def _plots(model: ModelAudit) -> Iterator[Plot]:
    yield _plot(f"survival-{model.suite}", f"{model.suite}: correct syntax with less in the prompt", _survival(model))
    title = f"{model.suite}: where the words of answers stand besides"
    yield _plot(f"provenance-{model.suite}", title, _provenance(model))
    title = f"{model.suite}: Jensen-Shannon divergences, and what chance alone shows (grey)"
    yield _plot(f"divergences-{model.suite}", title, _divergences(model))


def _survival(model: ModelAudit) -> Figure:
    lines = [(Arm.BOTH, model.survival[0].full), *((found.arm, found.left) for found in model.survival)]
    figure, axes = _figure(height=0.7 + 0.5 * len(lines))
    for y, (_, share) in enumerate(lines):
        _dot(axes, y, share.mean, share.interval)
    axes.set_xlim(0, 1)
    axes.set_xlabel("answers with valid code, of those to questions that call for code")
    _label(axes, [arm.value for arm, _ in lines])
    return figure


def _provenance(model: ModelAudit) -> Figure:
    lines = [line for part in TextPart for line in model.provenance if line.part is part]
    figure, axes = _figure(height=1.3 + 0.42 * len(lines))
    left = [0.0] * len(lines)
    for source in Source:
        widths = [line.shares[source].mean or 0.0 for line in lines]
        axes.barh(range(len(lines)), widths, left=left, color=COLOURS[source], label=source.value, height=0.7)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.set_xlim(0, 1)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize=9)
    _label(axes, [f"{line.part.value} · {line.arm.value}" for line in lines])
    return figure


def _divergences(model: ModelAudit) -> Figure:
    figure, axes = _figure(height=0.7 + 0.55 * len(model.divergences))
    for y, found in enumerate(model.divergences):
        _floor(axes, y, found)
        _dot(axes, y, found.bits, found.interval)
    axes.set_xlim(0, 1)
    axes.set_xlabel("bits")
    _label(axes, [f"{found.a}\nagainst {found.b}" for found in model.divergences])
    return figure


def _floor(axes: Axes, y: int, found: Divergence) -> None:
    if found.floor_high is not None:
        axes.barh([y], [found.floor_high], color=FAINT, alpha=0.5, height=0.6)


def _dot(axes: Axes, y: int, mean: float | None, interval: Interval | None) -> None:
    if interval is not None:
        axes.plot([interval.low, interval.high], [y, y], color=STRONG, linewidth=5, alpha=0.28, clip_on=False)
    if mean is not None:
        axes.scatter([mean], [y], s=52, color=STRONG, zorder=3, clip_on=False)


def _label(axes: Axes, labels: list[str]) -> None:
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def _figure(*, height: float) -> tuple[Figure, Axes]:
    with rc_context(STYLE):
        figure = Figure(figsize=(10.4, height), layout="constrained")
        return figure, figure.add_subplot()


def _plot(name: str, title: str, figure: Figure) -> Plot:
    text = io.StringIO()
    with rc_context(STYLE):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Title": title})
    svg = text.getvalue()
    return Plot(name, title, svg[svg.index("<svg") :].replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1))
