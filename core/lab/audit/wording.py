"""A leakage audit in words: Markdown for a pull request, a few lines for a terminal, the spelling of its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.lab.audit.sheets import Field, Sheet, sheets
from core.lab.report.words import plural
from core.model.leakage import Arm, Divergence, LeakageReport, ModelAudit, Survival, Verdict

VERDICTS = {
    Verdict.FOUND: "LEAK FOUND",
    Verdict.NOT_FOUND: "no leak found",
    Verdict.NOT_ASSESSABLE: "not assessable",
}
SHOWN_ROWS = 40
"""Lines of a table in Markdown; the CSV beside it has them all."""


def summary(report: LeakageReport) -> tuple[str, ...]:
    """The audit in a few lines for a terminal."""
    lines = [f"{model.suite}: {VERDICTS[model.verdict]}. {model.sentence}" for model in report.models]
    lines.extend(_survives(found) for model in report.models for found in model.survival if not found.arm.has_documents)
    return (*filter(None, lines), standing(report))


def standing(report: LeakageReport) -> str:
    """Whether these numbers may be cited."""
    state = "binding" if report.binding else f"NON-BINDING: {plural(len(report.binding_faults), 'reason')}, see report"
    return f"{state}; PARTIAL" if report.partial else state


def readings(model: ModelAudit) -> tuple[str, ...]:
    """What the measures of one model say, a sentence each; those that say nothing are left out."""
    said = [_survives(found) for found in model.survival]
    return tuple(filter(None, (*said, _nearness(model.divergences))))


def _survives(found: Survival) -> str:
    what = {
        Arm.DOCUMENTS: "examples are withheld",
        Arm.EXAMPLES: "documents are withheld",
        Arm.NEITHER: "documents and examples are withheld",
    }[found.arm]
    if found.ratio is None or found.full.mean is None or found.left.mean is None:
        return ""
    return (
        f"When {what}, {found.ratio:.0%} of the correct syntax survives: {found.left.mean:.1%} of the answers to "
        f"questions that call for code, against {found.full.mean:.1%}."
    )


def _nearness(divergences: Sequence[Divergence]) -> str:
    """Whether answers are nearer to the passages than the control is, in words."""
    answers, control = divergences[0], divergences[1]
    if answers.above_floor is None or control.above_floor is None:
        return ""
    nearer = answers.above_floor < control.above_floor
    return (
        f"The words of answers are {'nearer to' if nearer else 'no nearer to'} the passages than those of answers "
        f"without any: {answers.above_floor:.3f} against {control.above_floor:.3f} bits above what chance shows."
    )


def shown(field: Field) -> str:
    """A field of a table as a reader wants it; a dash for what is not known."""
    if field is None:
        return "–"
    if isinstance(field, float):
        return f"{field:.4f}" if abs(field) >= 0.0001 or field == 0 else f"{field:.1e}"
    return str(field)


def markdown(report: LeakageReport) -> str:
    """The whole audit as Markdown text."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: LeakageReport) -> Iterator[str]:
    yield f"# {report.experiment} / {report.name}: {standing(report)}"
    yield ""
    yield (
        f"{report.n_rows} of {report.n_expected} answers, four arms of {plural(report.runs, 'run')}, "
        f"seed {report.seed}, fingerprint `{report.fingerprint[:12]}`."
    )
    for model in report.models:
        yield from ("", f"## {model.suite} ({model.generator.model}): {VERDICTS[model.verdict]}", "", model.sentence)
        yield from (f"\n{sentence}" for sentence in readings(model))
    for sheet in sheets(report):
        yield from _table(sheet)
    yield from ("", "## Words and tokens", "", report.tokenizer)
    yield from _list("Why these numbers may not be cited", report.binding_faults)
    yield from _list("What these numbers cannot show", report.caveats)


def _table(sheet: Sheet) -> Iterator[str]:
    yield from ("", f"## {sheet.title}", "", sheet.note, "")
    if not sheet.rows:
        yield "Nothing was found."
        return
    yield "| " + " | ".join(sheet.head) + " |"
    yield "|" + "---|" * len(sheet.head)
    for row in sheet.rows[:SHOWN_ROWS]:
        yield "| " + " | ".join(shown(field).replace("|", "\\|") for field in row) + " |"
    if len(sheet.rows) > SHOWN_ROWS:
        yield f"\n{len(sheet.rows) - SHOWN_ROWS} more lines are in `{sheet.name}.csv`."


def _list(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield from ("", f"## {title}", "")
        yield from (f"- {item}" for item in items)
