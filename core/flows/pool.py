"""The few-shot pool assessed: each example parsed, executed on its test inputs, its assertions put to the proof."""

from __future__ import annotations

from collections.abc import Iterable

from core.avap import Parsed, Vocabulary, parse
from core.avap.execution import Inputs
from core.avap.execution.coverage import ecs
from core.avap.execution.quality import quality
from core.errors import ConfigError
from core.measure.pool import Assessment
from core.model.sample import Example
from core.model.syntax import Dialect


def assess(examples: Iterable[Example], vocabulary: Vocabulary) -> tuple[Assessment, ...]:
    """What the strict parser and the tests of each example say of it, in their order. About 5 ms an example."""
    return tuple(_assess(example, vocabulary) for example in examples)


def _assess(example: Example, vocabulary: Vocabulary) -> Assessment:
    parsed = parse(example.code, vocabulary, Dialect.STRICT)
    try:
        inputs = [Inputs.from_mapping(given) for given in example.test_inputs]
    except ConfigError as error:
        return _assessment(example, parsed, reason=str(error))
    coverage = ecs(parsed, inputs)
    tested = quality(parsed, example.test_list, inputs)
    return _assessment(example, parsed, coverage.score, tested.score, coverage.reason or "")


def _assessment(
    example: Example, parsed: Parsed, score: float = 0, test_quality: float = 0, reason: str = ""
) -> Assessment:
    return Assessment(
        example=example,
        trace=parsed.result.trace,
        node_types=frozenset(parsed.result.node_types),
        ecs=score,
        test_quality=test_quality,
        reason=reason,
    )
