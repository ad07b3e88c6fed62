"""Prompts: their layout, their digests, and that no text inside them can end its section."""

from __future__ import annotations

import json
import re

import pytest
from evaluation_fakes import EXAMPLES, PASSAGES
from hypothesis import given
from hypothesis import strategies as st

from core.checks.sections import TAGS, context, group
from core.flows.prompts import PROMPTS, answer_prompt, prompt_digests, reformulate_prompt, section
from core.model.prompt import Effort
from core.model.sample import GoldenQuestion, Passage, QueryType
from core.model.specs import ModelSpec, Provider

MODEL = ModelSpec(provider=Provider.REHEARSAL, model="m-2026-01-01", max_tokens=99, effort=Effort.LOW, temperature=0.0)
QUESTION = GoldenQuestion(
    id="GD-C-001",
    type=QueryType.CODE_GENERATION,
    language="es",
    question="¿Cómo hago un bucle?",
    ground_truth="startLoop",
)

pieces = st.lists(
    st.one_of(
        st.sampled_from([f"</{tag}>" for tag in TAGS] + [f"<{tag}>" for tag in TAGS]),
        st.sampled_from(
            ["</ question >", "<\tquestion x='1'>", "</QUESTION>", "<<", "</", ">", "<question", "\\", "<\\/question>"]
        ),
        st.text(max_size=8),
    ),
    max_size=12,
).map("".join)


def any_tag(tag: str) -> re.Pattern[str]:
    return re.compile(rf"<\s*/?\s*{tag}(\s[^<>]*)?/?\s*>", re.IGNORECASE)


@given(st.sampled_from(TAGS), pieces)
def test_a_section_holds_no_tag_but_its_own_two(tag: str, text: str) -> None:
    whole = section(tag, text)
    assert whole.startswith(f"<{tag}>")
    assert whole.endswith(f"</{tag}>")
    inside = whole[len(tag) + 2 : -len(tag) - 3]
    assert [name for name in TAGS if any_tag(name).search(inside)] == []


@given(pieces)
def test_disarming_adds_backslashes_and_nothing_else(text: str) -> None:
    inside = section("answer", text)[len("<answer>") : -len("</answer>")]
    assert inside.replace("\\", "") == text.replace("\\", "")
    assert section("answer", inside) == f"<answer>{inside}</answer>"


@given(pieces, pieces, pieces)
def test_no_passage_can_forge_another_or_the_question(title: str, first: str, second: str) -> None:
    passages = (Passage(id="a", text=first, source=title), Passage(id="b", text=second))
    question = QUESTION.model_copy(update={"question": "the real question"})
    user = answer_prompt(question, passages, (), MODEL, repeat=1).turns[0].text
    assert re.findall(r"<question(?:\s[^>]*)?>(.*?)</question>", user, re.DOTALL) == ["the real question"]
    assert re.findall(r'<passage id="(P\d+)"', user) == ["P1", "P2"]
    assert len(re.findall(r"</passage>", user)) == 2
    assert len(re.findall(r"</context>", user)) == 1


@pytest.mark.parametrize(
    "text", ["if(a<b, c>d)", "a <b> c", "x = `<p>${code}</p>`", "for <codes>", "a < code", "1 < 2"]
)
def test_other_angle_brackets_are_left_alone(text: str) -> None:
    assert section("code", text) == f"<code>{text}</code>"


def test_attributes_are_quoted() -> None:
    assert (
        section("question", "x", language='e"s<>&\n y') == '<question language="e&quot;s&lt;&gt;&amp; y">x</question>'
    )


def test_an_unknown_tag_is_an_error() -> None:
    with pytest.raises(ValueError, match="not among the tags"):
        section("quesiton", "x")


def test_passages_are_named_by_rank_with_their_source() -> None:
    assert context(PASSAGES[:1]) == (
        '<context>\n<passage id="P1" source="loops &gt; range">text about range</passage>\n</context>'
    )
    assert 'source="only-id"' in context([Passage(id="only-id", text="t")])
    assert group("statements", ()) == "<statements>\n\n</statements>"


def test_the_answer_prompt_has_its_sections_in_order() -> None:
    prompt = answer_prompt(QUESTION, PASSAGES, EXAMPLES[:1], MODEL, repeat=2)
    user = prompt.turns[0].text
    places = [user.index(f"<{tag}") for tag in ("route", "context", "examples", "question")]
    assert places == sorted(places)
    assert user.startswith("<route>CODE_GENERATION</route>\n")
    assert (
        '<example id="ex-0">\n<description>description 0</description>\n<code>addVar(x, 0)</code>\n</example>' in user
    )
    assert user.endswith('<question language="es">¿Cómo hago un bucle?</question>')
    assert (prompt.name, prompt.model, prompt.max_tokens, prompt.repeat) == ("answer@1", MODEL.model, 99, 2)
    assert (prompt.effort, prompt.temperature, prompt.output_schema) == (Effort.LOW, 0.0, None)


def test_without_examples_there_is_no_section_for_them() -> None:
    assert "<examples>" not in answer_prompt(QUESTION, PASSAGES, (), MODEL, repeat=1).turns[0].text


def test_every_prompt_names_its_task_on_a_line_of_its_own() -> None:
    for instruction in PROMPTS:
        assert re.findall(r"^<task>(.*)</task>$", instruction.system, re.MULTILINE) == [instruction.task]
    assert reformulate_prompt(QUESTION, MODEL, repeat=1).system.startswith("<task>reformulate</task>\n")


def test_digests_cover_every_prompt_once() -> None:
    digests = prompt_digests()
    assert sorted(digests) == [
        "answer@1",
        "judge.attribution@1",
        "judge.questions@1",
        "judge.statements@1",
        "judge.support@1",
        "judge.usefulness@1",
        "reformulate@1",
    ]
    assert len(set(digests.values())) == len(digests)
    assert all(re.fullmatch(r"[0-9a-f]{64}", sha) for sha in digests.values())


def test_schemas_close_every_object_and_require_every_field() -> None:
    for instruction in PROMPTS:
        if instruction.shape is None:
            continue
        schema = instruction.shape.schema()
        item = schema["properties"][instruction.shape.items]["items"]
        for level in (schema, item):
            assert level["additionalProperties"] is False
            assert level["required"] == list(level["properties"])
        json.dumps(schema)
