"""What the commands of the vocabularies do: one function each, found by the command's name."""

from core.avap.execution.commands import dates, lists, requests, tables, texts, variables
from core.avap.execution.commands.registry import OPERATIONS, Operation

__all__ = ["OPERATIONS", "Operation", "dates", "lists", "requests", "tables", "texts", "variables"]
