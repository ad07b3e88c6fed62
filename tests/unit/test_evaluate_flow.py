"""A question through the whole flow: the gate before every judge, the override, and what ends a run or a row."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from evaluation_fakes import (
    CLEAN_JUDGE,
    EXAMPLES,
    PASSAGES,
    FixedIndex,
    Script,
    ScriptedLlm,
    ScriptedParser,
    completion,
    ports,
    questions,
)

from core.errors import (
    AssayError,
    BudgetExhausted,
    EmbedderUnavailable,
    EvaluationAbortedError,
    IndexUnavailable,
    LlmRefused,
    LlmUnavailable,
    ParserRefused,
)
from core.flows.answer import EvaluationSettings
from core.flows.concurrency import bounded, together
from core.flows.evaluate import evaluate, judge_question, metric_versions
from core.model.judged import BlockKind, JudgedRow, Metric, UnscoredReason
from core.model.prompt import Completion, Prompt, StopReason
from core.model.record import FewShotStatus
from core.model.retrieval import RetrievalMode
from core.model.sample import GoldenQuestion, QueryType
from core.model.specs import FewShotSpec, ModelSpec, Provider, RetrievalSpec
from core.model.syntax import Category, ParseResult, Validity
from core.ports import Ports

SETTINGS = EvaluationSettings(
    suite="main",
    generator=ModelSpec(provider=Provider.REHEARSAL, model="gen-2026-01-01"),
    judge=ModelSpec(provider=Provider.REHEARSAL, model="judge-2026-01-01"),
    retrieval=RetrievalSpec(mode=RetrievalMode.BM25_ONLY, k=2),
    few_shot=FewShotSpec(pool="examples", k=3),
)
VALID_ANSWER = "Use this:\n```avap\naddVar(x, 1)\n```"
INVALID_ANSWER = "Use this:\n```avap\nBAD\n```"


def question(number: int = 1, kind: QueryType = QueryType.CODE_GENERATION) -> GoldenQuestion:
    return GoldenQuestion(
        id=f"GD-C-{number:03}",
        type=kind,
        language="en",
        question=f"how do I add variable number {number}?",
        ground_truth="with addVar",
        gold_passages=("reference/loops#range",),
        constructs=("addVar",),
    )


class World:
    """Ports over one shared log."""

    def __init__(
        self, answer: Any = VALID_ANSWER, *, down: bool = False, judge: dict[str, Script] | None = None
    ) -> None:
        self.log: list[str] = []
        scripts: dict[str, Script] = {
            "reformulate": lambda _: "add variable\n in AVAP ",
            "answer": answer if callable(answer) else lambda _: answer,
        }
        self.generator = ScriptedLlm(scripts, self.log)
        self.judge = ScriptedLlm({**CLEAN_JUDGE, **(judge or {})}, self.log)
        self.parser = ScriptedParser(down, self.log)
        self.examples = FixedIndex(EXAMPLES)
        self.ports: Ports = ports(self.generator, self.judge, self.parser, self.examples)

    async def row(self, asked: GoldenQuestion | None = None, run: int = 2, **changed: Any) -> JudgedRow:
        settings = SETTINGS.model_copy(update=changed)
        return await judge_question(asked or question(), run=run, settings=settings, ports=self.ports)


async def drain(source: AsyncIterator[Any], into: list[Any]) -> None:
    """Keep what `source` gave even if it fails."""
    async for item in source:
        into += [item]


async def test_a_row_holds_all_that_it_stands_on() -> None:
    world = World()
    row = await world.row()
    assert (row.id, row.suite, row.run, row.type) == ("GD-C-001", "main", 2, QueryType.CODE_GENERATION)
    assert row.query == "add variable in AVAP"
    assert row.passages == PASSAGES[:2]
    assert row.answer == VALID_ANSWER
    assert (row.syntax, row.category) == (Validity.VALID, None)
    assert row.noncommittal is False
    assert [call.prompt for call in row.calls] == [
        "reformulate@1",
        "answer@1",
        "judge.statements@1",
        "judge.support@1",
        "judge.questions@1",
        "judge.statements@1",
        "judge.attribution@1",
        "judge.usefulness@1",
    ]
    assert row.message_id == row.calls[1].message_id
    assert all(score.final == score.raw is not None for _, score in row.scores.items())
    assert JudgedRow.model_validate_json(row.model_dump_json()) == row


async def test_search_and_examples_are_asked_as_configured() -> None:
    world = World()
    row = await world.row()
    assert isinstance(world.ports.index, FixedIndex)
    (query,) = world.ports.index.queries
    assert (query.text, query.mode, query.k) == ("add variable in AVAP", RetrievalMode.BM25_ONLY, 2)
    (query,) = world.examples.queries
    assert (query.text, query.mode, query.k) == ("add variable in AVAP", RetrievalMode.KNN_ONLY, 3)
    assert row.few_shots.status is FewShotStatus.OK
    assert row.few_shots.ids == ("ex-0", "ex-1", "ex-2")
    assert (row.few_shots.k_effective, row.few_shots.k_configured) == (3, 3)


async def test_every_request_but_the_reference_statements_carries_the_run() -> None:
    world = World()
    await world.row(run=5)
    assert [prompt.repeat for prompt in world.generator.prompts] == [5, 5]
    assert sorted(prompt.repeat for prompt in world.judge.prompts) == [0, 5, 5, 5, 5, 5]


async def test_the_parser_is_asked_before_any_judge() -> None:
    world = World("```avap\na\n```\n```avap\nb\n```")
    await world.row()
    assert world.log[:4] == ["reformulate", "answer", "parse", "parse"]
    assert all(entry.startswith("judge.") for entry in world.log[4:])


async def test_an_invalid_answer_scores_zero_where_the_gate_says_and_keeps_its_raw_scores() -> None:
    row = await World(INVALID_ANSWER).row()
    assert (row.syntax, row.category) == (Validity.INVALID, Category.FOREIGN_KEYWORD)
    scores = row.scores
    assert (scores.faithfulness.raw, scores.faithfulness.final) == (1.0, 0.0)
    assert scores.answer_relevancy.final == 0.0
    assert scores.answer_relevancy.raw is not None
    assert scores.answer_relevancy.raw > 0
    assert scores.context_recall.final == scores.context_recall.raw == 1.0
    assert scores.context_precision.final == scores.context_precision.raw
    raws = [scores[metric].raw or 0.0 for metric in list(Metric)[:4]]
    assert scores.global_score.raw == pytest.approx(sum(raws) / 4)
    assert scores.global_score.final == pytest.approx(sum(raws[2:]) / 4)


async def test_an_invalid_answer_scores_zero_even_if_the_judge_said_nothing_usable() -> None:
    row = await World(INVALID_ANSWER, judge={"judge.support": lambda _: "?"}).row()
    assert (row.scores.faithfulness.raw, row.scores.faithfulness.final) == (None, 0.0)
    assert row.scores.faithfulness.reason is UnscoredReason.MALFORMED
    assert row.scores.global_score.raw is None
    assert row.scores.global_score.final is not None


async def test_a_part_without_score_leaves_the_global_score_without_one() -> None:
    row = await World(judge={"judge.usefulness": lambda _: "?"}).row()
    assert row.scores.context_precision.final is None
    score = row.scores.global_score
    assert (score.raw, score.final, score.reason) == (None, None, UnscoredReason.PART_UNSCORED)
    assert score.detail == "unscored: context_precision"
    assert row.scores.faithfulness.final == 1.0


async def test_without_a_parser_nothing_is_judged() -> None:
    world = World(down=True)
    with pytest.raises(EvaluationAbortedError) as raised:
        await world.row()
    assert str(raised.value) == "AVAP Parser unreachable. MSVL cannot be bypassed."
    assert raised.value.exit_code == 5
    assert raised.value.endpoint == "127.0.0.1:1"
    assert raised.value.remedy
    assert world.log == ["reformulate", "answer", "parse"]


async def test_an_answer_without_code_has_no_syntax_verdict_and_is_judged() -> None:
    world = World("Just prose.", down=True)
    row = await world.row()
    assert (row.syntax, row.blocks, world.parser.parsed) == (None, (), [])
    assert row.scores.global_score.final is not None


async def test_foreign_blocks_are_recorded_and_not_parsed() -> None:
    world = World("```go\nBAD\n```")
    row = await world.row()
    assert row.syntax is None
    assert [(block.kind, block.label) for block in row.blocks] == [(BlockKind.FOREIGN, "go")]
    assert world.parser.parsed == []


async def test_a_parser_that_refuses_ends_the_run_without_judging() -> None:
    class Refusing(ScriptedParser):
        async def parse(self, code: str) -> ParseResult:
            raise ParserRefused("version changed")

    world = World()
    world.ports = replace(world.ports, parser=Refusing())
    with pytest.raises(ParserRefused):
        await world.row()
    assert world.judge.prompts == []


@pytest.mark.parametrize("error", [IndexUnavailable("gone"), EmbedderUnavailable("gone")])
async def test_a_failing_pool_degrades_the_row_and_the_run_goes_on(error: AssayError) -> None:
    world = World()
    world.examples.error = error
    row = await world.row()
    assert row.few_shots.status is FewShotStatus.DEGRADED
    assert "gone" in row.few_shots.reason
    assert row.few_shots.k_effective == 0
    assert "<examples>" not in world.generator.prompts[1].turns[0].text
    assert row.scores.global_score.final is not None


async def test_an_absent_pool_degrades_and_k_zero_switches_it_off() -> None:
    world = World()
    world.ports = replace(world.ports, examples=None)
    assert (await world.row()).few_shots.status is FewShotStatus.DEGRADED
    off = (await world.row(few_shot=FewShotSpec(k=0))).few_shots
    assert (off.status, off.k_configured) == (FewShotStatus.OFF, 0)


async def test_a_refused_generation_is_data_with_a_reason() -> None:
    row = await World(lambda _: LlmRefused("too long", status=400)).row()
    assert (row.answer, row.message_id, row.answer_stop) == ("", "", StopReason.REFUSAL)
    assert row.answer_fault == "too long"
    assert row.scores.faithfulness.reason is UnscoredReason.NO_ANSWER
    assert row.scores.answer_relevancy.reason is UnscoredReason.NO_ANSWER
    assert row.scores.context_recall.final == 1.0
    assert row.noncommittal is None


@pytest.mark.parametrize("reply", [LlmRefused("no", status=400), "  \n "])
async def test_an_unusable_reformulation_leaves_the_question_as_the_query(reply: Any) -> None:
    world = World()
    world.generator.scripts["reformulate"] = lambda _: reply
    assert (await world.row()).query == question().question


async def test_a_cut_off_answer_goes_through_the_gate_as_it_is() -> None:
    def cut(prompt: Prompt) -> Completion:
        return completion(prompt, "```avap\nBAD", StopReason.MAX_TOKENS)

    row = await World(cut).row()
    assert (row.syntax, row.answer_stop, row.blocks[0].closed) == (Validity.INVALID, StopReason.MAX_TOKENS, False)


async def test_a_declined_question_is_marked() -> None:
    row = await World("Not covered.", judge={"judge.questions": lambda _: questions(1, 1, 1)}).row()
    assert row.noncommittal is True
    assert row.scores.answer_relevancy.final == 0.0


@pytest.mark.parametrize("error", [LlmUnavailable("down"), BudgetExhausted("cap"), LlmRefused("key", status=401)])
@pytest.mark.parametrize("task", ["reformulate", "answer", "judge.support"])
async def test_a_bad_run_is_an_error_of_its_own_type(task: str, error: Exception) -> None:
    world = World()
    llm = world.judge if task.startswith("judge") else world.generator
    llm.scripts[task] = lambda _: error
    with pytest.raises(type(error)) as raised:
        await world.row()
    assert raised.value is error


async def test_metric_names_carry_versions() -> None:
    assert metric_versions() == (
        "syntax@1",
        "faithfulness@1",
        "answer_relevancy@1",
        "context_recall@1",
        "context_precision@1",
    )


async def test_evaluate_skips_what_is_finished_and_yields_the_rest_once() -> None:
    world = World()
    asked = [question(i) for i in range(1, 8)]
    rows = [
        row.id
        async for row in evaluate(
            asked, {"GD-C-002", "GD-C-005"}, run=1, settings=SETTINGS, ports=world.ports, in_flight=3
        )
    ]
    assert sorted(rows) == [f"GD-C-{i:03}" for i in (1, 3, 4, 6, 7)]


async def test_when_the_parser_dies_whole_rows_came_out_and_nothing_was_judged_after() -> None:
    world = World()

    def answer(prompt: Prompt) -> str:
        world.parser.down = "number 3?" in prompt.turns[0].text or world.parser.down
        return VALID_ANSWER

    world.generator.scripts["answer"] = answer
    asked = [question(i) for i in range(1, 6)]
    rows: list[JudgedRow] = []
    with pytest.raises(EvaluationAbortedError):
        await drain(evaluate(asked, (), run=1, settings=SETTINGS, ports=world.ports, in_flight=1), rows)
    assert [row.id for row in rows] == ["GD-C-001", "GD-C-002"]
    assert world.log[-1] == "parse"


async def test_together_raises_the_first_failure_as_itself_and_cancels_the_rest() -> None:
    cancelled = asyncio.Event()

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def fails() -> None:
        raise LlmUnavailable("down")

    with pytest.raises(LlmUnavailable) as raised:
        await together(waits(), fails())
    assert cancelled.is_set()
    assert isinstance(raised.value.__cause__, ExceptionGroup)


async def test_bounded_never_has_more_in_flight_and_cancels_what_the_consumer_leaves() -> None:
    running: set[int] = set()
    most = 0
    gate = asyncio.Event()

    async def body(item: int) -> int:
        nonlocal most
        running.add(item)
        most = max(most, len(running))
        try:
            if item > 2:
                await gate.wait()
            return item
        finally:
            running.discard(item)

    results = bounded(body, range(10), in_flight=3)
    assert [await anext(results) for _ in range(3)] == [0, 1, 2]
    await results.aclose()
    assert running == set()
    assert most <= 3


async def test_bounded_gives_what_is_ready_before_it_fails() -> None:
    async def body(item: int) -> int:
        if item == 1:
            raise BudgetExhausted("cap")
        return item

    seen: list[int] = []
    with pytest.raises(BudgetExhausted):
        await drain(bounded(body, range(5), in_flight=3), seen)
    assert seen == [0, 2]


async def test_cancelling_the_consumer_leaves_no_task_behind() -> None:
    before = asyncio.all_tasks()
    started = asyncio.Event()

    async def body(_: int) -> int:
        started.set()
        await asyncio.Event().wait()
        return 0

    async def consume() -> None:
        async for _ in bounded(body, range(5), in_flight=2):
            pass

    consumer = asyncio.create_task(consume())
    await started.wait()
    consumer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await consumer
    assert asyncio.all_tasks() == before


async def test_bounded_needs_room_for_one() -> None:
    async def body(item: int) -> int:
        return item

    with pytest.raises(ValueError, match="in_flight"):
        await anext(bounded(body, [1], in_flight=0))


def test_a_row_without_a_parser_verdict_cannot_exist() -> None:
    async def make() -> JudgedRow:
        return await World().row()

    data = json.loads(asyncio.run(make()).model_dump_json())
    data["blocks"][0]["result"] = None
    with pytest.raises(ValueError, match="without a parser verdict"):
        JudgedRow.model_validate_json(json.dumps(data))
