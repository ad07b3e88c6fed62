"""Evaluation files from before Assay: read strictly as JSON, tolerantly as evaluations, guessing nothing."""

from __future__ import annotations

from core.adapters.legacy.evaluation import evaluation
from core.adapters.legacy.mapping import load_mapping
from core.adapters.legacy.text import LARGEST, parsed, read_file

__all__ = ["LARGEST", "evaluation", "load_mapping", "parsed", "read_file"]
