"""Evaluates questions behind the syntactic gate: answer, ask the parser, only then the judges."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.checks.judge import Judge
from core.checks.judged import (
    JUDGED_CHECKS,
    AnswerRelevancyCheck,
    ContextPrecisionCheck,
    ContextRecallCheck,
    FaithfulnessCheck,
    JudgedCheck,
    Judgement,
)
from core.checks.syntax import Examination, SyntaxCheck
from core.errors import EvaluationAbortedError
from core.flows.answer import Answer, EvaluationSettings, answer
from core.flows.concurrency import bounded, together
from core.flows.scoring import final_scores
from core.measure.judged import answer_relevancy, context_precision, context_recall, faithfulness
from core.model.judged import Call, JudgedRow, Metric
from core.model.sample import GoldenQuestion, Sample
from core.ports import Parser, Ports

GATE_DOWN = "AVAP Parser unreachable. MSVL cannot be bypassed."
"""ADR-0007, section 3, to the letter: others look for it."""

JUDGINGS_APART = 1_000_000
"""Between the repeat numbers of two judgings of one answer. No evaluation has so many runs, so no judging ever shares
a recorded reply with that of another run; the first judging of run r has the number r."""


def evaluate(
    questions: Sequence[GoldenQuestion],
    finished: Collection[str],
    *,
    run: int,
    settings: EvaluationSettings,
    ports: Ports,
    in_flight: int = 4,
) -> AsyncGenerator[JudgedRow, None]:
    """The rows of one run for the questions not in `finished`, as they are done, at most `in_flight` at a time.

    Only whole rows come out. On EvaluationAbortedError, or any other error of the run, rows underway are cancelled.
    """

    async def body(question: GoldenQuestion) -> JudgedRow:
        return await judge_question(question, run=run, settings=settings, ports=ports)

    return bounded(body, [question for question in questions if question.id not in finished], in_flight=in_flight)


async def judge_question(
    question: GoldenQuestion, *, run: int, settings: EvaluationSettings, ports: Ports
) -> JudgedRow:
    """Answer and judge one question. Raises EvaluationAbortedError when the parser cannot be asked.

    A refusal or a malformed reply is data with a reason. DependencyDown, BudgetExhausted, ParserRefused, and
    LlmRefused where every request would be refused, end the run.
    """
    started = ports.clock.monotonic()
    given = await answer(question, run=run, settings=settings, ports=ports)
    sample = Sample(
        id=question.id,
        question=question.question,
        answer=given.text,
        passages=given.passages,
        route=question.type,
        reference=question.ground_truth,
    )
    examination = await gate(sample, ports.parser)
    judgings = [
        judged_checks(Judge(ports.judge, settings.judge, run + number * JUDGINGS_APART), ports)
        for number in range(settings.judge_repeats)
    ]
    first, *others = await together(*(_judged(sample, checks) for checks in judgings))
    entry = _Entry(question, given, examination, first, tuple(others))
    return _row(entry, suite=settings.suite, run=run, elapsed_s=ports.clock.monotonic() - started)


def judged_checks(judge: Judge, ports: Ports) -> tuple[JudgedCheck, ...]:
    """The four judged metrics, in the order of reports."""
    return (
        FaithfulnessCheck(judge, faithfulness),
        AnswerRelevancyCheck(judge, ports.embedder, answer_relevancy),
        ContextRecallCheck(judge, context_recall),
        ContextPrecisionCheck(judge, context_precision),
    )


async def _judged(sample: Sample, checks: Sequence[JudgedCheck]) -> Mapping[Metric, Judgement]:
    judgements = await together(*(check.judge(sample) for check in checks))
    return {check.metric: judgement for check, judgement in zip(checks, judgements, strict=True)}


def metric_versions() -> tuple[str, ...]:
    """Every metric of a row with its version, for the record of a run."""
    return (f"{SyntaxCheck.name}@{SyntaxCheck.version}", *(check.versioned_name() for check in JUDGED_CHECKS))


async def gate(sample: Sample, parser: Parser) -> Examination:
    """What the parser says of every code block of `sample`. Raises EvaluationAbortedError when it cannot be asked."""
    examination = await SyntaxCheck(parser).examine(sample)
    if examination.outage is not None:
        raise EvaluationAbortedError(
            GATE_DOWN,
            endpoint=examination.outage.endpoint,
            remedy="start the parser again (`assay doctor` shows what is missing), then `assay resume`",
        ) from examination.outage
    return examination


def _noncommittal(relevancy: Judgement) -> bool | None:
    findings = relevancy.findings
    return all(finding.value == 1 for finding in findings) if findings else None


@dataclass(frozen=True)
class _Entry:
    """Everything that is known of one question at the end of one run."""

    question: GoldenQuestion
    given: Answer
    examination: Examination
    judged: Mapping[Metric, Judgement]
    judged_again: tuple[Mapping[Metric, Judgement], ...]


def _row(entry: _Entry, *, suite: str, run: int, elapsed_s: float) -> JudgedRow:
    question, given, examination = entry.question, entry.given, entry.examination
    return JudgedRow(
        id=question.id,
        suite=suite,
        run=run,
        type=question.type,
        language=question.language,
        answerable=question.answerable,
        question=question.question,
        reference=question.ground_truth,
        gold_passages=question.gold_passages,
        constructs=question.constructs,
        query=given.query,
        passages=given.passages,
        few_shots=given.few_shots,
        answer=given.text,
        answer_stop=given.stop,
        answer_fault=given.fault,
        message_id=given.message_id,
        blocks=examination.blocks,
        syntax=examination.validity,
        category=examination.category,
        scores=final_scores(entry.judged, examination.validity),
        judged_again=tuple(final_scores(judged, examination.validity) for judged in entry.judged_again),
        noncommittal=_noncommittal(entry.judged[Metric.ANSWER_RELEVANCY]),
        calls=given.calls + tuple(_calls(entry.judged, *entry.judged_again)),
        elapsed_s=elapsed_s,
    )


def _calls(*judgings: Mapping[Metric, Judgement]) -> Iterator[Call]:
    return (call for judged in judgings for judgement in judged.values() for call in judgement.calls)
