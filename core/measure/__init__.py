"""Arithmetic over finished answers: pure, seeded, and light to import until something of it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.measure.bootstrap import bca_interval
    from core.measure.modality import DipTest, dip_power, dip_test, largest_gap_ratio
    from core.measure.multiplicity import holm
    from core.measure.paired import (
        PairedComparison,
        PairedPermutation,
        PairedT,
        paired_family,
        paired_interval,
        paired_permutation,
        paired_t,
    )
    from core.measure.power import minimum_detectable_effect, paired_power, questions_needed
    from core.measure.rates import mcnemar_exact, newcombe, newcombe_paired, wilson
    from core.measure.stability import FlipRate, flip_rate
    from core.measure.statistics import ClusteredMean, cluster_standard_error, clustered_interval, clustered_mean
    from core.measure.variance import VarianceComponents, variance_components
    from core.model.degenerate import Degenerate

__all__ = [
    "ClusteredMean",
    "Degenerate",
    "DipTest",
    "FlipRate",
    "PairedComparison",
    "PairedPermutation",
    "PairedT",
    "VarianceComponents",
    "bca_interval",
    "cluster_standard_error",
    "clustered_interval",
    "clustered_mean",
    "dip_power",
    "dip_test",
    "flip_rate",
    "holm",
    "largest_gap_ratio",
    "mcnemar_exact",
    "minimum_detectable_effect",
    "newcombe",
    "newcombe_paired",
    "paired_family",
    "paired_interval",
    "paired_permutation",
    "paired_power",
    "paired_t",
    "questions_needed",
    "variance_components",
    "wilson",
]

_HOMES = {
    "core.model.degenerate": ("Degenerate",),
    "core.measure.bootstrap": ("bca_interval",),
    "core.measure.modality": ("DipTest", "dip_power", "dip_test", "largest_gap_ratio"),
    "core.measure.multiplicity": ("holm",),
    "core.measure.paired": (
        "PairedComparison",
        "PairedPermutation",
        "PairedT",
        "paired_family",
        "paired_interval",
        "paired_permutation",
        "paired_t",
    ),
    "core.measure.power": ("minimum_detectable_effect", "paired_power", "questions_needed"),
    "core.measure.rates": ("mcnemar_exact", "newcombe", "newcombe_paired", "wilson"),
    "core.measure.stability": ("FlipRate", "flip_rate"),
    "core.measure.statistics": ("ClusteredMean", "cluster_standard_error", "clustered_interval", "clustered_mean"),
    "core.measure.variance": ("VarianceComponents", "variance_components"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """PEP 562: a public name brings its module, and numpy with it, when it is first asked for."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
