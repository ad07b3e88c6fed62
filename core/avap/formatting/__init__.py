"""The canonical form of AVAP programs: same meaning, same comments, one way of writing. Pure."""

from core.avap.formatting.program import Formatted, format_program
from core.avap.formatting.sameness import same_tree

__all__ = ["Formatted", "format_program", "same_tree"]
