"""The tables of a leakage audit: one content for CSV, Markdown and page."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from core.model.interval import Interval
from core.model.leakage import LeakageReport, ModelAudit, ShareOf, Source

Field = str | int | float | None
_Row = tuple[Field, ...]


@dataclass(frozen=True)
class Sheet:
    """One table. Numbers are as computed; whoever shows them rounds."""

    name: str
    """Of its file."""
    title: str
    note: str
    """How to read it, in a sentence or two."""
    head: tuple[str, ...]
    rows: tuple[_Row, ...]


def as_csv(sheet: Sheet) -> str:
    """The table as CSV; what is not known is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(sheet.head)
    writer.writerows(sheet.rows)
    return text.getvalue()


def sheets(report: LeakageReport) -> tuple[Sheet, ...]:
    """Every table, in the order of reading."""
    spec = report.audit
    return (
        _sheet(
            report, _tests, "tests", "The decision",
            f"A leak is found when the adjusted p is at most {spec.alpha:g} and the excess at least "
            f"{spec.least_effect:.0%}. The baseline is the same measure where that leak cannot be at work.",
            ("model", "leak", "verdict", "observed", "baseline", "excess", "low", "high", "p", "p adjusted"),
        ),
        _sheet(
            report, _arms, "arms", "The four arms",
            "Valid: of the answers that bear code. Unprompted: correct AVAP with names that stand nowhere in the "
            "prompt, of the answers to questions that call for code.",
            ("model", "arm", "rows", "code-bearing", "valid", "valid low", "valid high", "unprompted",
             "unprompted low", "unprompted high", "words of code", "foreign share", "degraded"),
        ),
        _sheet(
            report, _survival, "survival", "Correct syntax that survives",
            "Answers with valid code over all answers to questions that call for code, with everything and with less. "
            "McNemar's test counts each question once, by the majority of its runs.",
            ("model", "left with", "in full", "left", "survives", "difference", "low", "high", "p", "lost", "gained",
             "McNemar p"),
        ),
        _sheet(
            report, _provenance, "provenance", "Where the words of answers stand besides",
            "Shares of the words of an answer, the first place that applies. Arms that withhold something are held "
            "against what the full prompt shows: what they share with texts they never saw, they share anyway.",
            ("model", "arm", "part", "words", *(source.value for source in Source)),
        ),
        _sheet(
            report, _divergences, "divergences", "Jensen-Shannon divergences of word distributions",
            "In bits: 0 is the same distribution, 1 no word in common. The floor is what exchanging the two sides of "
            "random questions leaves: finite samples always differ, and only what is above it says something.",
            ("model", "a", "b", "questions", "bits", "low", "high", "floor", "floor 95 %", "above floor", "p"),
        ),
        _sheet(
            report, _overlaps, "overlaps", "Word for word",
            f"Containment: share of an answer's runs of {spec.run_length} that the target has. Copies: programs of at "
            f"least {spec.shortest_program} tokens with {spec.copied:.0%} of their runs in one program of the target.",
            ("model", "arm", "target", "containment", "low", "high", "longest run", "copies", "copies low",
             "copies high"),
        ),
        _sheet(
            report, _foreign, "foreign", "Other languages among the code",
            "Words on lines where the parser found another language, and in blocks labelled so; a lower bound.",
            ("model", "arm", "language", "words", "share", "answers"),
        ),
        _sheet(
            report, _copies, "copies", "Near-verbatim copies of the few-shot pool",
            "By question. A copy of an example that was not shown is memory, or a program that everyone would write.",
            ("model", "question", "run", "arm", "example", "shown", "containment", "longest run", "tokens"),
        ),
    )  # fmt: skip


def _sheet(
    report: LeakageReport,
    lines: Callable[[ModelAudit], Iterable[_Row]],
    name: str,
    title: str,
    note: str,
    head: tuple[str, ...],
) -> Sheet:
    rows = tuple((model.suite, *line) for model in report.models for line in lines(model))
    return Sheet(name, title, note, head, rows)


def _tests(model: ModelAudit) -> Iterator[_Row]:
    for test in model.tests:
        yield (
            test.leak.value, test.verdict.value, test.observed.mean, test.baseline, test.excess,
            *_ends(test.interval), test.p, test.p_adjusted,
        )  # fmt: skip


def _arms(model: ModelAudit) -> Iterator[_Row]:
    for arm in model.arms:
        foreign = sum(found.share for found in arm.foreign)
        yield (
            arm.arm.value, arm.n_rows, arm.code_bearing, *_share(arm.valid), *_share(arm.unprompted), arm.code_words,
            foreign if arm.code_words else None, arm.degraded,
        )  # fmt: skip


def _survival(model: ModelAudit) -> Iterator[_Row]:
    for found in model.survival:
        yield (
            found.arm.value, found.full.mean, found.left.mean, found.ratio, found.difference, *_ends(found.interval),
            found.p, found.lost, found.gained, found.mcnemar_p,
        )  # fmt: skip


def _provenance(model: ModelAudit) -> Iterator[_Row]:
    for line in model.provenance:
        yield (line.arm.value, line.part.value, line.words, *(line.shares[source].mean for source in Source))


def _divergences(model: ModelAudit) -> Iterator[_Row]:
    for found in model.divergences:
        yield (
            found.a, found.b, found.n_questions, found.bits, *_ends(found.interval), found.floor, found.floor_high,
            found.above_floor, found.p,
        )  # fmt: skip


def _overlaps(model: ModelAudit) -> Iterator[_Row]:
    for found in model.overlaps:
        copies: _Row = (None, None, None) if found.copies is None else _share(found.copies)
        yield (found.arm.value, found.target, *_share(found.containment), found.longest_run, *copies)


def _foreign(model: ModelAudit) -> Iterator[_Row]:
    for arm in model.arms:
        for found in arm.foreign:
            yield (arm.arm.value, found.language, found.words, found.share, found.answers)


def _copies(model: ModelAudit) -> Iterator[_Row]:
    for copy in model.copies:
        yield (
            copy.question, copy.run, copy.arm.value, copy.target_id, "yes" if copy.shown else "no", copy.containment,
            copy.longest_run, copy.tokens,
        )  # fmt: skip


def _share(share: ShareOf) -> _Row:
    return (share.mean, *_ends(share.interval))


def _ends(interval: Interval | None) -> _Row:
    return (None, None) if interval is None else (interval.low, interval.high)
