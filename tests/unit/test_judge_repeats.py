"""The same answer judged several times: no score moves, no reply is shared, and the judge's own noise is told apart."""

from __future__ import annotations

import json
from typing import Any

import pytest
from evaluation_fakes import (
    CLEAN_JUDGE,
    EXAMPLES,
    FixedIndex,
    Script,
    ScriptedLlm,
    ScriptedParser,
    ids_in,
    ports,
    task_of,
)
from evaluation_rows import question, record, row, scored, unscored

from core.flows.answer import EvaluationSettings
from core.flows.evaluate import JUDGINGS_APART, judge_question
from core.flows.recheck import rejudged
from core.measure.series import suite_rows
from core.measure.spread import variance_splits
from core.measure.summary import Background, summarise
from core.model.judged import JudgedRow, Metric, Scores
from core.model.prompt import Prompt
from core.model.specs import ModelSpec, Provider
from core.model.syntax import ParseResult, Validity

ASKED = question(1)


def wavering(prompt: Prompt) -> str:
    """Supports everything at first, and the first statement alone when asked again."""
    strict = prompt.repeat > JUDGINGS_APART
    items = [
        {"id": int(number), "supported": int(not strict or number == "1"), "reason": ""}
        for number in ids_in(prompt, "statement")
    ]
    return json.dumps({"verdicts": items})


async def judged(repeats: int, run: int = 3, answer: str = "prose") -> tuple[JudgedRow, ScriptedLlm]:
    scripts: dict[str, Script] = {"reformulate": lambda _: "query", "answer": lambda _: answer}
    generator = ScriptedLlm(scripts)
    judge = ScriptedLlm({**CLEAN_JUDGE, "judge.support": wavering})
    model = ModelSpec(provider=Provider.REHEARSAL, model="m-20260101")
    settings = EvaluationSettings(suite="main", generator=model, judge=model, judge_repeats=repeats)
    reached = ports(generator, judge, ScriptedParser(), FixedIndex(EXAMPLES))
    return await judge_question(ASKED, run=run, settings=settings, ports=reached), judge


async def test_once_is_as_it_always_was() -> None:
    found, judge = await judged(1)
    assert found.judged_again == ()
    assert {prompt.repeat for prompt in judge.prompts} == {0, 3}


async def test_judging_again_moves_no_score_and_repeats_no_request() -> None:
    (once, first), (thrice, judge) = await judged(1), await judged(3)
    assert thrice.scores == once.scores
    assert [scores.faithfulness.final for scores in (thrice.scores, *thrice.judged_again)] == [1.0, 0.5, 0.5]
    assert {prompt.repeat for prompt in judge.prompts} == {0, 3, 3 + JUDGINGS_APART, 3 + 2 * JUDGINGS_APART}
    own = [prompt for prompt in judge.prompts if prompt.repeat]
    assert len({prompt.model_dump_json() for prompt in own}) == len(own)
    assert {prompt.model_dump_json() for prompt in first.prompts} <= {p.model_dump_json() for p in judge.prompts}


async def test_every_judging_is_paid_for_and_counted() -> None:
    (once, _), (twice, judge) = await judged(1), await judged(2)
    assert len([call for call in twice.calls if call.role == "judge"]) == len(judge.prompts)
    assert [task_of(prompt) for prompt in judge.prompts if prompt.repeat == 0] == ["judge.statements"] * 2
    generated, of_the_reference = 2, 1
    kept = generated + of_the_reference
    assert len({call.key for call in twice.calls}) == 2 * len({call.key for call in once.calls}) - kept


async def test_the_gate_holds_for_every_judging() -> None:
    found, _ = await judged(2, answer="```avap\nBAD\n```")
    assert [scores.faithfulness.final for scores in (found.scores, *found.judged_again)] == [0.0, 0.0]
    assert found.judged_again[0].faithfulness.raw == 0.5
    valid = ParseResult(verdict=Validity.VALID, parser_version="2")
    assert rejudged(found, lambda _row, _code: valid).judged_again[0].faithfulness.final == 0.5


def scores(value: float | None) -> Scores:
    each = unscored() if value is None else scored(value)
    return Scores(**{metric.value: each for metric in Metric})


def report_rows(values: dict[tuple[int, int], list[float]]) -> list[JudgedRow]:
    return [
        row(question(number), run, value=first, judged_again=tuple(map(scores, others)))
        for (number, run), (first, *others) in values.items()
    ]


def split(values: dict[tuple[int, int], list[float]]) -> Any:
    asked = [question(number) for number in sorted({number for number, _ in values})]
    report = summarise(report_rows(values), Background(record=record(), questions=asked))
    return {each.metric: each for each in report.suites[0].variance}[Metric.FAITHFULNESS]


def test_a_judge_that_wavers_is_told_from_answers_that_do() -> None:
    waver = split({(q, r): [0.2 * q, 0.2 * q + 0.1] for q in (1, 2, 3, 4) for r in (1, 2)})
    assert waver.judge == pytest.approx(0.005)
    assert waver.run == pytest.approx(0.0)
    assert waver.question > 0.05
    steady = split({(q, r): [0.2 * q + 0.1 * r] * 2 for q in (1, 2, 3, 4) for r in (1, 2)})
    assert steady.judge == pytest.approx(0.0, abs=1e-12)
    assert steady.run == pytest.approx(0.005)
    assert (steady.n_questions, steady.runs, steady.judgings) == (4, 2, 2)


def test_judged_once_there_is_nothing_to_split() -> None:
    suite = suite_rows([row(ASKED, 1), row(ASKED, 2)], suite="main", questions=[ASKED], runs=2)
    assert variance_splits(suite) == ()


def test_unscored_judgings_are_left_out() -> None:
    rows = [
        row(question(number), run, value=0.2 * number, judged_again=(scores(None if run == 1 else 0.2 * number + 0.1),))
        for number in (1, 2, 3)
        for run in (1, 2)
    ]
    suite = suite_rows(rows, suite="main", questions=[question(n) for n in (1, 2, 3)], runs=2)
    found = variance_splits(suite)[0]
    assert found.judge == pytest.approx(0.005)
    assert found.n_questions == 3
