"""The few-shot pool measured: which examples may stand in it, and which constructs they show together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final

from core.measure.likeness import alike
from core.model.frozen import Frozen
from core.model.sample import Example

MIN_ECS: Final = 0.9
MIN_TEST_QUALITY: Final = 0.5
MIN_ASSERTIONS: Final = 2
MAX_SIMILARITY: Final = 0.8
"""Above it the later of two examples is a near-duplicate."""
ENDPOINT_LINES: Final = 30
"""Lines of code from which an example counts as a whole endpoint."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """An example, and what the parser and its own tests say of it."""

    example: Example
    trace: tuple[str, ...]
    """The parser's faults; none for a VALID program."""
    node_types: frozenset[str]
    ecs: float
    test_quality: float
    reason: str = ""
    """Why it could not be run to its end."""


class Refused(Frozen):
    """An example that may not stand in the pool."""

    id: str
    faults: tuple[str, ...]


class NearDuplicate(Frozen):
    """Two examples whose programs are too alike."""

    first: str
    second: str
    similarity: float


class ThinConstruct(Frozen):
    """A construct that answers get wrong and that few examples show."""

    node_type: str
    rejected: int
    """INVALID answers to questions about it."""
    examples: int


class PoolStats(Frozen):
    """What the pool covers. Examples that are refused cover nothing."""

    examples: int
    valid: int
    endpoints: int
    languages: Mapping[str, int]
    constructs: Mapping[str, int]
    """Node type -> valid examples that show it, the rarest first."""
    constructs_min: int
    pairs: int
    pairs_possible: int
    pairs_missing: tuple[tuple[str, str], ...]
    trios: int
    trios_possible: int
    ecs_min: float
    test_quality_min: float
    refused: tuple[Refused, ...]
    near_duplicates: tuple[NearDuplicate, ...]
    thin: tuple[ThinConstruct, ...] = ()
    """Most rejected answers first."""


def pool_stats(assessments: Sequence[Assessment], node_types: Collection[str]) -> PoolStats:
    """The measures of a pool of at least one example against the `node_types` of a vocabulary, at least one."""
    duplicates = tuple(_near_duplicates(assessments))
    refused = tuple(_refused(assessments, duplicates))
    out = {item.id for item in refused}
    kept = [item for item in assessments if item.example.id not in out]
    shown = Counter(name for item in kept for name in item.node_types)
    pairs = _together(kept, 2)
    return PoolStats(
        examples=len(assessments),
        valid=len(kept),
        endpoints=sum(len(item.example.code.splitlines()) >= ENDPOINT_LINES for item in kept),
        languages=dict(sorted(Counter(item.example.language for item in kept).items())),
        constructs={name: shown[name] for name in sorted(node_types, key=lambda name: (shown[name], name))},
        constructs_min=min(shown[name] for name in node_types),
        pairs=len(pairs),
        pairs_possible=comb(len(node_types), 2),
        pairs_missing=tuple(sorted(set(combinations(sorted(node_types), 2)) - pairs)),
        trios=len(_together(kept, 3)),
        trios_possible=comb(len(node_types), 3),
        ecs_min=min(item.ecs for item in assessments),
        test_quality_min=min(item.test_quality for item in assessments),
        refused=refused,
        near_duplicates=duplicates,
    )


def thin_constructs(
    shown: Mapping[str, int], rejected: Mapping[str, int], fewer_than: int
) -> tuple[ThinConstruct, ...]:
    """Constructs with `rejected` answers that fewer than `fewer_than` examples show, most rejected answers first.

    `shown`: node type -> examples; `rejected`: node type -> INVALID answers to questions about it.
    """
    lines = [
        ThinConstruct(node_type=name, rejected=count, examples=shown.get(name, 0))
        for name, count in rejected.items()
        if count > 0 and shown.get(name, 0) < fewer_than
    ]
    return tuple(sorted(lines, key=lambda line: (-line.rejected, line.examples, line.node_type)))


def _near_duplicates(assessments: Iterable[Assessment]) -> Iterator[NearDuplicate]:
    programs = {item.example.id: item.example.code for item in assessments}
    for first, second, likeness in alike(programs, MAX_SIMILARITY):
        yield NearDuplicate(first=first, second=second, similarity=likeness)


def _refused(assessments: Iterable[Assessment], duplicates: Iterable[NearDuplicate]) -> Iterator[Refused]:
    copies: defaultdict[str, list[str]] = defaultdict(list)
    for pair in duplicates:
        copies[pair.second].append(f"a near-duplicate of {pair.first} (similarity {pair.similarity:.2f})")
    for item in assessments:
        faults = (*_faults(item), *copies[item.example.id])
        if faults:
            yield Refused(id=item.example.id, faults=faults)


def _faults(item: Assessment) -> Iterator[str]:
    example = item.example
    if item.trace:
        yield f"not VALID: {item.trace[0]}"
    elif set(example.constructs) != item.node_types or len(example.constructs) != len(item.node_types):
        yield f"its constructs are {', '.join(sorted(item.node_types))}"
    if not example.test_inputs:
        yield "no test inputs"
    if len(example.test_list) < MIN_ASSERTIONS:
        yield f"{len(example.test_list)} assertions, at least {MIN_ASSERTIONS} are needed"
    if item.reason:
        yield f"it does not run: {item.reason}"
    elif item.ecs < MIN_ECS:
        yield f"ECS {item.ecs:.2f} is below {MIN_ECS}"
    if item.test_quality < MIN_TEST_QUALITY:
        yield f"test quality {item.test_quality:.2f} is below {MIN_TEST_QUALITY}"


def _together(assessments: Iterable[Assessment], size: int) -> set[tuple[str, ...]]:
    """The sets of `size` node types that some example shows together, each sorted."""
    return {group for item in assessments for group in combinations(sorted(item.node_types), size)}
