"""getRegex finds what Python's `re` finds, without its ways of hanging."""

from __future__ import annotations

import re

import pytest
from avap_runs import failure, run
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.avap.execution.failures import Failure
from core.avap.execution.limits import Limits, Meter
from core.avap.execution.matching import first_match


def found(pattern: str, text: str) -> str | None:
    return first_match(pattern, text, Meter(Limits()))


CASES = [
    ("[A-Z]{3}-[0-9]{4}", "see ABC-1234 and DEF-5678"),
    ("^[^@ ]+@[^@ ]+[.][a-z]+$", "ada@example.com"),
    ("^[^@ ]+@[^@ ]+[.][a-z]+$", "ada@example"),
    (r"\d+(?:\.\d+)?", "price 12.50 EUR"),
    (r"^\w+\s\w+$", "Añadir año"),
    (r"(?i)hello", "say HeLLo"),
    ("(?i)[a-f]+", "xyzABCdef"),
    (r"\bcat\b", "concat cat"),
    (r"\Bat", "at cat"),
    ("a.c", "a\nc abc"),
    ("a*?b", "aaab"),
    ("<.+?>", "<a><b>"),
    ("<.+>", "<a><b>"),
    ("(a|ab)(c|bcd)(d*)", "abcd"),
    ("x{2,3}?", "xxxx"),
    ("x{,2}y", "xxxy"),
    ("x{2,}", "axxxx"),
    ("x{2", "x{2"),
    ("a{}b", "a{}b"),
    ("[]a]+", "]a]"),
    ("[^]a]+", "]ab]"),
    ("[a-]+", "-a-b"),
    (r"[\]\-\d]+", "a]-5"),
    (r"[\n\t]+", "a\t\n"),
    (r"\.\*\\", r"a.*\b"),
    ("^$", ""),
    ("a$", "ba\n"),
    (r"a\Z", "ba\n"),
    ("^(?=.*[A-Z])(?=.*\\d).{8,}$", "abcDefg1"),
    ("^(?=.*[A-Z])(?=.*\\d).{8,}$", "abcdefg1"),
    ("foo(?!bar)\\w+", "foobar foobaz"),
    ("(?P<year>[0-9]{4})-(?P<month>[0-9]{2})", "on 2026-04-06"),
    ("(a*)*", "b"),
    ("(a*)+b", "aab"),
    ("(|a)+b", "aab"),
    ("a||b", "b"),
    ("(?:)*x", "x"),
    ("[ñ-ó]+", "año"),
]


@pytest.mark.parametrize(("pattern", "text"), CASES)
def test_it_finds_what_re_finds(pattern: str, text: str) -> None:
    match = re.search(pattern, text)
    assert found(pattern, text) == (match[0] if match else None)


pieces = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\w", "1", "^", "$", r"\b", "(?=a)", "(?!b)"]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.tuples(inner, inner).map("(?:{0[0]}|{0[1]})".format),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}"])).map(
            "(?:{0[0]}){0[1]}".format
        ),
    ),
    max_leaves=6,
)


@given(pieces, st.text("ab1 \n", max_size=7))
@example("(?:a|^)*", "a")
@settings(max_examples=500, deadline=None)
def test_it_agrees_with_re_on_whether_and_where(pattern: str, text: str) -> None:
    match = re.search(pattern, text)
    answer = found(pattern, text)
    assert (answer is None) == (match is None)
    # Where a repeated group can match nothing, the end of a match may differ.
    if match is not None and "?:" not in pattern:
        assert answer == match[0]


@given(st.text("ab(|)*+?{}[]^$.\\-,12dw:=!P<>x", max_size=30), st.text("ab1\n", max_size=10))
@settings(max_examples=500, deadline=None)
def test_any_pattern_is_answered_or_refused(pattern: str, text: str) -> None:
    try:
        answer = found(pattern, text)
    except Failure:
        return
    assert answer is None or answer in text


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(a)\\1", "back-references are not supported"),
        ("(?<=a)b", "of the groups with '?' there are"),
        ("(?<name>a)", "of the groups with '?' there are"),
        ("(a", "'(' is never closed"),
        ("a)", "')' closes nothing"),
        ("[a", "'[' is never closed"),
        ("*a", "'*' repeats nothing"),
        ("a**", "a repetition is repeated"),
        ("a{3,1}", "repetitions are at most 1000, the lower number first"),
        ("a{2000}", "repetitions are at most 1000, the lower number first"),
        ("[b-a]", "the range b-a is empty"),
        ("a\\", "it ends too early"),
        ("\\q", "'\\q' means nothing"),
    ],
)
def test_patterns_that_cannot_be_used_are_told_why(pattern: str, reason: str) -> None:
    with pytest.raises(Failure) as caught:
        found(pattern, "text")
    assert reason in caught.value.text


def test_the_command() -> None:
    done = run(
        't = "order ABC-1234"\ngetRegex(t, "[A-Z]{3}-[0-9]{4}", x)\ny = getRegex("t", "z")\n'
        'n = None\nz = getRegex(n, "a")\nm = 12345\nw = getRegex(m, "3.")'
    )
    assert [done.variables[name] for name in "xyzw"] == ["ABC-1234", None, None, "34"]
    assert failure("t = 1\ngetRegex(t, 5, x)") == "2 type: a pattern is a text, not a number"
