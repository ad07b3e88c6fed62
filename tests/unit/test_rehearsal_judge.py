"""Verdicts of the rehearsal judge, read back by the flow's own strict reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from core.checks.instruction import Instruction
from core.checks.replies import ReplyItem
from core.checks.rubrics import ATTRIBUTION, QUESTIONS, STATEMENTS, SUPPORT, USEFULNESS
from core.checks.sections import context, section, statement_list
from core.model.sample import Passage
from core.model.specs import ModelSpec, Provider
from core.serving.rehearsal.composing import compose
from core.serving.rehearsal.language import NOT_COVERED, Language
from core.serving.rehearsal.protocol import parse

MODEL = ModelSpec(provider=Provider.REHEARSAL, model="rehearsal-test-1")
HEADERS: Mapping[str, str] = {"x-api-key": "k", "anthropic-version": "2026-10-21"}

LOOPS = "A loop begins with `startLoop(i, from, to)` and ends with `endLoop()`. Both bounds are inclusive."
DIGESTS = """`encodeSHA256(x, target)` computes the digest of a text.

```avap
encodeSHA256(a, b)
addResult(b)
```"""
PASSAGES = (Passage(id="a", text=LOOPS), Passage(id="b", text=DIGESTS))
ANSWER = """The loop is inclusive at both bounds. It ends with `endLoop()`.

For instance:

```avap
startLoop(i, 1, 3)
    addResult(i)
endLoop()
```"""


def judge(instruction: Instruction, *sections: str, expected: list[str] | None = None) -> tuple[ReplyItem, ...]:
    prompt = instruction.prompt(MODEL, *sections, repeat=0)
    body: dict[str, Any] = {
        "model": prompt.model,
        "max_tokens": prompt.max_tokens,
        "system": prompt.system,
        "messages": [{"role": turn.role.value, "content": turn.text} for turn in prompt.turns],
        "output_config": {"format": {"type": "json_schema", "schema": prompt.output_schema}},
    }
    reply = compose(parse(orjson.dumps(body), HEADERS, seed=0), {}).reply.text
    assert instruction.shape is not None
    return instruction.shape.read(reply, expected)


def support(*statements: str, passages: tuple[Passage, ...] = PASSAGES) -> list[int]:
    expected = [str(i) for i in range(1, len(statements) + 1)]
    found = judge(SUPPORT, context(passages), statement_list(statements), expected=expected)
    return [item.value for item in found]


def test_statements_are_the_sentences_and_one_claim_per_program() -> None:
    claims = judge(STATEMENTS, section("question", "?"), section("answer", ANSWER))
    assert [claim.text for claim in claims] == [
        "The loop is inclusive at both bounds.",
        "It ends with `endLoop()`.",
        "The code calls startLoop, addResult.",
    ]


@pytest.mark.parametrize("language", Language)
def test_a_refusal_claims_nothing_and_is_noncommittal(language: Language) -> None:
    refusal = section("answer", NOT_COVERED[language])
    assert judge(STATEMENTS, section("question", "?"), refusal) == ()
    assert [item.value for item in judge(QUESTIONS, refusal)] == [1, 1, 1]


def test_copied_sentences_are_supported_and_foreign_ones_are_not() -> None:
    assert support(
        "Both bounds are inclusive.",
        "A loop begins with `startLoop(i, from, to)` and ends with `endLoop()`.",
        "Kafka brokers replicate their partitions.",
        "Loops run on a goroutine scheduler with channels.",
    ) == [1, 1, 0, 0]


def test_spanish_claims_are_held_against_english_passages() -> None:
    assert support("El bucle empieza con `startLoop`.", "La función lanza un hilo con prioridad alta.") == [1, 0]


def test_claims_about_code_need_the_names_in_the_context() -> None:
    assert support("The code calls encodeSHA256, addResult.", "El código llama a main, Println.") == [1, 0]


def test_nothing_is_supported_by_an_empty_context() -> None:
    assert support("Both bounds are inclusive.", passages=()) == [0]


def test_attribution_reads_like_support() -> None:
    statements = statement_list(["The digest of a text is computed by encodeSHA256.", "It rains."])
    found = judge(ATTRIBUTION, context(PASSAGES), statements, expected=["1", "2"])
    assert [item.value for item in found] == [1, 0]


def test_usefulness_names_the_passages_that_hold_the_reference() -> None:
    found = judge(
        USEFULNESS, section("question", "How do loops end?"), section("reference", "A loop ends with `endLoop()`."),
        context(PASSAGES), expected=["P1", "P2"],
    )  # fmt: skip
    assert [item.value for item in found] == [1, 0]


def test_questions_are_three_committed_ones_about_code_and_claims() -> None:
    found = judge(QUESTIONS, section("answer", ANSWER))
    assert [item.value for item in found] == [0, 0, 0]
    assert found[0].text == "How do you write an AVAP program that calls startLoop, addResult?"
    assert "the loop is inclusive at both bounds" in found[1].text
    assert "it ends with `endLoop()`" in found[2].text


def test_spanish_answers_get_spanish_questions() -> None:
    found = judge(QUESTIONS, section("answer", "El bucle `startLoop` recorre la lista."))
    assert all(item.text.startswith("¿") and "recorre la lista" in item.text for item in found)
    assert len({item.text for item in found}) == 3


def test_an_answer_without_words_still_gets_three_questions() -> None:
    assert len(judge(QUESTIONS, section("answer", "..."))) == 3
