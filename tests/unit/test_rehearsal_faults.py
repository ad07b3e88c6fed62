"""Injected faults: at their rates, told truly, INVALID for the real parser; clean code verbatim and VALID."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from math import sqrt
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.adapters.languages import load_vocabulary, vocabulary_ids
from core.adapters.rehearsal import read_truth
from core.avap import check
from core.errors import ConfigError, StoreError
from core.flows.prompts import answer_prompt
from core.model.calibration import InjectedFault
from core.model.sample import GoldenQuestion, Passage, QueryType
from core.model.specs import Fault, ModelSpec, Provider
from core.model.syntax import Dialect, ParseResult, Validity
from core.serving.rehearsal.composing import Composed, compose
from core.serving.rehearsal.draws import Draws
from core.serving.rehearsal.foreign import PROGRAMS, STRUCTURES
from core.serving.rehearsal.protocol import parse
from core.serving.rehearsal.settings import read_faults, read_trouble
from core.serving.rehearsal.spoiling import INVENTED, INVENTED_LINES, spoil
from core.serving.rehearsal.trouble import Trouble, Troubles
from core.serving.rehearsal.truth import TruthFile

MODEL = ModelSpec(provider=Provider.REHEARSAL, model="rehearsal-test-1")
HEADERS = {"x-api-key": "k", "anthropic-version": "2026-10-21"}
SHARES = {Fault.FOREIGN_LANGUAGE: 0.06, Fault.HALLUCINATED_COMMAND: 0.05, Fault.FOREIGN_STRUCTURE: 0.03}

PROGRAMS_OF_AVAP = (
    'addParam("password", password)\nencodeSHA256(password, digest)\naddResult(digest)',
    "total = 0\nstartLoop(i, 1, 5)\n    total = total + i\nendLoop()\naddResult(total)",
    'try()\n    RequestGet("https://api.example.com", "", "", reply)\nexception(problem)\n    addVar(reply, problem)\n'
    "end()\naddResult(reply)",
    'getDateTime("%Y-%m-%d", 0, "UTC", today)\naddResult(today)',
    "// addParam(x, y) is only mentioned here\n/* addResult(z)\n   while */\nname = \"addResult(in a string)\"",
    'function greet(who){\n    return("hello " + who)\n}\nid = go(greet, "Ana")\nanswer = gather(id, 2000)\n'
    "addResult(answer)",
    'if(None, None, `total > 3 and name != "x"`)\n    _status = 400\nelse()\n    _status = 200\nend()',
    'addVar(query, "SELECT * FROM users")\normDirect(query, rows)\naddResult(rows)',
    'items = [\n    1,\n    2\n]\ngetListLen(items, size)\naddResult(size)',
)  # fmt: skip


@cache
def judged(code: str, vocabulary: str = "lrm-2026.04", dialect: Dialect = Dialect.STRICT) -> ParseResult:
    return check(code, load_vocabulary(vocabulary), dialect)


def reply_to(number: int, shares: Mapping[Fault, float]) -> tuple[Composed, str]:
    """The reply to the `number`th prompt of a series, and the program that the prompt offers."""
    program = PROGRAMS_OF_AVAP[number % len(PROGRAMS_OF_AVAP)]
    passage = Passage(id="p", text=f"Program {number} shows how the task is done.\n\n```avap\n{program}\n```")
    question = GoldenQuestion(
        id="GD-T-001",
        type=QueryType.CODE_GENERATION,
        language="en",
        question=f"How is the task of program {number} done?",
        ground_truth="",
    )
    prompt = answer_prompt(question, (passage,), (), MODEL, repeat=0)
    body = {
        "model": prompt.model,
        "max_tokens": prompt.max_tokens,
        "system": prompt.system,
        "messages": [{"role": "user", "content": turn.text} for turn in prompt.turns],
    }
    return compose(parse(orjson.dumps(body), HEADERS, seed=406), shares), program


def block_of(reply: str) -> str:
    (block,) = re.findall(r"^```avap\n(.*?)\n```$", reply, re.DOTALL | re.MULTILINE)
    return str(block)


def test_the_programs_offered_are_valid() -> None:
    assert [judged(program).diagnostics for program in PROGRAMS_OF_AVAP] == [()] * len(PROGRAMS_OF_AVAP)


def test_faults_come_at_their_rates_and_the_parser_separates_them_from_clean_replies() -> None:
    asked = 1200
    told: Counter[Fault] = Counter()
    for number in range(asked):
        composed, program = reply_to(number, SHARES)
        code = block_of(composed.reply.text)
        if composed.fault is None:
            assert code == program
            assert judged(code).verdict is Validity.VALID
        else:
            told[composed.fault.fault] += 1
            assert composed.fault.code == code
            assert composed.fault.message_id == composed.reply.message_id
            assert judged(code).verdict is Validity.INVALID
    for fault, share in SHARES.items():
        assert abs(told[fault] - asked * share) <= 3.5 * sqrt(asked * share * (1 - share))


def test_a_reply_is_named_by_its_faults_so_that_no_truth_is_held_against_another_suite() -> None:
    clean, spoiled = (
        {reply.reply.message_id: reply.fault for reply, _ in (reply_to(number, shares) for number in range(60))}
        for shares in ({}, SHARES)
    )
    assert not any(clean.values())
    assert any(spoiled.values())
    assert not clean.keys() & spoiled.keys()


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("vocabulary", ["lrm-2026.04", "definitions-2026.03"])
@pytest.mark.parametrize("fault", Fault)
def test_every_fault_is_invalid_under_every_vocabulary_and_dialect(
    fault: Fault, vocabulary: str, dialect: Dialect
) -> None:
    assert vocabulary in vocabulary_ids()
    for program in PROGRAMS_OF_AVAP:
        for number in range(25):
            spoiled = spoil(program, fault, Draws(str(number)))
            assert judged(spoiled.code, vocabulary, dialect).verdict is Validity.INVALID, spoiled


def test_every_kind_of_fault_occurs_and_says_what_it_is() -> None:
    def details(fault: Fault) -> set[str]:
        draws = [Draws(str(number)) for number in range(200)]
        return {spoil(program, fault, draw).detail for program in PROGRAMS_OF_AVAP for draw in draws}

    assert details(Fault.FOREIGN_LANGUAGE) == set(PROGRAMS)
    assert details(Fault.FOREIGN_STRUCTURE) == set(STRUCTURES)
    invented = {name for names in INVENTED.values() for name in names} | set(INVENTED_LINES)
    assert details(Fault.HALLUCINATED_COMMAND) <= invented
    assert len(details(Fault.HALLUCINATED_COMMAND)) >= 8


def test_names_in_comments_and_strings_are_left_alone() -> None:
    program = PROGRAMS_OF_AVAP[4]
    assert spoil(program, Fault.HALLUCINATED_COMMAND, Draws("1")).code.endswith(f"\n{program}")


def test_a_reply_that_would_be_cut_off_is_not_spoiled() -> None:
    body = {
        "model": "rehearsal-1",
        "max_tokens": 12,
        "system": "<task>answer</task>",
        "messages": [
            {
                "role": "user",
                "content": "<route>CODE_GENERATION</route><context>"
                '<passage id="P1">The task is done so.\n\n```avap\nx = 1\n```</passage></context>'
                "<question>How is the task done?</question>",
            }
        ],
    }
    composed = compose(parse(orjson.dumps(body), HEADERS, seed=0), {Fault.FOREIGN_LANGUAGE: 1.0})
    assert (composed.fault, composed.reply.stop_reason) == (None, "end_turn")
    assert block_of(composed.reply.text) == "x = 1"


FAULT = InjectedFault(message_id="msg_1", fault=Fault.FOREIGN_LANGUAGE, detail="Go", code='package main\n"é"')


def test_the_truth_is_told_once_and_survives_a_cut_line(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "truth.jsonl"
    other = FAULT.model_copy(update={"message_id": "msg_2"})
    first = TruthFile(path)
    first.tell(FAULT)
    first.tell(FAULT)
    first.close()
    path.write_bytes(path.read_bytes() + '{"message_id":"msg_3","code":"é'.encode()[:-1])
    assert read_truth(path) == {"msg_1": FAULT}

    second = TruthFile(path)
    second.tell(FAULT)
    second.tell(other)
    second.close()
    assert read_truth(path) == {"msg_1": FAULT, "msg_2": other}
    assert path.read_bytes().count(b"\n") == 2


def test_a_damaged_truth_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "truth.jsonl"
    path.write_text(f"{FAULT.model_dump_json()}\nnot json\n{FAULT.model_dump_json()}\n")
    with pytest.raises(StoreError, match="line 2") as damaged:
        read_truth(path)
    assert (damaged.value.file, damaged.value.line) == (str(path), 2)
    with pytest.raises(ConfigError, match="truth file"):
        TruthFile(path)


def test_no_file_is_no_faults(tmp_path: Path) -> None:
    assert read_truth(tmp_path / "absent.jsonl") == {}


@given(st.lists(st.text(), max_size=5), st.integers(min_value=0, max_value=400))
def test_truth_reads_back_whatever_the_code_and_wherever_it_is_cut(
    tmp_path_factory: pytest.TempPathFactory, codes: list[str], cut: int
) -> None:
    path = tmp_path_factory.mktemp("truth") / "truth.jsonl"
    told = [FAULT.model_copy(update={"message_id": f"msg_{n}", "code": code}) for n, code in enumerate(codes)]
    lines = [fault.model_dump_json().encode() + b"\n" for fault in told]
    path.write_bytes(b"".join(lines)[:cut])
    whole = [fault for n, fault in enumerate(told) if len(b"".join(lines[: n + 1])) <= cut]
    assert list(read_truth(path).values()) == whole


def test_trouble_strikes_by_request_and_attempt_at_its_rate() -> None:
    rates = {Trouble.RATE_LIMITED: 0.1, Trouble.CUT: 0.05}
    first, again = Troubles(rates), Troubles(rates)
    struck = [first.strike(str(request), None) for request in range(2000)]

    assert struck == [again.strike(str(request), None) for request in range(2000)]
    assert abs(struck.count(Trouble.RATE_LIMITED) - 200) <= 3.5 * sqrt(180)
    assert abs(struck.count(Trouble.CUT) - 100) <= 3.5 * sqrt(95)
    retried = [first.strike(str(request), None) for request, trouble in enumerate(struck) if trouble]
    assert retried.count(None) > 0.7 * len(retried)


@pytest.mark.parametrize("text", ['{"go": 0.1}', '{"foreign_language": 0.9, "foreign_structure": 0.2}', "[]", "{"])
def test_unreadable_fault_shares_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--faults"):
        read_faults(text, seed=0)


@pytest.mark.parametrize("text", ['{"teapot": 0.1}', '{"429": -0.1}', '{"429": 0.9, "500": 0.2}', '{"429": "often"}'])
def test_unreadable_trouble_rates_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--trouble"):
        read_trouble(text)
