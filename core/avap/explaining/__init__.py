"""Faults explained: what is wrong, why AVAP is so, and how to say it instead. Pure."""

from core.avap.explaining.explain import CATEGORY_HELP, Explanation, explain
from core.avap.explaining.lesson import Lesson

__all__ = ["CATEGORY_HELP", "Explanation", "Lesson", "explain"]
