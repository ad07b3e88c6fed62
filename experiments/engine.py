"""What runs the cells of a run, and what their dependencies are opened by: this process, or Ray."""

from __future__ import annotations

import importlib.util
from functools import partial
from typing import Any

from core.errors import ConfigError
from core.lab.inline import InlinePool
from core.lab.prepare import Prepared
from core.lab.runner import OpenWorkshop
from core.model.specs import PoolKind, RuntimeSpec
from core.ports import Pool


def engine(run: Prepared[Any], opening: OpenWorkshop | None = None) -> tuple[Pool, OpenWorkshop]:
    """The pool of `run`, and the workshop whose ports can be used where that pool runs cells.

    `opening` opens the adapters, in this process or in actors; None is the usual way. Nothing is started yet. Raises
    ConfigError when Ray is asked for and not installed.
    """
    from core.adapters.build import workshop as usual

    if pool_of(run) is PoolKind.INLINE:
        return InlinePool(), opening or usual
    return _on_ray(run, opening or usual)


def pool_of(run: Prepared[Any]) -> PoolKind:
    """As configured; else Ray for several suites, where it is installed, and this process for one."""
    configured: PoolKind | None = run.config.runtime.pool
    if configured is not None:
        return configured
    suites = {cell.suite for cell in run.plan.cells}
    return PoolKind.RAY if len(suites) > 1 and _has_ray() else PoolKind.INLINE


def _on_ray(run: Prepared[Any], opening: Any) -> tuple[Pool, OpenWorkshop]:
    if not _has_ray():
        raise ConfigError(
            "the pool is ray, which is not installed",
            path="runtime.pool",
            remedy="pip install 'assay-lab[ray]', or use --pool inline",
        )
    from core.cluster.pool import RayPool
    from core.cluster.workshop import workshop

    runtime: RuntimeSpec = run.config.runtime
    pool = RayPool(runtime.ray, runtime.cells, known=run.experiment)
    return pool, partial(workshop, opening=opening, staffed=pool.hired)


def _has_ray() -> bool:
    return importlib.util.find_spec("ray") is not None
