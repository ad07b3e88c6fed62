"""One question of the audit: what each arm is sent, what its row says, and no row without the parser's word."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from audited_rows import PROGRAM, asked, said
from evaluation_fakes import EXAMPLES, PASSAGES, FixedIndex, Script, ScriptedLlm, ScriptedParser
from manual_clock import ManualClock

from core.adapters.languages import load_vocabulary
from core.avap import check
from core.checks.blocks import code_blocks
from core.errors import EvaluationAbortedError, LlmRefused
from core.flows.leakage import (
    Audited,
    AuditPorts,
    audit_answer,
    audit_answers,
    distinctive,
    foreign_words,
)
from core.model.leakage import Arm
from core.model.sample import QueryType
from core.model.specs import FewShotSpec, ModelSpec, Provider, RetrievalSpec
from core.model.syntax import Dialect

VOCABULARY = load_vocabulary("lrm-2026.04")
QUESTION = asked(1)


@dataclass
class World:
    generator: ScriptedLlm
    parser: ScriptedParser
    index: FixedIndex
    audited: Audited


def world(answer: str | Exception = "I do not know.", *, down: bool = False) -> World:
    script: dict[str, Script] = {
        "reformulate": lambda _: "loops",
        "answer": lambda _: answer,
        "answer.unaided": lambda _: answer,
    }
    generator, parser, index = ScriptedLlm(script), ScriptedParser(down=down), FixedIndex(PASSAGES)
    audited = Audited(
        suite="main",
        generator=ModelSpec(provider=Provider.REHEARSAL, model="rehearsal-test-1"),
        retrieval=RetrievalSpec(k=2),
        few_shot=FewShotSpec(k=2),
        names=distinctive(VOCABULARY),
        ports=AuditPorts(parser, generator, index, FixedIndex(EXAMPLES), ManualClock()),
    )
    return World(generator, parser, index, audited)


@pytest.mark.parametrize("arm", list(Arm))
async def test_an_arm_shows_what_it_says_and_nothing_else(arm: Arm) -> None:
    there = world()
    row = await audit_answer(QUESTION, arm=arm, run=2, audited=there.audited)
    reformulated, answered = there.generator.prompts
    text = answered.turns[0].text
    assert ("<context>" in text, "<examples>" in text) == (arm.has_documents, arm.has_examples)
    assert (len(row.passages), len(row.examples)) == (2 * arm.has_documents, 2 * arm.has_examples)
    assert bool(there.index.queries) == arm.has_documents, "withheld documents are not even searched for"
    assert ("No documentation is at hand this time" in answered.system) != arm.has_documents
    assert reformulated.repeat == answered.repeat == row.run == 2
    assert (row.arm, row.query) == (arm, "loops")


async def test_all_arms_of_a_run_ask_for_the_same_search_query() -> None:
    asked_for = []
    for arm in Arm:
        there = world()
        await audit_answer(QUESTION, arm=arm, run=1, audited=there.audited)
        asked_for.append(there.generator.prompts[0])
    assert all(prompt == asked_for[0] for prompt in asked_for), "one recorded reply serves them all"


async def test_names_that_the_prompt_does_not_hold_are_unprompted() -> None:
    there = world(said('addParam("a", a)\ngetDateTime("%Y", 0, "UTC", y)\ngo(a)'))
    bare = await audit_answer(QUESTION, arm=Arm.NEITHER, run=1, audited=there.audited)
    assert bare.unprompted == ("addParam", "getDateTime")
    named = QUESTION.model_copy(update={"question": "What does getDateTime do?"})
    assert (await audit_answer(named, arm=Arm.NEITHER, run=1, audited=there.audited)).unprompted == ("addParam",)


async def test_invalid_code_shows_no_knowledge() -> None:
    there = world(said("addParam(BAD)"))
    row = await audit_answer(QUESTION, arm=Arm.NEITHER, run=1, audited=there.audited)
    assert (row.unprompted, there.parser.parsed) == ((), ["addParam(BAD)\n"])


async def test_a_parser_that_is_down_aborts() -> None:
    there = world(said(PROGRAM), down=True)
    rows = audit_answers([QUESTION], (), arm=Arm.BOTH, run=1, audited=there.audited)
    with pytest.raises(EvaluationAbortedError, match="MSVL cannot be bypassed"):
        await anext(rows)


async def test_a_refused_request_is_a_row_with_its_reason() -> None:
    there = world(LlmRefused("too long", status=413))
    row = await audit_answer(QUESTION, arm=Arm.NEITHER, run=1, audited=there.audited)
    assert (row.answer, row.syntax) == ("", None)
    assert "too long" in row.answer_fault


async def test_finished_questions_are_left_out() -> None:
    rows = audit_answers([asked(1), asked(2)], {"Q-01"}, arm=Arm.NEITHER, run=1, audited=world().audited)
    assert [row.id async for row in rows] == ["Q-02"]


def test_distinctive_names_have_a_capital_inside() -> None:
    names = distinctive(VOCABULARY)
    assert {"addParam", "startLoop", "encodeSHA256", "RequestGet"} <= names
    assert not names & {"go", "return", "if", "replace", "end", "str"}


def test_words_of_other_languages_are_counted_by_language() -> None:
    answer = "```avap\nx = 1\nlet roles = [1]\nfmt.Println(x)\n```\n\n```python\nprint(x)\nprint(y)\n```\n"
    blocks = tuple(
        block.model_copy(update={"result": check(block.code, VOCABULARY, Dialect.STRICT)})
        if block.label == "avap"
        else block
        for block in code_blocks(answer, QueryType.RETRIEVAL)
    )
    assert foreign_words(blocks) == {"Go": 3, "JavaScript": 3, "python": 4}
