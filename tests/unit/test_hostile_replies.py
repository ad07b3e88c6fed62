"""Models that say anything: rows stay whole, numbers are earned, and nothing escapes its tag."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from evaluation_fakes import CLEAN_JUDGE, EXAMPLES, PASSAGES, FixedIndex, Script, ScriptedLlm, ScriptedParser, ports
from evaluation_rows import question
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.checks.blocks import code_blocks
from core.checks.replies import IdKind, ReplyFault, ReplyShape
from core.checks.rubrics import RUBRICS
from core.checks.sections import TAGS, context, section, statement_list
from core.flows.answer import EvaluationSettings
from core.flows.evaluate import judge_question
from core.model.judged import BlockKind, JudgedRow, Metric, UnscoredReason
from core.model.sample import QueryType
from core.model.specs import FewShotSpec, ModelSpec, Provider, RetrievalSpec
from core.model.syntax import Validity

MODEL = ModelSpec(provider=Provider.REHEARSAL, model="m-2026-01-01")
SETTINGS = EvaluationSettings(
    suite="main", generator=MODEL, judge=MODEL, retrieval=RetrievalSpec(k=2), few_shot=FewShotSpec(pool="p", k=2)
)
TEXT = st.text(st.characters(codec="utf-8"), max_size=80)


def evaluated(
    answer: str, judge: dict[str, Script] | None = None, query: str = "query"
) -> tuple[JudgedRow, ScriptedParser]:
    """One question whose models say this."""
    generator = ScriptedLlm({"reformulate": lambda _: query, "answer": lambda _: answer})
    parser = ScriptedParser()
    world = ports(generator, ScriptedLlm({**CLEAN_JUDGE, **(judge or {})}), parser, FixedIndex(EXAMPLES))
    row = asyncio.run(judge_question(question(1), run=1, settings=SETTINGS, ports=world))
    return row, parser


def is_whole(row: JudgedRow) -> None:
    """Every metric is a number in its range or has a reason, and the row survives its journal."""
    for metric, score in row.scores.items():
        assert (score.raw is None) == (score.reason is not None), metric
        assert score.raw is None or -1.0 <= score.raw <= 1.0
    assert JudgedRow.model_validate_json(row.model_dump_json()) == row
    assert "\n" not in row.model_dump_json(), "a row is one line"


numbers = st.one_of(st.integers(-2, 5), st.booleans(), st.none(), st.floats(allow_nan=False), st.text(max_size=3))
NAMES = ("id", "text", "supported", "attributed", "useful", "question", "noncommittal", "reason", "more")
items = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, numbers))
replies = st.one_of(
    TEXT,
    st.builds(json.dumps, st.dictionaries(st.sampled_from(["statements", "verdicts", "questions"]), st.lists(items))),
    st.builds(json.dumps, st.recursive(numbers, st.lists)),
    st.sampled_from(
        ["", "{}", "[]", "null", "NaN", '{"verdicts": NaN}', "```json\n{}\n```", "[" * 5000, '{"a":' * 5000]
    ),
)


class TestJudges:
    @settings(max_examples=60, deadline=None)
    @given(st.sampled_from(sorted(CLEAN_JUDGE)), replies)
    def test_no_reply_of_a_judge_makes_up_a_score(self, task: str, reply: str) -> None:
        row, _ = evaluated("Fine.", {task: lambda _: reply})
        is_whole(row)
        hit = {
            "judge.statements": (Metric.FAITHFULNESS, Metric.CONTEXT_RECALL),
            "judge.support": (Metric.FAITHFULNESS,),
            "judge.questions": (Metric.ANSWER_RELEVANCY,),
            "judge.attribution": (Metric.CONTEXT_RECALL,),
            "judge.usefulness": (Metric.CONTEXT_PRECISION,),
        }[task]
        for metric in Metric:
            score = row.scores[metric]
            if metric in hit:
                expected = {None, UnscoredReason.MALFORMED, UnscoredReason.NO_STATEMENTS, UnscoredReason.UNDEFINED}
                assert score.reason in expected
            elif metric is not Metric.GLOBAL:
                assert score.reason is None, "one bad reply spoils its own metric alone"

    def test_the_complaint_of_a_second_request_is_short_whatever_the_reply(self) -> None:
        asked: list[str] = []

        def judge(prompt: Any) -> str:
            asked.append(prompt.turns[-1].text)
            ids = ["P1", "P2", *(f"P{n}" * 50 for n in range(500))]
            return json.dumps({"verdicts": [{"id": id_, "useful": 1, "reason": "x"} for id_ in ids]})

        row, _ = evaluated("Fine.", {"judge.usefulness": judge})
        assert len(asked) == 2
        assert len(asked[1]) < 2_000
        assert len(row.scores.context_precision.detail) < 2_000

    @given(replies)
    @example('{"verdicts": [{"id": 1, "supported": 1, "reason": "a"}, {"id": 1, "supported": 0, "reason": "b"}]}')
    @example('{"verdicts": [{"id": 1.0, "supported": 1, "reason": "a"}]}')
    @example('{"verdicts": [{"id": true, "supported": 1, "reason": "a"}]}')
    @example('{"verdicts": [{"id": 1, "supported": true, "reason": "a"}]}')
    @example('{"verdicts": [{"id": 1, "supported": 1, "reason": "\\ud800"}]}')
    @example('{"verdicts": [{"id": 1, "supported": 1, "reason": "a"}]} and more')
    def test_a_reader_takes_what_it_asked_for_or_says_what_is_wrong(self, reply: str) -> None:
        shape = ReplyShape(items="verdicts", value="supported", reason="reason")
        try:
            [item] = shape.read(reply, ["1"])
        except ReplyFault as fault:
            said = str(fault)
            said.encode()
            assert said
        else:
            assert (item.id, item.value in (0, 1)) == ("1", True)

    @given(st.lists(st.tuples(TEXT, st.integers(0, 1)), max_size=5))
    def test_a_reader_gives_back_what_was_written_in_the_order_asked(self, said: list[tuple[str, int]]) -> None:
        shape = ReplyShape(items="verdicts", ids=IdKind.NAME, value="useful", reason="reason")
        ids = [f"P{number}" for number in range(1, len(said) + 1)]
        named = [{"id": id_, "useful": bit, "reason": text} for id_, (text, bit) in zip(ids, said, strict=True)]
        read = shape.read(json.dumps({"verdicts": named[::-1]}), ids)
        assert [(item.reason, item.value) for item in read] == said

    def test_every_schema_is_closed_and_says_what_is_required(self) -> None:
        for rubric in RUBRICS:
            assert rubric.shape is not None
            schema = rubric.shape.schema()
            [items_] = schema["properties"].values()
            for level in (schema, items_["items"]):
                assert level["additionalProperties"] is False
                assert level["required"] == list(level["properties"])


pieces = st.lists(
    st.sampled_from(["```avap\n", "```\n", "~~~avap\n", "~~~\n", "````\n", "    ", "> ", "- ", "1. ", "\n",
                     "addVar(x, 1)\n", "BAD\n", "```Go\n",
                      "```md\n", "`", "<!-- ", "-->", "\t", "\r\n", "\u2028", "```avap"]),
    max_size=14,
).map("".join)  # fmt: skip


class TestAnswers:
    @settings(max_examples=60, deadline=None)
    @given(st.one_of(TEXT, pieces))
    def test_any_answer_makes_a_whole_row_and_the_gate_sees_all_code(self, answer: str) -> None:
        row, parser = evaluated(answer)
        is_whole(row)
        code = [block for block in row.blocks if block.kind is BlockKind.CODE]
        assert parser.parsed == [block.code for block in code]
        invalid = any("BAD" in block.code for block in code)
        assert row.syntax is ((Validity.INVALID if invalid else Validity.VALID) if code else None)
        if invalid:
            assert row.scores.faithfulness.final == row.scores.answer_relevancy.final == 0.0
        if not answer.strip():
            assert row.scores.faithfulness.reason is UnscoredReason.NO_ANSWER

    @given(pieces, st.sampled_from(["avap", "AVAP", "avap title=x", "{.avap}", "language-avap"]), pieces)
    def test_a_program_on_its_own_is_found_whatever_stands_before(self, before: str, label: str, after: str) -> None:
        # Only a fence that was left open could swallow it.
        found = code_blocks(f"{before}\n\n", QueryType.RETRIEVAL)
        if any(not block.closed for block in found):
            return
        blocks = code_blocks(f"{before}\n\nProse.\n\n``````{label}\nonlyHere\n``````\n\n{after}", QueryType.RETRIEVAL)
        assert any(block.kind is BlockKind.CODE and block.code == "onlyHere\n" for block in blocks)

    @given(pieces)
    def test_blocks_say_where_they_stand(self, answer: str) -> None:
        lines = re.split(r"\r\n|\r|\n", answer)
        places = [block.line for block in code_blocks(answer, QueryType.CODE_GENERATION)]
        assert places == sorted(places)
        assert all(1 <= line <= len(lines) for line in places)

    @pytest.mark.parametrize(
        "answer",
        [
            "> " * 20_000,
            "- " * 20_000,
            "`" * 100_000,
            "```avap\n" * 5_000,
            "[" * 50_000,
            "    x\n" * 10_000,
            "*" * 50_000,
        ],
        ids=["quotes", "lists", "backticks", "fences", "brackets", "indented", "stars"],
    )
    @pytest.mark.timeout(60)  # ends what is not linear
    def test_a_huge_answer_is_read(self, answer: str) -> None:
        assert all(block.line >= 1 for block in code_blocks(answer, QueryType.CODE_GENERATION))

    def test_an_empty_query_falls_back_to_the_question(self) -> None:
        for query in ("", "  \n ", "\u2003"):
            assert evaluated("Fine.", query=query)[0].query == "question 1"


hostile = st.lists(
    st.sampled_from([*(f"<{tag}>" for tag in TAGS), *(f"</{tag}>" for tag in TAGS),
                     "</ answer >", "<ANSWER", "</Context\n>",
                     "<passage id='P9'>", "<", ">", "\\", "a", " ", "\n", "&lt;/answer&gt;"]),
    max_size=12,
).map("".join)  # fmt: skip


class TestSections:
    @given(hostile, st.sampled_from(TAGS))
    def test_no_text_opens_or_closes_a_tag_of_ours(self, text: str, tag: str) -> None:
        made = section(tag, text)
        tags = re.findall(rf"<\s*/?\s*(?:{'|'.join(TAGS)})\b[^<>]*>", made, re.IGNORECASE)
        assert tags == [f"<{tag}>", f"</{tag}>"]

    @given(hostile)
    def test_disarming_loses_no_character(self, text: str) -> None:
        inside = section("answer", text).removeprefix("<answer>").removesuffix("</answer>")
        assert inside.replace("<\\", "<") == text.replace("<\\", "<")

    @given(st.lists(hostile, max_size=4), hostile)
    def test_lists_hold_as_many_as_were_given(self, texts: list[str], source: str) -> None:
        assert len(re.findall(r"<statement id=\"\d+\">", statement_list(texts))) == len(texts)
        passages = [PASSAGES[0].model_copy(update={"text": text, "source": source}) for text in texts]
        assert len(re.findall(r"<passage ", context(passages))) == len(texts)
        assert context(passages).count("</passage>") == len(texts)
