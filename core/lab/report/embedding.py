"""Judged rows as the data of the page: listed once, told in full by question, every text and passage once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from core.lab.report.embedded import (
    ListedAnswer,
    ListedQuestion,
    Listing,
    Passages,
    PassageText,
    ShownAnswer,
    ShownBlock,
    ShownFault,
    ShownFinding,
    ShownPassage,
    ShownQuestion,
    ShownScore,
    Text,
)
from core.lab.report.texts import TextPool
from core.model.evaluation import Block, BlockKind, Finding, JudgedRow, Metric, Score
from core.model.frozen import Frozen
from core.model.sample import Passage

LISTED_DIGITS = 4
SHOWN_DIGITS = 6
"""Of scores and similarities, after the point."""


@dataclass(frozen=True)
class Embedded:
    """The data of a page."""

    listing: Listing
    questions: tuple[ShownQuestion, ...]
    """As `listing.questions`."""
    passages: Passages


def embed(suites: Sequence[str], rows: Sequence[JudgedRow]) -> Embedded:
    """The data over `rows`, in any order; each must be of one of `suites`, in the order they are shown in."""
    ordered = sorted(rows, key=lambda row: (row.id, suites.index(row.suite), row.run))
    grouped = [tuple(group) for _, group in groupby(ordered, key=lambda row: row.id)]
    passages = _PassagePool()
    return Embedded(
        listing=Listing(
            suites=tuple(suites),
            metrics=tuple(Metric),
            questions=tuple(_listed_question(group[0]) for group in grouped),
            answers=tuple(_listed(number, suites, row) for number, group in enumerate(grouped) for row in group),
        ),
        questions=tuple(_Telling(suites, passages).question(group) for group in grouped),
        passages=Passages(passages=passages.all()),
    )


def script_json(value: Frozen) -> str:
    """`value` as JSON that may stand inside a script element, whatever texts it holds.

    ASCII only, and none of `<`, `>` and `&`: no text can end the element, begin a comment or be read as an entity.
    """
    text = value.model_dump_json(ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _listed_question(row: JudgedRow) -> ListedQuestion:
    return ListedQuestion(
        id=row.id, type=row.type, language=row.language, answerable=row.answerable, question=row.question
    )


def _listed(question: int, suites: Sequence[str], row: JudgedRow) -> tuple[int | float | str | None, ...]:
    score = row.scores.global_score
    answer = ListedAnswer(
        question=question,
        suite=suites.index(row.suite),
        run=row.run,
        syntax=row.syntax,
        category=row.category,
        raw=_rounded(score.raw, LISTED_DIGITS),
        final=_rounded(score.final, LISTED_DIGITS),
    )
    return tuple(answer.model_dump(mode="json").values())


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


@dataclass
class _PassagePool:
    """Passages by what they show; the score is a search's own."""

    _numbers: dict[PassageText, int] = field(default_factory=dict)
    _seen: dict[tuple[str, ...], int] = field(default_factory=dict)
    """The same by what they were made of: most are found again and again, and comparing models takes long."""

    def shown(self, passage: Passage) -> ShownPassage:
        section = passage.metadata.get("section", passage.id)
        made_of = (passage.id, section, passage.source, passage.text, passage.code)
        number = self._seen.get(made_of)
        if number is None:
            number = self._seen[made_of] = self._number(passage, section)
        return ShownPassage(passage=number, score=round(passage.score, SHOWN_DIGITS))

    def all(self) -> tuple[PassageText, ...]:
        return tuple(self._numbers)

    def _number(self, passage: Passage, section: str) -> int:
        code = "" if passage.code in passage.text else passage.code
        text = PassageText(id=passage.id, section=section, source=passage.source, text=passage.text, code=code)
        return self._numbers.setdefault(text, len(self._numbers))


class _Telling:
    """Tells one question; its texts are numbered as they come."""

    def __init__(self, suites: Sequence[str], passages: _PassagePool) -> None:
        self._suites = suites
        self._passages = passages
        self._texts = TextPool()
        self._findings: dict[tuple[str, str, int, str], ShownFinding] = {}
        """By what was found: judges say the same of many answers to one question."""

    def question(self, rows: Sequence[JudgedRow]) -> ShownQuestion:
        asked = rows[0]
        reference = self._texts.number(asked.reference)
        answers = tuple(map(self._answer, rows))
        return ShownQuestion(
            reference=reference,
            gold_passages=asked.gold_passages,
            constructs=asked.constructs,
            answers=answers,
            texts=self._texts.texts(),
        )

    def _answer(self, row: JudgedRow) -> ShownAnswer:
        similarities = tuple(round(value, SHOWN_DIGITS) for value in row.few_shots.similarities)
        return ShownAnswer(
            suite=self._suites.index(row.suite),
            run=row.run,
            query=self._texts.number(row.query),
            parts=tuple(self._parts(row)),
            stop=row.answer_stop.value,
            fault=self._texts.number(row.answer_fault),
            declined=row.noncommittal,
            passages=tuple(map(self._passages.shown, row.passages)),
            few_shots=row.few_shots.model_copy(update={"similarities": similarities}),
            scores=tuple(self._score(metric, score) for metric, score in row.scores.items()),
            models=tuple(dict.fromkeys(f"{call.role}: {call.model}" for call in row.calls)),
        )

    def _parts(self, row: JudgedRow) -> Iterator[Text | ShownBlock]:
        """Prose and code in turn. Line numbers are the blocks' own; what no block covers is prose."""
        lines = row.answer.replace("\r\n", "\n").split("\n")
        told = 0
        for block in row.blocks:
            start = max(told, block.line - 1)
            if prose := "\n".join(lines[told:start]).strip("\n"):
                yield self._texts.number(prose)
            yield self._block(block)
            told = max(told, start + _height(block))
        if prose := "\n".join(lines[told:]).strip("\n"):
            yield self._texts.number(prose)

    def _block(self, block: Block) -> ShownBlock:
        return ShownBlock(
            kind=block.kind,
            label=block.label,
            closed=block.closed,
            code=self._texts.number(block.code.removesuffix("\n")),
            verdict=block.result.verdict if block.result else None,
            faults=tuple(self._faults(block)),
        )

    def _faults(self, block: Block) -> Iterator[ShownFault]:
        if block.result is None:
            return
        trace = block.result.trace
        for number, diagnostic in enumerate(block.result.diagnostics):
            said = trace[number] if number < len(trace) else diagnostic.message
            yield ShownFault(
                line=diagnostic.line,
                column=diagnostic.column,
                category=diagnostic.category,
                offending=self._texts.number(diagnostic.text),
                said=self._texts.number(said),
            )

    def _score(self, metric: Metric, score: Score) -> ShownScore:
        return ShownScore(
            metric=metric,
            raw=_rounded(score.raw, SHOWN_DIGITS),
            final=_rounded(score.final, SHOWN_DIGITS),
            reason=score.reason,
            detail=self._texts.number(score.detail),
            findings=tuple(map(self._finding, score.findings)),
        )

    def _finding(self, finding: Finding) -> ShownFinding:
        said = (finding.id, finding.text, finding.value, finding.reason)
        found = self._findings.get(said)
        if found is None:
            found = self._findings[said] = ShownFinding(
                id=finding.id,
                text=self._texts.number(finding.text),
                value=finding.value,
                reason=self._texts.number(finding.reason),
            )
        return found


def _height(block: Block) -> int:
    """Lines of the answer that a block takes: its code and, but for an indented one, its fences."""
    code = block.code.count("\n") + (not block.code.endswith("\n") and bool(block.code))
    return code if block.kind is BlockKind.INDENTED else code + 1 + block.closed
