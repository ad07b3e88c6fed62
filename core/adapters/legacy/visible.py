"""What the parser can say of answers of which only the beginning is there. Everything counted is a lower bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from core.checks.blocks import code_blocks
from core.model.judged import Block, BlockKind
from core.model.legacy import CodeCounts, LegacyEntry, Visible, VisibleCode
from core.model.sample import QueryType
from core.model.syntax import Category, Diagnostic, ParseResult, Validity

Check = Callable[[str], ParseResult]
WORST_FIRST = (Visible.INVALID, Visible.SUSPECTED, Visible.UNDECIDED, Visible.CLEAN)
ELLIPSES = ("...", "…")


def visible_code(answer: str, route: QueryType, check: Check, *, is_preview: bool) -> VisibleCode | None:
    """The code of `answer`, judged as far as it can be seen; None where none is.

    A block that is whole is judged as the gate would. One that a preview cuts off is judged without its last line, and
    only faults that nothing later can undo make it INVALID: a keyword of another language does; an unknown name may be
    defined further down; a block that is not closed yet is no fault at all.
    """
    blocks = [block for block in code_blocks(answer, route) if block.kind is BlockKind.CODE]
    if not blocks:
        return None
    judged = [_judged(block, check, cut=is_preview and not block.closed) for block in blocks]
    worst = min(judged, key=lambda code: WORST_FIRST.index(code.verdict))
    return worst.model_copy(update={"blocks": len(blocks), "cut": any(code.cut for code in judged)})


def counted(entries: Sequence[LegacyEntry], answers: int) -> CodeCounts:
    """The entries together; `answers` of them have an answer of any kind."""
    verdicts = Counter(entry.code.verdict for entry in entries if entry.code is not None)
    return CodeCounts(
        answers=answers,
        previews=sum(entry.is_preview for entry in entries),
        code_bearing=sum(verdicts.values()),
        verdicts={verdict: verdicts[verdict] for verdict in Visible},
    )


def _judged(block: Block, check: Check, *, cut: bool) -> VisibleCode:
    if not cut:
        result = check(block.code)
        verdict = Visible.INVALID if result.verdict is Validity.INVALID else Visible.CLEAN
        return _code(verdict, result.diagnostics, cut=False)
    found = check(_whole_lines(block.code)).diagnostics
    for verdict, category in ((Visible.INVALID, Category.FOREIGN_KEYWORD), (Visible.SUSPECTED, Category.UNKNOWN_TOKEN)):
        certain = [each for each in found if each.category is category]
        if certain:
            return _code(verdict, certain, cut=True)
    return _code(Visible.UNDECIDED, (), cut=True)


def _whole_lines(code: str) -> str:
    """`code` without the line that it was cut in."""
    text = code.rstrip("\n")
    for ellipsis in ELLIPSES:
        text = text.removesuffix(ellipsis)
    return text.rpartition("\n")[0]


def _code(verdict: Visible, faults: Iterable[Diagnostic], *, cut: bool) -> VisibleCode:
    first = next(iter(faults), None)
    return VisibleCode(
        blocks=1,
        cut=cut,
        verdict=verdict,
        category=first.category if first else None,
        message=first.message if first else "",
    )
