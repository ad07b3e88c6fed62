"""What a repetition does otherwise than what it repeats."""

from __future__ import annotations

from enum import StrEnum

from core.model.frozen import Frozen

ABSENT = "absent"
"""Stands for a setting that one side does not have."""


class Area(StrEnum):
    """What part of a run a deviation is in, most telling first."""

    CONFIGURATION = "configuration"
    DATA = "data"
    """The content of a file that the run reads."""
    MODEL = "model"
    """A language model: no longer served, or called otherwise."""
    GATE = "gate"
    """Parser, vocabulary, dialect."""
    INDEX = "index"
    MEASUREMENT = "measurement"
    """Metrics and prompts."""
    CODE = "code"
    """Commit, interpreter, packages."""
    ENVIRONMENT = "environment"
    """Machine, container, EVAL_SEED."""


class Deviation(Frozen):
    """One difference from the original."""

    area: Area
    setting: str
    """Dotted, suites by their names: `suites.hybrid.judge.model`."""
    was: str
    now: str
    note: str = ""


class RerunOf(Frozen):
    """What a run repeats, and everything that it does otherwise."""

    run: str
    """`<experiment>/<name>-<fp12>`, or the publication whose campaign it repeats."""
    fingerprint: str = ""
    """Empty for a publication, which has none."""
    deviations: tuple[Deviation, ...]
