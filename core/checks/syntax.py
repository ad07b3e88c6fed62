"""The syntactic gate: every code block of an answer goes to the parser, and one INVALID block makes it INVALID."""

from __future__ import annotations

from dataclasses import dataclass

from core.checks.blocks import code_blocks
from core.errors import ParserUnavailable
from core.model.judged import Block, BlockKind
from core.model.sample import Sample
from core.model.syntax import Category, ParseResult, Validity
from core.model.verdict import Outcome, Verdict
from core.ports import Parser


@dataclass(frozen=True)
class Examination:
    """The blocks of one answer with what the parser said of them.

    `outage` is the parser's failure, None when it answered for every block; after a failure the rest is not asked.
    """

    blocks: tuple[Block, ...]
    outage: ParserUnavailable | None = None

    @property
    def results(self) -> tuple[ParseResult, ...]:
        """The parser's answers, in the order of the blocks."""
        return tuple(block.result for block in self.blocks if block.result is not None)

    @property
    def bears_code(self) -> bool:
        """Whether there was anything to ask the parser about."""
        return any(block.kind is BlockKind.CODE for block in self.blocks)

    @property
    def validity(self) -> Validity | None:
        """INVALID if one block is; None when there is no code, or no evidence."""
        if self.outage or not self.bears_code:
            return None
        invalid = any(result.verdict is Validity.INVALID for result in self.results)
        return Validity.INVALID if invalid else Validity.VALID

    @property
    def category(self) -> Category | None:
        """The category of the first INVALID block."""
        return next((result.category for result in self.results if result.category is not None), None)


class SyntaxCheck:
    """Asks the parser port. An unreachable parser is UNKNOWN; an answer without code is none of its business."""

    name = "syntax"
    version = 1

    def __init__(self, parser: Parser) -> None:
        self._parser = parser

    async def examine(self, sample: Sample) -> Examination:
        """Parse every code block of `sample.answer`, one after the other. Raises ParserRefused."""
        blocks = list(code_blocks(sample.answer, sample.route))
        for position, block in enumerate(blocks):
            if block.kind is not BlockKind.CODE:
                continue
            try:
                result = await self._parser.parse(block.code)
            except ParserUnavailable as error:
                return Examination(tuple(blocks), outage=error)
            blocks[position] = block.model_copy(update={"result": result})
        return Examination(tuple(blocks))

    async def __call__(self, sample: Sample) -> Verdict | None:
        """PASS, FAIL with every diagnostic, UNKNOWN without a parser, None without code. Raises ParserRefused."""
        examination = await self.examine(sample)
        if not examination.bears_code:
            return None
        if examination.outage:
            return self._verdict(Outcome.UNKNOWN, None, str(examination.outage))
        if examination.validity is Validity.VALID:
            return self._verdict(Outcome.PASS, 1.0)
        diagnostics = tuple(found for result in examination.results for found in result.diagnostics)
        failure = self._verdict(Outcome.FAIL, 0.0, examination.category or "")
        return failure.model_copy(update={"diagnostics": diagnostics})

    def _verdict(self, outcome: Outcome, score: float | None, reason: str = "") -> Verdict:
        return Verdict(check=self.name, version=self.version, outcome=outcome, score=score, reason=reason)
