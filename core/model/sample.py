"""What is asked, what is answered, and what the answer stood on."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from core.model.frozen import Frozen


class QueryType(StrEnum):
    """The four routes of the assistant."""

    RETRIEVAL = "RETRIEVAL"
    CODE_GENERATION = "CODE_GENERATION"
    CONVERSATIONAL = "CONVERSATIONAL"
    PLATFORM = "PLATFORM"


class Passage(Frozen):
    """A retrieved chunk. `score` is comparable within one search only."""

    id: str
    text: str
    source: str = ""
    """Document and section it was cut from."""
    score: float = 0.0
    code: str = ""
    """The code a sample or example carries, apart from its prose."""
    metadata: Mapping[str, str] = {}


class Sample(Frozen):
    """One answer to be judged, from whatever system gave it."""

    id: str
    question: str
    answer: str
    passages: tuple[Passage, ...] = ()
    route: QueryType = QueryType.RETRIEVAL
    client: str = ""
    reference: str = ""


class GoldenQuestion(Frozen):
    """A question with its known answer."""

    id: str
    type: QueryType
    language: str
    """ISO 639-1: `en` or `es`."""
    question: str
    ground_truth: str
    gold_passages: tuple[str, ...] = ()
    """Ids of the corpus sections that answer it; empty when not answerable."""
    constructs: tuple[str, ...] = ()
    """Node types a correct answer is about."""
    answerable: bool = True


class Example(Frozen):
    """A validated few-shot example."""

    id: str
    language: str
    description: str
    code: str
    constructs: tuple[str, ...]
    test_inputs: tuple[Mapping[str, Any], ...] = ()
    """Request parameters of each execution. `__http__`, `__connectors__`, `__request__`, `__now__` and `__seed__` stand
    for the outside world."""
    test_list: tuple[str, ...] = ()
    """Boolean AVAP expressions over the variables that the program assigns."""
