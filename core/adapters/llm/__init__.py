"""Language-model callers: `open_llm` makes one, `preflight` and `describe` say beforehand how it will call."""

from core.adapters.llm.opening import describe, open_llm
from core.adapters.llm.preflight import preflight

__all__ = ["describe", "open_llm", "preflight"]
