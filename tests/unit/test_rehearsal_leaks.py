"""Planted leaks of the rehearsal model: at their shares, from where they say, and none unless asked for."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from core.adapters.domain import load_examples
from core.adapters.languages import load_vocabulary, vocabulary_ids
from core.adapters.rehearsal import arguments
from core.avap import check
from core.checks.blocks import code_blocks
from core.errors import ConfigError
from core.flows.prompts import answer_prompt, unaided_prompt
from core.measure.leakage.copies import originals
from core.measure.leakage.words import tokens
from core.model.prompt import Prompt
from core.model.sample import GoldenQuestion, Passage, QueryType
from core.model.specs import Fault, LeakSpec, ModelSpec, Provider, RehearsalSpec, RuntimeSpec
from core.model.syntax import Dialect, Validity
from core.serving.rehearsal.composing import Composed, compose
from core.serving.rehearsal.protocol import parse
from core.serving.rehearsal.remembered import PROGRAMS
from core.serving.rehearsal.settings import read_leaks

MODEL = ModelSpec(provider=Provider.REHEARSAL, model="rehearsal-test-1")
HEADERS = {"x-api-key": "any", "anthropic-version": "2026-10-21"}
SHOWN = "addVar(total, 0)\nstartLoop(i, 1, 5)\n    total = total + i\nendLoop()\naddResult(total)"
MANUAL = Passage(id="manual", text=f"A loop from a lower to an upper bound sums up numbers.\n\n```avap\n{SHOWN}\n```")
EXAMPLES = tuple(
    Passage(id=f"FS-{n}", text="A loop that sums up.", code=f"startLoop(k, 1, {n})\nendLoop()\naddResult(k)")
    for n in (7, 8)
)


def question(number: int) -> GoldenQuestion:
    return GoldenQuestion(
        id=f"Q-{number}",
        type=QueryType.CODE_GENERATION,
        language="en",
        question=f"Write loop number {number} that sums up numbers.",
        ground_truth="",
    )


def replied(prompt: Prompt, leaks: LeakSpec) -> Composed:
    body = {
        "model": prompt.model,
        "max_tokens": prompt.max_tokens,
        "system": prompt.system,
        "messages": [{"role": "user", "content": turn.text} for turn in prompt.turns],
    }
    return compose(parse(orjson.dumps(body), HEADERS, seed=406), {}, leaks)


def programs(leaks: LeakSpec, *, documents: tuple[Passage, ...], examples: tuple[Passage, ...]) -> list[str]:
    """The programs of 100 answers; an empty text where there is none."""
    found = []
    for number in range(100):
        asked = question(number)
        prompt = (
            answer_prompt(asked, documents, examples, MODEL, repeat=0)
            if documents
            else unaided_prompt(asked, examples, MODEL, repeat=0)
        )
        blocks = code_blocks(replied(prompt, leaks).reply.text, asked.type)
        found.append(blocks[0].code.strip() if blocks else "")
    return found


def is_valid(code: str, vocabulary: str = "lrm-2026.04") -> bool:
    return check(code, load_vocabulary(vocabulary), Dialect.STRICT).verdict is Validity.VALID


@pytest.mark.parametrize("documents", [(MANUAL,), ()])
def test_the_nearest_example_is_copied_at_its_share(documents: tuple[Passage, ...]) -> None:
    found = programs(LeakSpec(few_shot_copy=0.4), documents=documents, examples=EXAMPLES)
    assert 28 <= found.count(EXAMPLES[0].code) <= 52
    assert EXAMPLES[1].code not in found, "of the others none"


def test_a_share_of_zero_copies_no_example_and_no_share_leaves_the_choice_free() -> None:
    none = programs(LeakSpec(few_shot_copy=0.0), documents=(MANUAL,), examples=EXAMPLES)
    assert set(none) == {SHOWN}
    free = programs(LeakSpec(), documents=(MANUAL,), examples=EXAMPLES)
    assert {EXAMPLES[0].code, EXAMPLES[1].code} & set(free)


def test_without_documents_an_honest_model_declines_or_guesses_wrong() -> None:
    found = programs(LeakSpec(), documents=(), examples=EXAMPLES)
    guesses = [code for code in found if code]
    assert 30 <= len(guesses) <= 70
    assert not any(map(is_valid, guesses))


def test_a_guess_is_told_like_any_spoiled_reply() -> None:
    told = [replied(unaided_prompt(question(n), (), MODEL, repeat=0), LeakSpec()) for n in range(20)]
    for composed in told:
        assert ("```avap" in composed.reply.text) == (composed.fault is not None)
        assert composed.fault is None or composed.fault.fault is Fault.FOREIGN_LANGUAGE


def test_what_is_remembered_comes_at_its_share_and_is_correct() -> None:
    found = programs(LeakSpec(memorised=0.5), documents=(), examples=())
    remembered = [code for code in found if code in PROGRAMS]
    assert 38 <= len(remembered) <= 62
    assert len(set(remembered)) > 3


@pytest.mark.parametrize("vocabulary", vocabulary_ids())
def test_what_is_remembered_is_valid_under_every_vocabulary(vocabulary: str) -> None:
    assert all(is_valid(program, vocabulary) for program in PROGRAMS)


def test_what_is_remembered_stands_in_no_example(configs: Path) -> None:
    folder = configs / "domains" / "avap" / "examples"
    pool = originals({e.id: tokens(e.code) for e in load_examples(folder)}, 8)
    nearest = [pool.nearest(tokens(program)) for program in PROGRAMS]
    assert all(found is None or found[1] < 0.8 for found in nearest)


def test_a_child_is_told_its_leaks() -> None:
    spec = RehearsalSpec(leaks=LeakSpec(few_shot_copy=0.25))
    given = arguments(spec, RuntimeSpec(), truth=Path("truth.jsonl"))
    assert read_leaks(given[given.index("--leaks") + 1]) == spec.leaks


@pytest.mark.parametrize("text", ['{"few_shot_copy": 2}', '{"hearsay": 0.1}', "[]", '{"memorised": null}'])
def test_leaks_that_cannot_be_are_refused_by_name(text: str) -> None:
    with pytest.raises(ConfigError, match="--leaks"):
        read_leaks(text)
