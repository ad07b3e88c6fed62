"""Words for ranges of the global score."""

from __future__ import annotations

from collections.abc import Sequence

from core.model.specs import BandSpec


def band_of(score: float | None, bands: Sequence[BandSpec]) -> str | None:
    """The best band whose floor `score` reaches; None for an unscored run, and below every floor."""
    if score is None:
        return None
    ordered = sorted(bands, key=lambda band: band.floor, reverse=True)
    return next((band.name for band in ordered if score >= band.floor), None)
