"""How often the corpus and the few-shot pool show each construct: what a confusion matrix is read against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from core.checks.blocks import code_blocks
from core.model.evaluation import ConstructCoverage
from core.model.judged import BlockKind
from core.model.sample import Example, Passage, QueryType
from core.model.syntax import Validity
from core.ports import Parser


async def construct_coverage(
    parser: Parser, passages: Iterable[Passage], examples: Iterable[Example]
) -> tuple[ConstructCoverage, ...]:
    """Passages whose code holds each node type, and examples that list it, by node type.

    Only VALID code counts, in a passage's avap blocks or its `code`. Raises ParserUnavailable, ParserRefused.
    """
    shown: Counter[str] = Counter()
    for passage in passages:
        shown.update(await _node_types(parser, passage))
    listed = Counter(construct for example in examples for construct in set(example.constructs))
    return tuple(
        ConstructCoverage(node_type=node_type, passages=shown[node_type], examples=listed[node_type])
        for node_type in sorted(shown.keys() | listed.keys())
    )


async def _node_types(parser: Parser, passage: Passage) -> set[str]:
    blocks = code_blocks(passage.text, QueryType.RETRIEVAL)
    programs = [block.code for block in blocks if block.kind is BlockKind.CODE]
    found: set[str] = set()
    for code in dict.fromkeys([*programs, passage.code] if passage.code else programs):
        result = await parser.parse(code)
        if result.verdict is Validity.VALID:
            found.update(result.node_types)
    return found
