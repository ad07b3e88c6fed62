"""`assay ui`: the results root in a browser."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from core.lab.store import RunFolder
from core.model.comparison import CompareSpec, Comparison
from core.model.frozen import seed_for
from experiments.places import results_root
from experiments.view import faults_of


def ui(
    port: Annotated[int, typer.Option(help="Loopback port; 0 takes a free one.", min=0, max=65535)] = 8642,
    results: Annotated[
        Path | None, typer.Option(help="Where runs are kept; else $ASSAY_RESULTS, else ./results.")
    ] = None,
) -> None:
    """Look at runs, campaigns and differences in a browser, until Ctrl-C.

    Serves this machine alone (127.0.0.1) and only reads: nothing a browser does can change a run.

    Example: assay ui --port 8642
    """
    from core.serving.ui import Insight, application
    from core.serving.ui.server import serve

    root = results_root(results)
    pages = application(Insight(root, faults_of, compared))
    with contextlib.suppress(KeyboardInterrupt):
        serve(pages, port=port, ready=lambda answering: _announce(root, answering))


def compared(a: RunFolder, b: RunFolder) -> Comparison:
    """What `assay compare A B` finds, whether or not it may be cited. Raises ConfigError for what cannot be paired."""
    from core.measure.compare import compare
    from experiments.contenders import SEED_PATH
    from experiments.selection import pairs_named

    pairs = pairs_named((str(a.path), str(b.path)), a.path.parent.parent, None)
    return compare(pairs, CompareSpec(), seed=seed_for(0, SEED_PATH))


def _announce(root: Path, port: int) -> None:
    Console(soft_wrap=True, highlight=False).print(
        f"runs of {root} on http://127.0.0.1:{port} (Ctrl-C stops)", markup=False
    )
