"""The judged checks: what is asked, what is believed, and that nothing malformed ever becomes a number."""

from __future__ import annotations

import json
from typing import Any

import pytest
from evaluation_fakes import (
    CLEAN_JUDGE,
    PASSAGES,
    CountingEmbedder,
    Reply,
    ScriptedLlm,
    completion,
    ids_in,
    questions,
    statements,
    task_of,
    verdicts,
)

from core.checks.judge import Judge
from core.checks.judged import (
    AnswerRelevancyCheck,
    ContextPrecisionCheck,
    ContextRecallCheck,
    FaithfulnessCheck,
    JudgedCheck,
    Judgement,
)
from core.errors import BudgetExhausted, EmbedderUnavailable, LlmRefused, LlmUnavailable
from core.measure.judged import answer_relevancy, context_precision, context_recall, faithfulness
from core.model.judged import UnscoredReason
from core.model.prompt import Prompt, Role, StopReason
from core.model.sample import Sample
from core.model.specs import ModelSpec, Provider
from core.model.verdict import Outcome

MODEL = ModelSpec(provider=Provider.REHEARSAL, model="judge-2026-01-01", max_tokens=512)
SAMPLE = Sample(
    id="GD-V-001", question="what is a loop?", answer="a loop repeats", passages=PASSAGES, reference="it repeats"
)


def scripted(**replaced: Any) -> ScriptedLlm:
    scripts = {task: replaced.get(task.removeprefix("judge."), script) for task, script in CLEAN_JUDGE.items()}
    return ScriptedLlm(scripts)


def checks(llm: ScriptedLlm, repeat: int = 3) -> dict[str, JudgedCheck]:
    judge = Judge(llm, MODEL, repeat)
    return {
        "faithfulness": FaithfulnessCheck(judge, faithfulness),
        "answer_relevancy": AnswerRelevancyCheck(judge, CountingEmbedder(), answer_relevancy),
        "context_recall": ContextRecallCheck(judge, context_recall),
        "context_precision": ContextPrecisionCheck(judge, context_precision),
    }


async def judged(metric: str, llm: ScriptedLlm, sample: Sample = SAMPLE) -> Judgement:
    return await checks(llm)[metric].judge(sample)


async def test_faithfulness_counts_supported_statements() -> None:
    def support(prompt: Prompt) -> str:
        items = [{"id": i, "supported": int(i != 2), "reason": "r"} for i in (3, 1, 2)]
        return json.dumps({"verdicts": items})

    llm = scripted(statements=lambda _: statements("a", "b", "c"), support=support)
    judgement = await judged("faithfulness", llm)
    assert judgement.raw == pytest.approx(2 / 3)
    assert [(f.id, f.text, f.value) for f in judgement.findings] == [("1", "a", 1), ("2", "b", 0), ("3", "c", 1)]
    assert [call.prompt for call in judgement.calls] == ["judge.statements@1", "judge.support@1"]
    assert {call.role for call in judgement.calls} == {"judge"}


async def test_relevancy_compares_the_question_with_those_written_back() -> None:
    def written(prompt: Prompt) -> str:
        asked = ["what is a loop?", "loop a is what?", "zzz"]
        return json.dumps({"questions": [{"id": i, "question": q, "noncommittal": 0} for i, q in enumerate(asked, 1)]})

    judgement = await judged("answer_relevancy", scripted(questions=written))
    assert judgement.raw == pytest.approx(2 / 3, abs=1e-6)


@pytest.mark.parametrize(("flags", "scored"), [((1, 1, 1), 0.0), ((1, 0, 1), None)])
async def test_relevancy_is_zero_when_every_question_is_noncommittal(
    flags: tuple[int, ...], scored: float | None
) -> None:
    judgement = await judged("answer_relevancy", scripted(questions=lambda _: questions(*flags)))
    assert judgement.raw is not None
    assert judgement.raw == scored if scored is not None else judgement.raw > 0


async def test_recall_attributes_the_statements_of_the_reference() -> None:
    llm = scripted(attribution=lambda prompt: verdicts(prompt, "statement", "attributed", 0))
    judgement = await judged("context_recall", llm)
    assert judgement.raw == 0.0
    assert "it repeats" in llm.prompts[0].turns[0].text


async def test_precision_asks_for_each_passage_by_rank() -> None:
    def useful(prompt: Prompt) -> str:
        assert ids_in(prompt, "passage") == ["P1", "P2", "P3"]
        items = [{"id": f"P{i}", "useful": int(i == 2), "reason": ""} for i in (1, 2, 3)]
        return json.dumps({"verdicts": items})

    judgement = await judged("context_precision", scripted(usefulness=useful))
    assert judgement.raw == pytest.approx(0.5, abs=1e-9)
    assert [finding.text for finding in judgement.findings] == [passage.id for passage in PASSAGES]


async def test_runs_share_no_reply_but_the_statements_of_the_reference() -> None:
    llm = scripted()
    for check in checks(llm, repeat=4).values():
        await check.judge(SAMPLE)
    repeats = [(task_of(prompt), prompt.repeat) for prompt in llm.prompts]
    assert repeats == [
        ("judge.statements", 4),
        ("judge.support", 4),
        ("judge.questions", 4),
        ("judge.statements", 0),
        ("judge.attribution", 4),
        ("judge.usefulness", 4),
    ]


SUPPORT_FAULTS: dict[str, Any] = {
    "not json": "I think all are supported",
    "fenced json": '```json\n{"verdicts": []}\n```',
    "empty": "",
    "cut json": '{"verdicts": [{"id": 1, "supp',
    "list": "[]",
    "null": "null",
    "other key": '{"verdict": []}',
    "extra key": '{"verdicts": [], "note": 1}',
    "not a list": '{"verdicts": {}}',
    "missing id": '{"verdicts": [{"id": 1, "supported": 1, "reason": ""}]}',
    "extra id": json.dumps({"verdicts": [{"id": i, "supported": 1, "reason": ""} for i in (1, 2, 3)]}),
    "repeated id": json.dumps({"verdicts": [{"id": i, "supported": 1, "reason": ""} for i in (1, 2, 2)]}),
    "id as text": json.dumps({"verdicts": [{"id": str(i), "supported": 1, "reason": ""} for i in (1, 2)]}),
    "id as truth": json.dumps({"verdicts": [{"id": i, "supported": 1, "reason": ""} for i in (True, 2)]}),
    "verdict 2": json.dumps({"verdicts": [{"id": i, "supported": i, "reason": ""} for i in (1, 2)]}),
    "verdict true": json.dumps({"verdicts": [{"id": i, "supported": True, "reason": ""} for i in (1, 2)]}),
    "verdict 1.0": json.dumps({"verdicts": [{"id": i, "supported": 1.0, "reason": ""} for i in (1, 2)]}),
    "verdict text": json.dumps({"verdicts": [{"id": i, "supported": "1", "reason": ""} for i in (1, 2)]}),
    "verdict null": json.dumps({"verdicts": [{"id": i, "supported": None, "reason": ""} for i in (1, 2)]}),
    "NaN": '{"verdicts": [{"id": 1, "supported": NaN, "reason": ""}]}',
    "no reason": json.dumps({"verdicts": [{"id": i, "supported": 1} for i in (1, 2)]}),
    "reason number": json.dumps({"verdicts": [{"id": i, "supported": 1, "reason": 3} for i in (1, 2)]}),
    "half a surrogate pair": '{"verdicts": [{"id": 1, "supported": 1, "reason": "\\ud800"}]}',
    "key twice": '{"verdicts": [{"id": 1, "id": 2, "supported": 1, "reason": ""}]}',
    "endless number": '{"verdicts": ' + "9" * 5000 + "}",
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("fault", SUPPORT_FAULTS)
async def test_a_malformed_reply_is_asked_for_once_more_and_then_unscored(fault: str) -> None:
    llm = scripted(support=lambda _: SUPPORT_FAULTS[fault])
    judgement = await judged("faithfulness", llm)
    assert judgement.raw is None
    assert judgement.reason is UnscoredReason.MALFORMED
    assert judgement.detail.startswith("judge.support@1: ")
    assert llm.log == ["judge.statements", "judge.support", "judge.support"]
    assert len(judgement.calls) == 3


async def test_the_second_request_says_what_was_wrong_and_its_reply_counts() -> None:
    replies = iter(['{"verdicts": []}', ""])

    def support(prompt: Prompt) -> str:
        return next(replies) or verdicts(prompt, "statement", "supported")

    llm = scripted(support=support)
    judgement = await judged("faithfulness", llm)
    assert judgement.raw == 1.0
    again = llm.prompts[-1]
    assert [turn.role for turn in again.turns] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert again.turns[0] == llm.prompts[-2].turns[0]
    assert again.turns[1].text == '{"verdicts": []}'
    assert "missing id 1, 2" in again.turns[2].text
    assert again.repeat == llm.prompts[-2].repeat


@pytest.mark.parametrize(
    ("stop", "reason"),
    [(StopReason.MAX_TOKENS, UnscoredReason.TRUNCATED), (StopReason.REFUSAL, UnscoredReason.DECLINED)],
)
async def test_a_cut_off_or_refused_reply_is_unscored_even_if_it_parses(
    stop: StopReason, reason: UnscoredReason
) -> None:
    def support(prompt: Prompt) -> Reply:
        return completion(prompt, verdicts(prompt, "statement", "supported"), stop)

    llm = scripted(support=support)
    judgement = await judged("faithfulness", llm)
    assert (judgement.raw, judgement.reason) == (None, reason)
    assert llm.log.count("judge.support") == 2


@pytest.mark.parametrize("status", [0, 400, 413, 422])
async def test_a_request_that_the_provider_refuses_is_data_about_one_sample(status: int) -> None:
    judgement = await judged("context_precision", scripted(usefulness=lambda _: LlmRefused("no", status=status)))
    assert (judgement.raw, judgement.reason, judgement.detail) == (
        None,
        UnscoredReason.REFUSED,
        "judge.usefulness@1: no",
    )


@pytest.mark.parametrize(
    "error",
    [LlmRefused("key", status=401), LlmRefused("model", status=404), LlmUnavailable("down"), BudgetExhausted("cap")],
)
async def test_what_concerns_the_whole_run_comes_through(error: Exception) -> None:
    with pytest.raises(type(error)):
        await judged("context_precision", scripted(usefulness=lambda _: error))


@pytest.mark.parametrize(
    ("metric", "update", "reason"),
    [
        ("faithfulness", {"answer": "  "}, UnscoredReason.NO_ANSWER),
        ("answer_relevancy", {"answer": ""}, UnscoredReason.NO_ANSWER),
        ("faithfulness", {"passages": ()}, UnscoredReason.NO_PASSAGES),
        ("context_recall", {"passages": ()}, UnscoredReason.NO_PASSAGES),
        ("context_precision", {"passages": ()}, UnscoredReason.NO_PASSAGES),
    ],
)
async def test_where_there_is_nothing_to_judge_nobody_is_asked(
    metric: str, update: dict[str, Any], reason: UnscoredReason
) -> None:
    llm = scripted()
    judgement = await judged(metric, llm, SAMPLE.model_copy(update=update))
    assert (judgement.raw, judgement.reason) == (None, reason)
    assert llm.log == []


@pytest.mark.parametrize("metric", ["faithfulness", "context_recall"])
async def test_no_statements_is_unscored(metric: str) -> None:
    judgement = await judged(metric, scripted(statements=lambda _: statements()))
    assert (judgement.raw, judgement.reason) == (None, UnscoredReason.NO_STATEMENTS)


@pytest.mark.parametrize(
    "reply",
    [statements("a", "  "), '{"statements": [{"id": 2, "text": "a"}]}', '{"statements": [{"id": 1, "text": 1}]}'],
)
async def test_statements_are_numbered_from_1_and_not_blank(reply: str) -> None:
    judgement = await judged("faithfulness", scripted(statements=lambda _: reply))
    assert judgement.reason is UnscoredReason.MALFORMED


@pytest.mark.parametrize("flags", [(0, 0), (0, 0, 0, 0), ()])
async def test_exactly_three_questions_are_wanted(flags: tuple[int, ...]) -> None:
    judgement = await judged("answer_relevancy", scripted(questions=lambda _: questions(*flags)))
    assert judgement.reason is UnscoredReason.MALFORMED


async def test_an_embedding_without_direction_is_unscored() -> None:
    sample = SAMPLE.model_copy(update={"question": "123?"})
    judgement = await judged("answer_relevancy", scripted(), sample)
    assert (judgement.raw, judgement.reason) == (None, UnscoredReason.UNDEFINED)


async def test_as_a_check_it_gives_verdicts() -> None:
    check = checks(scripted())["faithfulness"]
    verdict = await check(SAMPLE)
    assert verdict is not None
    assert (verdict.name, verdict.outcome, verdict.score) == ("faithfulness@1", Outcome.PASS, 1.0)
    check = checks(scripted(support=lambda prompt: verdicts(prompt, "statement", "supported", 0)))["faithfulness"]
    check.floor = 0.35
    assert (await check(SAMPLE)).outcome is Outcome.FAIL
    check = checks(scripted(support=lambda _: "nonsense"))["faithfulness"]
    assert (await check(SAMPLE)).outcome is Outcome.UNKNOWN


async def test_as_a_check_an_absent_dependency_is_unknown() -> None:
    class Away(CountingEmbedder):
        async def embed(self, texts: Any, *, kind: Any) -> Any:
            raise EmbedderUnavailable("not loaded")

    check = AnswerRelevancyCheck(Judge(scripted(), MODEL, 1), Away(), answer_relevancy)
    verdict = await check(SAMPLE)
    assert (verdict.outcome, verdict.score, verdict.reason) == (Outcome.UNKNOWN, None, "not loaded")
