"""Properties: no text breaks the parser, generated programs are valid, and a spoiled line is told on that line."""

from __future__ import annotations

from avap_language import assert_valid, judge, vocabulary
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.avap import MAX_DIAGNOSTICS, parse
from core.avap.tree import walk
from core.model.syntax import Category, Dialect, ParseResult, Validity

PIECES = (
    *("if(", "else()", "end()", "startLoop(", "endLoop()", "try()", "exception(e)", "function f(a){", "return(", "go("),
    *("addVar(", "encodeSHA256(", "getSHA256(", "f(", "c.m(", "import ", "for ", "while (", "let ", "=> {", ":=", "#"),
    *("(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "=", "==", "+", "-", "**", "//", "/*", "*/", "not ", " in "),
    *("x", "$x", "1", "5.", '"a"', "'", '"', "`", "`${a}`", "None", "```", "\n", "\r", " ", "\\", "\0", "\ud800", "é"),
    *(" if ", " else ", " for ", "lambda", "http://a.b", "é = 1\n", "addResult(x)\n", "if(None, None, `x = 1`)\n"),
)

soup = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
anything = st.text(st.characters(), max_size=200)


def assert_well_formed(result: ParseResult, code: str) -> None:
    lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    places = [found.line for found in result.diagnostics]
    assert places == sorted(set(places))
    assert len(places) <= MAX_DIAGNOSTICS
    assert len(result.trace) == len(places)
    for found, line in zip(result.diagnostics, result.trace, strict=True):
        assert 1 <= found.line <= len(lines)
        assert 1 <= found.column <= len(lines[found.line - 1]) + 2
        assert found.message
        assert "\n" not in line
        assert line.startswith(f"Line {found.line}: ")
    first = result.diagnostics[0].category if result.diagnostics else None
    assert result.category is first
    assert (result.verdict is Validity.VALID) == (first is None)
    assert first is None or not result.node_types
    assert set(result.node_types) <= vocabulary().node_types
    result.model_dump_json()


@given(st.one_of(soup, anything), st.sampled_from(Dialect))
@settings(max_examples=400, deadline=None)
def test_any_text_is_answered(code: str, dialect: Dialect) -> None:
    parsed = parse(code, vocabulary(), dialect)
    assert_well_formed(parsed.result, code)
    assert sum(1 for _ in walk(parsed.tree)) >= len(parsed.tree.body)
    assert parse(code, vocabulary(), dialect).result == parsed.result


names = st.sampled_from(["a", "total", "item_1", "año", "_x"])
atoms = st.one_of(
    names,
    st.integers(0, 10**6).map(str),
    st.sampled_from(["3.25", "None", "True", '"text"', "'it'", "`${a} and ${b.c}`", "$total", "[]", "{}", "()"]),
)


OPERATORS = ("+", "-", "*", "/", "%", "**", "<", "==", "in", "and", "or", "is not")


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map(" ".join),
        inner.map("({})".format),
        inner.map("-{}".format),
        inner.map("({})[0]".format),
        inner.map("len({})".format),
        st.tuples(inner, inner).map("[{0[0]}, {0[1]}]".format),
        st.tuples(inner, inner).map("{{'k': {0[0]}, 'm': {0[1]}}}".format),
        st.tuples(inner, inner, inner).map("({0[0]} if {0[1]} else {0[2]})".format),
        st.tuples(inner, inner).map("[{0[0]} for a in [{0[1]}] if a]".format),
    )


expressions = st.recursive(atoms, _compound, max_leaves=8)
simple = st.one_of(
    st.tuples(names, expressions).map("addVar({0[0]}, {0[1]})".format),
    st.tuples(names, expressions).map("{0[0]} = {0[1]}".format),
    st.tuples(names, expressions).map("{0[0]} = encodeSHA256({0[1]})".format),
    names.map("addResult({})".format),
    st.tuples(names, names).map("addParam('{0[0]}', {0[1]})".format),
    st.tuples(expressions, names).map("RequestGet({0[0]}, '', {{}}, {0[1]})".format),
    names.map("{}.method(1)".format),
    expressions.map("declared({})".format),
).map(lambda line: [line])


def _block(body: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    return st.one_of(
        st.tuples(body, body).map(lambda pair: ['if(a, 1, "==")', *pair[0], "else()", *pair[1], "end()"]),
        body.map(lambda lines: ["if(None, None, `a > 1`)", *lines, "end()"]),
        body.map(lambda lines: ["startLoop(i, 0, 3)", *lines, "endLoop()"]),
        st.tuples(body, body).map(lambda pair: ["try()", *pair[0], "exception(e)", *pair[1], "end()"]),
        st.tuples(body, body).map(lambda pair: [*pair[0], *pair[1]]),
    )


bodies = st.recursive(simple, _block, max_leaves=8)
DECLARED = ["function declared(p){", "return(p)", "}"]
programs = bodies.map(lambda lines: [*lines, *DECLARED])
quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@given(programs, st.sampled_from(Dialect), st.sampled_from(["\n", "\r\n", "\r", " // note\n", ";\n", "\n\n"]))
@quick
def test_generated_programs_are_valid(lines: list[str], dialect: Dialect, end: str) -> None:
    if ";" in end:
        lines = [line if line.endswith("{") or line == "}" else line + ";" for line in lines]
        end = "\n"
    assert_valid(end.join(lines) + "\n", dialect)


@given(programs, st.data())
@quick
def test_a_missing_closer_is_told_at_its_opener(lines: list[str], data: st.DataObject) -> None:
    closers = [place for place, line in enumerate(lines) if line in {"end()", "endLoop()", "}"}]
    place = data.draw(st.sampled_from(closers))
    spoiled = lines[:place] + lines[place + 1 :]
    result = judge("\n".join(spoiled))
    assert result.verdict is Validity.INVALID
    assert result.category is Category.UNEXPECTED_CONSTRUCT
    assert min(found.line for found in result.diagnostics) <= place + 1


@given(programs, st.data())
@quick
def test_an_invented_command_is_told_on_its_line(lines: list[str], data: st.DataObject) -> None:
    places = [place for place, line in enumerate(lines) if line.startswith(("addVar(", "addResult(", "addParam("))]
    if not places:
        return
    place = data.draw(st.sampled_from(places))
    spoiled = [*lines]
    spoiled[place] = "readParam" + spoiled[place][spoiled[place].index("(") :]
    (found,) = judge("\n".join(spoiled)).diagnostics
    assert (found.line, found.column, found.category) == (place + 1, 1, Category.UNKNOWN_TOKEN)
    assert found.suggestion == "addParam"


@given(programs, st.data())
@quick
def test_an_unclosed_bracket_is_told_on_its_line_and_hides_no_other(lines: list[str], data: st.DataObject) -> None:
    places = [place for place, line in enumerate(lines) if line.startswith(("addVar(", "addResult(", "addParam("))]
    if not places:
        return
    place = data.draw(st.sampled_from(places))
    spoiled = [*lines[:place], lines[place][:-1], *lines[place + 1 :], "getSHA256(x)"]
    found = judge("\n".join(spoiled)).diagnostics
    assert [item.line for item in found] == [place + 1, len(spoiled)]
    assert found[0].category is Category.SYNTAX_ERROR
