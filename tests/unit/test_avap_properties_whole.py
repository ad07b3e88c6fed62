"""Properties of whole programs: valid as drawn, faulty on the right line when spoiled, calm with any bytes."""

from __future__ import annotations

import pytest
from avap_language import assert_valid, judge, vocabulary
from avap_programs import Lines, programs, written
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from core.adapters.avap_file import check_bytes
from core.avap import MAX_BYTES
from core.model.syntax import Category, Dialect, Validity

WORDS = ("lrm-2026.04", "definitions-2026.03")
quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
whole = programs(vocabulary())


@pytest.mark.parametrize("words", WORDS)
@given(data=st.data(), dialect=st.sampled_from(Dialect), end=st.sampled_from(["\n", "\r\n", "\r"]))
@quick
def test_every_program_of_the_grammar_is_valid(words: str, data: st.DataObject, dialect: Dialect, end: str) -> None:
    lines = data.draw(programs(vocabulary(words)))
    assert_valid(written(lines, end), dialect, words)


def _places_of_blocks_around(lines: Lines, place: int) -> set[int]:
    """The lines, from 1, of the block that `lines[place]` closes and of the blocks around it: any may be left open."""
    around = set(lines[place].blocks)
    return {number for number, line in enumerate(lines, 1) if line.role != "plain" and line.blocks[-1] in around}


@given(whole, st.data())
@quick
def test_a_removed_closer_is_told_at_a_block_around_it(lines: Lines, data: st.DataObject) -> None:
    place = data.draw(st.sampled_from([at for at, line in enumerate(lines) if line.role == "closer"]))
    result = judge(written(lines[:place] + lines[place + 1 :]))
    assert result.verdict is Validity.INVALID
    assert {found.category for found in result.diagnostics} == {Category.UNEXPECTED_CONSTRUCT}
    told = {found.line if found.line <= place else found.line + 1 for found in result.diagnostics}
    assert told <= _places_of_blocks_around(lines, place)


@given(whole, st.data())
@quick
def test_a_removed_bracket_is_told_on_its_line(lines: Lines, data: st.DataObject) -> None:
    place = data.draw(st.sampled_from([at for at, line in enumerate(lines) if line.text.endswith(")")]))
    spoiled = [line.text for line in lines]
    spoiled[place] = spoiled[place][:-1]
    result = judge("\n".join([*spoiled, "after = 1"]))
    assert result.verdict is Validity.INVALID
    assert place + 1 in {found.line for found in result.diagnostics}


@given(whole, st.data())
@quick
def test_a_renamed_command_is_told_on_its_line_alone(lines: Lines, data: st.DataObject) -> None:
    places = [at for at, line in enumerate(lines) if line.command is not None]
    assume(places)
    place = data.draw(st.sampled_from(places))
    spoiled = [line.text for line in lines]
    word = lines[place].command
    assert word is not None
    renamed = data.draw(st.sampled_from([f"{word}Qx", f"my_{word}", f"x{word[::-1]}"]))
    spoiled[place] = spoiled[place].replace(f"{word}(", f"{renamed}(", 1)
    (found,) = judge("\n".join(spoiled)).diagnostics
    assert (found.line, found.category, found.text) == (place + 1, Category.UNKNOWN_TOKEN, renamed)


@given(st.binary(max_size=300), st.sampled_from(Dialect))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_answered(raw: bytes, dialect: Dialect) -> None:
    result = check_bytes(raw, vocabulary(), dialect)
    assert (result.verdict is Validity.VALID) == (not result.diagnostics)
    result.model_dump_json()


@pytest.mark.parametrize("piece", ["[[", "{", "`", "\r\n", "\ufeff", "\udfff"])
@pytest.mark.parametrize("dialect", Dialect)
def test_a_long_line_of_one_piece_is_answered(piece: str, dialect: Dialect) -> None:
    result = judge("x = " + piece * (MAX_BYTES // 4), dialect)
    assert (result.verdict is Validity.VALID) == (not result.diagnostics)
    result.model_dump_json()


@pytest.mark.parametrize("piece", ["}x", "}}if(a b}", "}else()", "}endLoop()", "};", "function f(){}", "x{"])
def test_a_line_that_braces_divide_is_read_to_its_end_or_given_up(piece: str) -> None:
    opened = 'if(a, 1, "==")\n' * 199
    for head in ("", opened):
        result = judge(head + piece * ((MAX_BYTES - len(head)) // len(piece)))
        assert result.verdict is Validity.INVALID
        assert max(found.line for found in result.diagnostics) <= head.count("\n") + 1


def test_statements_between_braces_of_one_line_are_each_read() -> None:
    assert_valid("function f(a){ return(a) } x = {'k': f(1)}")
    assert judge("function f(a){ } } x = 1").category is Category.UNEXPECTED_CONSTRUCT
    assert judge("function f(){ } for x in y").category is Category.FOREIGN_KEYWORD
    assert judge("function f(){ } g = lambda x").category is Category.FOREIGN_KEYWORD
    assert judge("function f(){ } function g(){ }").category is Category.FOREIGN_KEYWORD
