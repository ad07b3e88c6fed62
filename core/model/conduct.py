"""What is known of how an old evaluation was made, and the reasons that follow why it may not be cited.

The rules are those of core.model.record.binding_faults, for evaluations that kept no record: what nobody wrote down
counts as not done, since it cannot be shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from core.model.frozen import Frozen
from core.model.record import is_pinned
from core.model.specs import Natural, Positive

LEAST_RUNS = 5
"""Of each suite, for a binding result (ADR-0007, section 7)."""


class Notebooks(StrEnum):
    """Whether the evaluation ran from notebooks."""

    NONE = "none"
    SOME = "some"
    """Parts of the team did, and nobody noted which runs."""
    UNKNOWN = "unknown"


class IndexHistory(StrEnum):
    """What is known of the index that was searched."""

    REGISTERED = "registered"
    """Version and ingestion pipeline stood in the record before the run."""
    REBUILT = "rebuilt"
    """Built again before the run, and what changed was not written down."""
    UNKNOWN = "unknown"


class Conduct(Frozen):
    """The facts that a source states. Empty, None and UNKNOWN mean that it does not."""

    gate: bool | None = None
    """Whether code went to the parser before the judge."""
    runs: Positive | None = None
    """Of each suite."""
    generator: str = ""
    judge: str = ""
    judge_retired: str = ""
    """Day since which the judge answers no more, ISO 8601; empty while it is served."""
    seed: int | None = None
    temperature: float | None = None
    few_shot_k: Natural | None = None
    retrieval_mode: str = ""
    compares_embeddings: bool = False
    """Whether it was made to choose an embedding model."""
    index: IndexHistory = IndexHistory.UNKNOWN
    notebooks: Notebooks = Notebooks.UNKNOWN
    environment: str = ""
    """Machine and container, in the words of the source."""
    container_image_digest: str = ""
    commit: str = ""


def non_binding_reasons(conduct: Conduct) -> tuple[str, ...]:
    """Every reason why results of such a conduct may not be cited in a decision; empty means that none is known."""
    return (
        *_gate(conduct),
        *_repetition(conduct),
        *_models(conduct),
        *_retrieval(conduct),
        *_environment(conduct),
    )


def _gate(conduct: Conduct) -> Iterator[str]:
    if conduct.gate is False:
        yield "no syntactic gate: answers with invalid code kept their scores"
    elif conduct.gate is None:
        yield "no syntactic_validity: nothing shows that code was put before the parser"


def _repetition(conduct: Conduct) -> Iterator[str]:
    if conduct.runs is None:
        yield "number of runs per suite not recorded"
    elif conduct.runs < LEAST_RUNS:
        noun = "run" if conduct.runs == 1 else "runs"
        yield f"{conduct.runs} {noun} per suite; at least {LEAST_RUNS} are required"
    if conduct.seed is None:
        yield "seed not recorded"
    if conduct.temperature is None:
        yield "temperature not recorded"


def _models(conduct: Conduct) -> Iterator[str]:
    for role, model in (("generator", conduct.generator), ("judge", conduct.judge)):
        if not model:
            yield f"{role} model not named"
        elif not is_pinned(model):
            yield f"{role} model {model!r} is not pinned to a dated version"
    if conduct.judge_retired:
        yield f"judge {conduct.judge} was retired on {conduct.judge_retired}: nobody can score these answers so again"
    if conduct.judge and conduct.judge == conduct.generator:
        yield "the judge is the generator: not independent"


def _retrieval(conduct: Conduct) -> Iterator[str]:
    if conduct.index is IndexHistory.REBUILT:
        yield "indices were rebuilt before the evaluation and what changed was not documented"
    elif conduct.index is IndexHistory.UNKNOWN:
        yield "index version or ingestion pipeline not registered"
    if conduct.compares_embeddings and conduct.retrieval_mode == "hybrid":
        yield "hybrid retrieval in a comparison of embeddings: BM25 makes up for a weak embedding and hides it"


def _environment(conduct: Conduct) -> Iterator[str]:
    if conduct.notebooks is Notebooks.SOME:
        yield "runs from notebooks were mixed in, and it is not known which"
    elif conduct.notebooks is Notebooks.UNKNOWN:
        yield "not known whether it was executed from a notebook"
    if not conduct.container_image_digest:
        yield "container image digest not recorded"
    if not conduct.commit:
        yield "code commit not recorded"
