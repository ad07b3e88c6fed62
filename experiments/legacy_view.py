"""How an imported evaluation looks on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from core.model.legacy import LegacyEvaluation, ScaleRead, Visible
from core.model.published import Recomputation
from experiments.imports import ORIGINAL, Import

UNKNOWN_SHOWN = 12


def draw_import(console: Console, kept: Import, found: LegacyEvaluation) -> None:
    """Everything that was found, what may not be concluded from it, and where the original is."""
    badge = (f"NON-BINDING ({len(found.non_binding)})", "bold yellow")
    console.print(Text.assemble(kept.name, "  ", ("legacy", "bold"), f"  {len(found.entries)} entries  ", badge))
    for line in lines(found):
        console.print(f"  {line}", markup=False)
    for reason in found.non_binding:
        console.print(Text.assemble(("  not citable: ", "yellow"), reason))
    for complaint in found.complaints:
        console.print(Text.assemble(("  not taken: ", "yellow"), complaint))
    if found.unknown:
        console.print(f"  {_unknown(found)}", markup=False)
    console.print(f"  {kept.path / ORIGINAL}", markup=False)


def lines(found: LegacyEvaluation) -> Iterator[str]:
    """Facts, scores and code, each with the place it was read from."""
    for fact, each in found.facts.items():
        yield f"{fact.value}: {each.value}  (from {each.place})"
    for metric, score in found.scores.items():
        shown = "not read" if score.score is None else f"{score.score:.4f}"
        yield f"{metric.value}: {shown}  (from {score.place}, written {score.written})"
    if found.scale is ScaleRead.PERCENT:
        yield "scores were read as percentages"
    if found.recomputed is not None:
        yield _recomputed(found.recomputed)
    if found.code.code_bearing:
        yield code_line(found)


def code_line(found: LegacyEvaluation) -> str:
    """What the parser could see."""
    code = found.code
    said = ", ".join(f"{count} {verdict.value}" for verdict, count in code.verdicts.items() if count)
    bound = "; lower bounds, since answers are cut" if code.previews else ""
    return (
        f"code in {code.code_bearing} of {code.answers} answers ({code.previews} of them previews): {said}, "
        f"under {found.vocabulary}{bound}"
    )


def invalid_of(found: LegacyEvaluation) -> int:
    """Answers that are INVALID whatever follows."""
    return found.code.verdicts.get(Visible.INVALID, 0)


def _recomputed(check: Recomputation) -> str:
    if check.agrees:
        return "the global score is the mean of its parts"
    return f"the global score {check.published:g} is NOT the mean of its parts, {check.mean:g}"


def _unknown(found: LegacyEvaluation) -> str:
    shown = ", ".join(
        place if times == 1 else f"{place} ({times})" for place, times in list(found.unknown.items())[:UNKNOWN_SHOWN]
    )
    more = len(found.unknown) - UNKNOWN_SHOWN
    return f"kept, not understood: {shown}{f', and {more} more' if more > 0 else ''}"
