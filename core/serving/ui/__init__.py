"""The results root in a browser: runs, campaigns, and what differs between two runs. Reads, and never writes."""

from __future__ import annotations

from core.serving.ui.application import application
from core.serving.ui.insight import Insight

__all__ = ["Insight", "application"]
