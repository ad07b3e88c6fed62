"""The four judged metrics of an answer: what the judge is asked, and which of its words make the score.

A check gives a Judgement: a number with the findings behind it, or the reason why there is none. The arithmetic is
handed in (core.measure.judged has it). LlmUnavailable, EmbedderUnavailable and BudgetExhausted come through from
`judge`: whether a run may go on is for the run to decide.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from core.checks.instruction import Instruction
from core.checks.judge import Judge, Reply
from core.checks.rubrics import ATTRIBUTION, QUESTIONS, QUESTIONS_BACK, STATEMENTS, SUPPORT, USEFULNESS
from core.checks.sections import context, section, statement_list
from core.errors import DependencyDown
from core.model.judged import Call, Finding, Metric, UnscoredReason
from core.model.retrieval import TextKind
from core.model.sample import Sample
from core.model.verdict import Outcome, Verdict
from core.ports import Embedder

Share = Callable[[Sequence[int]], float | None]
"""The score of 0/1 verdicts; None when there are none."""

Relevancy = Callable[[Sequence[float], Sequence[Sequence[float]], Sequence[int]], float | None]
"""The score of a question's embedding, those of the generated questions, and their noncommittal flags."""

_REFERENCE_REPEAT = 0
"""The statements of a reference answer do not change between runs, so all runs share one reply."""


@dataclass(frozen=True)
class Judgement:
    """One metric of one sample: `raw` or a `reason`, the findings behind it, and the calls it took."""

    raw: float | None
    reason: UnscoredReason | None = None
    detail: str = ""
    findings: tuple[Finding, ...] = ()
    calls: tuple[Call, ...] = ()


class JudgedCheck(ABC):
    """One judged metric. As a `Check` it passes a sample whose score reaches `floor`."""

    metric: ClassVar[Metric]
    version: ClassVar[int] = 1
    floor: float = 0.0

    @abstractmethod
    async def judge(self, sample: Sample) -> Judgement:
        """Score `sample`. Raises DependencyDown, BudgetExhausted, and LlmRefused where all would be refused."""

    async def __call__(self, sample: Sample) -> Verdict:
        """PASS or FAIL by the floor; UNKNOWN when unscored or when something outside does not answer."""
        try:
            judgement = await self.judge(sample)
        except DependencyDown as error:
            return self._verdict(Outcome.UNKNOWN, None, str(error))
        if judgement.raw is None:
            return self._verdict(Outcome.UNKNOWN, None, f"{judgement.reason}: {judgement.detail}")
        return self._verdict(Outcome.PASS if judgement.raw >= self.floor else Outcome.FAIL, judgement.raw)

    @classmethod
    def versioned_name(cls) -> str:
        """As written in records: `faithfulness@1`."""
        return f"{cls.metric.value}@{cls.version}"

    def _verdict(self, outcome: Outcome, score: float | None, reason: str = "") -> Verdict:
        return Verdict(check=self.metric.value, version=self.version, outcome=outcome, score=score, reason=reason)


class StatementCheck(JudgedCheck):
    """A text is broken into statements, and each is put to the retrieved passages."""

    def __init__(self, judge: Judge, score: Share) -> None:
        self._judge = judge
        self._score = score

    async def _held_by_passages(self, sample: Sample, listed: Reply, rubric: Instruction, *, of: str) -> Judgement:
        """The share of the `listed` statements that the passages hold, as `rubric` asks."""
        if listed.reason or not listed.items:
            return _without_statements(listed, of)
        statements = [item.text for item in listed.items]
        reply = await self._judge.ask(
            rubric, context(sample.passages), statement_list(statements), expected=_numbers(len(statements))
        )
        return _judgement(reply, statements, self._score, listed.calls)


class FaithfulnessCheck(StatementCheck):
    """Share of the answer's statements that the retrieved passages support."""

    metric = Metric.FAITHFULNESS

    async def judge(self, sample: Sample) -> Judgement:
        """Break the answer into statements, then ask which of them the passages support."""
        if not sample.answer.strip():
            return _unscored(UnscoredReason.NO_ANSWER, "the answer is empty")
        if not sample.passages:
            return _unscored(UnscoredReason.NO_PASSAGES, "nothing was retrieved")
        listed = await self._judge.ask(
            STATEMENTS, section("question", sample.question), section("answer", sample.answer)
        )
        return await self._held_by_passages(sample, listed, SUPPORT, of="answer")


class AnswerRelevancyCheck(JudgedCheck):
    """Mean cosine between the question and the questions that the answer would be a reply to."""

    metric = Metric.ANSWER_RELEVANCY

    def __init__(self, judge: Judge, embedder: Embedder, score: Relevancy) -> None:
        self._judge = judge
        self._embedder = embedder
        self._score = score

    async def judge(self, sample: Sample) -> Judgement:
        """Have questions written back from the answer alone and compare their embeddings with the question's."""
        if not sample.answer.strip():
            return _unscored(UnscoredReason.NO_ANSWER, "the answer is empty")
        reply = await self._judge.ask(QUESTIONS, section("answer", sample.answer), expected=_numbers(QUESTIONS_BACK))
        if reply.reason:
            return Judgement(None, reply.reason, reply.detail, calls=reply.calls)
        findings = _findings(reply, [item.text for item in reply.items])
        texts = [sample.question, *(finding.text for finding in findings)]
        # One kind for both sides: the comparison is between equals.
        asked, *generated = (await self._embedder.embed(texts, kind=TextKind.QUERY)).tolist()
        raw = self._score(asked, generated, [finding.value for finding in findings])
        if raw is None:
            detail = "an embedding has no direction"
            return Judgement(None, UnscoredReason.UNDEFINED, detail, findings, reply.calls)
        return Judgement(raw, findings=findings, calls=reply.calls)


class ContextRecallCheck(StatementCheck):
    """Share of the reference's statements that the retrieved passages hold."""

    metric = Metric.CONTEXT_RECALL

    async def judge(self, sample: Sample) -> Judgement:
        """Break the reference into statements, then ask which of them the passages hold."""
        if not sample.passages:
            return _unscored(UnscoredReason.NO_PASSAGES, "nothing was retrieved")
        listed = await self._judge.ask(
            STATEMENTS,
            section("question", sample.question),
            section("answer", sample.reference),
            repeat=_REFERENCE_REPEAT,
        )
        return await self._held_by_passages(sample, listed, ATTRIBUTION, of="reference")


class ContextPrecisionCheck(JudgedCheck):
    """How far up the useful passages stand."""

    metric = Metric.CONTEXT_PRECISION

    def __init__(self, judge: Judge, score: Share) -> None:
        self._judge = judge
        self._score = score

    async def judge(self, sample: Sample) -> Judgement:
        """Ask of each passage whether it was useful for the reference answer."""
        if not sample.passages:
            return _unscored(UnscoredReason.NO_PASSAGES, "nothing was retrieved")
        reply = await self._judge.ask(
            USEFULNESS,
            section("question", sample.question),
            section("reference", sample.reference),
            context(sample.passages),
            expected=[f"P{number}" for number in _numbers(len(sample.passages))],
        )
        return _judgement(reply, [passage.id for passage in sample.passages], self._score, ())


JUDGED_CHECKS: tuple[type[JudgedCheck], ...] = (
    FaithfulnessCheck,
    AnswerRelevancyCheck,
    ContextRecallCheck,
    ContextPrecisionCheck,
)
"""The four, in the order of reports."""


def _numbers(count: int) -> list[str]:
    return [str(number) for number in range(1, count + 1)]


def _unscored(reason: UnscoredReason, detail: str) -> Judgement:
    return Judgement(None, reason, detail)


def _without_statements(listed: Reply, of: str) -> Judgement:
    reason = listed.reason or UnscoredReason.NO_STATEMENTS
    return Judgement(None, reason, listed.detail or f"the judge found no statement in the {of}", calls=listed.calls)


def _judgement(reply: Reply, texts: Sequence[str], score: Share, earlier: tuple[Call, ...]) -> Judgement:
    """The judgement of a reply with one verdict for each of `texts`, after `earlier` calls."""
    calls = earlier + reply.calls
    if reply.reason:
        return Judgement(None, reply.reason, reply.detail, calls=calls)
    findings = _findings(reply, texts)
    return Judgement(score([finding.value for finding in findings]), findings=findings, calls=calls)


def _findings(reply: Reply, texts: Sequence[str]) -> tuple[Finding, ...]:
    pairs = zip(reply.items, texts, strict=True)
    return tuple(Finding(id=item.id, text=text, value=item.value, reason=item.reason) for item, text in pairs)
