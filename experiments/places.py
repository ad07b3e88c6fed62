"""Where runs, caches and configurations are, from the environment."""

from __future__ import annotations

import os
import re
from pathlib import Path

from core.adapters.languages import configs_root
from core.disk import location

__all__ = ["cache_root", "configs_root", "results_root"]


def results_root(given: Path | None = None) -> Path:
    """`given`, else $ASSAY_RESULTS, else `results` in the working directory.

    Either may be a place on an object store, as `s3://bucket/prefix`; see core.disk.location. Raises ConfigError.
    """
    if given is not None:
        # An option of type Path makes one slash of two.
        return location(re.sub(r"^([a-z][a-z0-9]+):/(?=[^/])", r"\1://", str(given)))
    return location(os.environ.get("ASSAY_RESULTS") or "results")


def cache_root() -> Path:
    """$ASSAY_CACHE, else `assay` in the user's cache folder. Everything in it can be rebuilt."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("ASSAY_CACHE") or Path(base) / "assay")
