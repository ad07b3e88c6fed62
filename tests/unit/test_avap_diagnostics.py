"""Section 6: verdict, diagnostics and trace; the lenient dialect; node types; limits."""

from __future__ import annotations

import pytest
from avap_language import assert_valid, faults, judge, vocabulary

from core.avap import (
    MAX_BLOCKS,
    MAX_BYTES,
    MAX_DIAGNOSTICS,
    PARSER_VERSION,
    TRACE_TEMPLATES_SHA256,
    Vocabulary,
    check,
    parse,
)
from core.avap.diagnostics import TRACE_TEMPLATES
from core.errors import ConfigError
from core.model.frozen import digest
from core.model.syntax import Category, Dialect, ParseResult, Validity


def test_the_answer_names_what_it_was_judged_by() -> None:
    result = judge("x = 1")
    assert result == ParseResult(
        verdict=Validity.VALID,
        node_types={"assign": 1},
        vocabulary="lrm-2026.04",
        dialect=Dialect.STRICT,
        parser_version=PARSER_VERSION,
    )
    assert PARSER_VERSION.count(".") == 2


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("x = 1\ny = 2\nz = getSHA256(x)", "Line 3: unknown command 'getSHA256' — did you mean 'encodeSHA256'?"),
        ("ifParam('a', b)", "Line 1: unknown command 'ifParam' — did you mean 'addParam + if'?"),
        ("confirmPassword(a)", "Line 1: unknown command 'confirmPassword'"),
        ("encodSHA256(x, y)", "Line 1: unknown command 'encodSHA256' — did you mean 'encodeSHA256'?"),
        ("id = go(worker)", "Line 1: unknown function 'worker'"),
        (
            "startLoop(i, 1, 2)\nend()",
            "Line 2: a loop is closed by endLoop(), not by end() — write 'endLoop()'",
        ),
        ("x = a === b", "Line 1: '===' is no operator of AVAP — write '=='"),
        ("x += 1", "Line 1: '+=' is no assignment of AVAP — write 'x = x + 1'"),
    ],
)
def test_trace(code: str, line: str) -> None:
    assert judge(code).trace == (line,)


def test_one_trace_line_per_diagnostic() -> None:
    result = judge("# a\nfor x in y:\nend()\nfoo()")
    assert len(result.trace) == len(result.diagnostics) == 3
    for line, found in zip(result.trace, result.diagnostics, strict=True):
        assert line.startswith(f"Line {found.line}: {found.message}")


def test_one_template_per_category_and_their_hash() -> None:
    assert set(TRACE_TEMPLATES) == set(Category)
    assert digest(TRACE_TEMPLATES) == TRACE_TEMPLATES_SHA256


def test_the_category_is_that_of_the_first_fault_by_line() -> None:
    assert judge("if(a, b, =)\nx = foo(1)\n# c").category is Category.UNEXPECTED_CONSTRUCT
    assert judge("x = 1\nfoo(1)\n# c").category is Category.UNKNOWN_TOKEN
    assert judge("x = 1").category is None


def test_every_fault_is_found() -> None:
    code = "x = getSHA256(y)\nif(a, b)\nz = [1, 2\nreturnResult(x)\nend()\nendLoop()\nw = 5.\nwhile (a) {\n}\nok = 1"
    assert faults(code) == [
        "1:5 unknown_token",
        "2:1 unexpected_construct",
        "3:5 syntax_error",
        "4:1 unknown_token",
        "6:1 unexpected_construct",
        "7:5 syntax_error",
        "8:1 foreign_keyword",
    ]


def test_at_most_fifty_in_order_of_lines() -> None:
    result = judge("\n".join(f"foo{number}()" for number in range(200)))
    assert [found.line for found in result.diagnostics] == list(range(1, MAX_DIAGNOSTICS + 1))


def test_one_diagnostic_per_line_is_the_leftmost() -> None:
    assert faults("foo(bar(1), baz(2))") == ["1:1 unknown_token"]
    assert faults("foo(1, 5.)") == ["1:1 unknown_token"]
    assert faults("x = 5. + foo(1)") == ["1:5 syntax_error"]


@pytest.mark.parametrize(
    ("code", "text", "suggestion"),
    [
        ("encodeSHA(x, y)", "encodeSHA", "encodeMD5"),
        ("addResults(x)", "addResults", "addResult"),
        ("AddResult(x)", "AddResult", "addResult"),
        ("requestget(u, '', '', r)", "requestget", "RequestGet"),
        ("addvariabletojson('k', 1, d)", "addvariabletojson", "AddVariableToJSON"),
        ("ormAcessSelect('*', 't', r)", "ormAcessSelect", "ormAccessSelect"),
        ("function compute(){\n}\nx = compte()", "compte", "compute"),
        ("import toolbox\nx = tolbox(1)", "tolbox", "toolbox"),
        ("x = lenn(y)", "lenn", "len"),
        ("IF(a, b, =)\nend()", "IF", "if"),
        ("startloop(i, 1, 2)\nendLoop()", "startloop", "startLoop"),
        ("strtLoop(i, 1, 2)\nendLoop()", "strtLoop", "startLoop"),
        ("xyzzyPlugh(1)", "xyzzyPlugh", None),
        ("if(a, b, <>)\nend()", "<>", "!="),
        ("x = a && b", "&&", "and"),
        ('d["k"] = 1', "d", 'AddVariableToJSON("k", 1, d)'),
        ("o.a = b + 1", "o", 'AddVariableToJSON("a", b + 1, o)'),
        ("$x = 1", "$x", "x = 1"),
        ("if(a, b, =)", "if", "end()"),
        ("startLoop(i, 1, 2)", "startLoop", "endLoop()"),
        ('registerEndpoint("/", "get", [], "", f, o)\nfunction f(){}', '"get"', "GET"),
        ("addVar(x, a b)", "a b", '"a b"'),
    ],
)
def test_offending_text_and_suggestion(code: str, text: str, suggestion: str | None) -> None:
    found = judge(code).diagnostics[0]
    assert (found.text, found.suggestion) == (text, suggestion)


# Dialects

LENIENT = {
    "address": "addVar(endpoint, https://api.example.com/users)",
    "format": "getDateTime(%Y-%m-%d, 0, UTC, today)",
    "SQL": "addVar(sql, SELECT * FROM users WHERE id = 1)",
    "SQL with brackets": "addVar(sql, SELECT COUNT(*) FROM users)",
    "empty arguments": "RequestGet(url, , , result)",
    "empty last argument": "addVar(x, )",
    "result on the left": "r = RequestGet(https://a.b/c?d=1&e=2, , )",
    "apostrophe": "addVar(x, it's fine)",
    "with a semicolon and a comment": "addVar(x, without quotes); // note",
    "expressions beside it": "RequestGet(base + `/x/${id}`, a=1, {'k': [1]}, res, 5000)",
}


@pytest.mark.parametrize("code", LENIENT.values(), ids=LENIENT.keys())
def test_the_lenient_dialect_takes_bare_text(code: str) -> None:
    assert_valid(code, Dialect.LENIENT)
    result = judge(code)
    assert [found.category for found in result.diagnostics] == [Category.SYNTAX_ERROR]
    assert "accepted by dialect lenient" in result.diagnostics[0].message


def test_bare_text_in_its_surroundings() -> None:
    code = "\n".join(["if(a, b, =)", *LENIENT.values(), "end()", "c.go(1)"])
    result = assert_valid(code, Dialect.LENIENT)
    assert result.node_types["addVar"] == 6
    assert len(judge(code).diagnostics) == len(LENIENT)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("addVar(x, a, b)", "1:1 unexpected_construct"),
        ("addVar(some target, 1)", "1:8 unexpected_construct"),
        ("addVar(, 1)", "1:8 unexpected_construct"),
        ("addResult(two words)", "1:11 unexpected_construct"),
        ("addVar(x, SELECT a, b)", "1:1 unexpected_construct"),
        ("addVar(x, unclosed text", "1:7 syntax_error"),
        ("getSHA256(some text)", "1:1 unknown_token"),
        ("for x in some text", "1:1 foreign_keyword"),
    ],
)
def test_the_lenient_dialect_refuses(code: str, expected: str) -> None:
    assert faults(code, Dialect.LENIENT) == [expected]


def test_only_faults_that_lenient_forgives_say_so() -> None:
    assert (
        "lenient" not in judge("addVar(x, 5 +)").diagnostics[0].message
        or faults("addVar(x, 5 +)", Dialect.LENIENT) == []
    )
    assert "lenient" not in judge("x = 5 +").diagnostics[0].message


# Node types


def test_each_construct_counts_as_its_own_type() -> None:
    code = """
registerEndpoint("/x", "GET", [], "d", main, out)
function main(a){
  x = encodeSHA256(a)
  AddvariableToJSON("k", x, d)
  c = avapConnector("t")
  r = c.read(1)
  c.close()
  y = c.a.read(1)
  id = go(other, 1)
  z = gather(id)
  if(a, b, =)
    w = 1
  else()
    if(None, None, `w > 1`)
    end()
  end()
  startLoop(i, 1, 2)
    other(i)
  endLoop()
  try()
  exception(e)
  end()
  return(x)
}
function other(p){ return(p) }
import one
include "two"
"""
    assert assert_valid(code).node_types == {
        "AddVariableToJSON": 1,
        "assign": 2,
        "avapConnector": 1,
        "connector_call": 2,
        "else": 1,
        "encodeSHA256": 1,
        "function": 2,
        "gather": 1,
        "go": 1,
        "if_mode1": 1,
        "if_mode2": 1,
        "import": 1,
        "include": 1,
        "registerEndpoint": 1,
        "return": 2,
        "startLoop": 1,
        "try": 1,
    }


def test_an_invalid_program_has_no_node_types() -> None:
    assert judge("x = 1\nfoo()").node_types == {}


# Vocabularies


def test_the_manual_has_38_node_types_and_the_public_table_40() -> None:
    manual, public = vocabulary(), vocabulary("definitions-2026.03")
    assert (len(manual.node_types), len(public.node_types)) == (38, 40)
    assert public.node_types - manual.node_types == {"getTimeStamp", "variableFromJSON"}
    assert set(public.commands) - set(manual.commands) == {"getTimeStamp", "variableFromJSON"}
    assert manual.sha256 != public.sha256
    assert manual.id == "lrm-2026.04"


def test_a_vocabulary_decides_what_exists() -> None:
    code = 'getTimeStamp("2026-01-01", "%Y-%m-%d", 0, t)\nv = variableFromJSON(source, "key")'
    assert [found.category for found in judge(code).diagnostics] == [Category.UNKNOWN_TOKEN] * 2
    assert assert_valid(code, words="definitions-2026.03").node_types == {"getTimeStamp": 1, "variableFromJSON": 1}


def test_a_vocabulary_of_ones_own() -> None:
    data = {
        "id": "mine-1.0",
        "node_types": ["shout", "assign"],
        "commands": {"shout": {"section": "I", "parameters": [{"name": "text"}, {"name": "to", "kind": "target"}]}},
        "hallucinations": {"scream": "shout"},
    }
    mine = Vocabulary.from_mapping(data)
    assert check("shout('a', b)\nc = shout('d')\nif(a, b, =)\nend()", mine, Dialect.STRICT).node_types == {"shout": 2}
    assert check("scream('a', b)", mine, Dialect.STRICT).diagnostics[0].suggestion == "shout"
    assert check("addVar(x, 1)", mine, Dialect.STRICT).verdict is Validity.INVALID


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"commands": {"a": {"section": "I"}}}, "commands.a"),
        ({"commands": {"a": {"section": "I", "parameters": [{"name": "x", "kind": "colour"}]}}}, "commands.a"),
        ({"commands": {"a": {"section": "I", "parameters": []}}}, "commands.a.node_type"),
        ({"commands": {"if": {"section": "I", "parameters": [], "node_type": "assign"}}}, "commands"),
        ({"colour": "red"}, "colour"),
        ({"node_types": ["assign", "assign"]}, "node_types"),
    ],
)
def test_a_bad_vocabulary_is_refused_by_field(change: dict[str, object], path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Vocabulary.from_mapping({"id": "x", "node_types": ["assign"], "commands": {}, **change})
    assert caught.value.path.startswith(path)
    assert caught.value.remedy


# Limits


def test_size_limit() -> None:
    fits = "x = 1\n" + "/" * (MAX_BYTES - 6)
    assert_valid(fits)
    assert faults(fits + "/") == ["1:1 syntax_error"]
    assert faults("//" + "é" * (MAX_BYTES // 2)) == ["1:1 syntax_error"]


def test_nesting_of_blocks() -> None:
    def nested(levels: int) -> str:
        return "if(a, b, =)\n" * levels + "x = 1\n" + "end()\n" * levels

    assert_valid(nested(MAX_BLOCKS))
    assert faults(nested(MAX_BLOCKS + 1)) == [f"{MAX_BLOCKS + 1}:1 syntax_error"]


@pytest.mark.parametrize("pair", ["()", "[]"])
def test_nesting_of_brackets(pair: str) -> None:
    def nested(levels: int) -> str:
        return f"x = {pair[0] * levels}1{pair[1] * levels}"

    assert_valid(nested(200))
    assert faults(nested(201)) == ["1:205 syntax_error"]
    assert_valid(f"x = len({'(' * 199}1{')' * 199})")
    assert_valid(f"addVar(x, {'(' * 199}1{')' * 199})")
    assert faults(f"addVar(x, {'(' * 200}1{')' * 200})") == ["1:210 syntax_error"]


HARD = {
    "openers": "(" * MAX_BYTES,
    "opener lines": "(\n" * (MAX_BYTES // 2),
    "closers": ")" * MAX_BYTES,
    "braces": "{" * MAX_BYTES,
    "closing braces": "}" * MAX_BYTES,
    "brace lines": "}\n" * (MAX_BYTES // 2),
    "commas": "addVar(" + "," * (MAX_BYTES - 8),
    "spaces": "x = 1" + " " * (MAX_BYTES - 6) + "y",
    "quotes": "'" * MAX_BYTES,
    "back-ticks": "`" * MAX_BYTES,
    "backslashes in a text": 'x = "' + "\\" * (MAX_BYTES - 6),
    "comment openers": "/*" * (MAX_BYTES // 2),
    "unknown names": "x = " + "+".join(f"f{number}()" for number in range(25000)),
    "unknown lines": "\n".join(f"foo{number}()" for number in range(20000)),
    "unknown beside many functions": "\n".join(f"function foo{number:04}(){{}}" for number in range(9000))
    + "\n"
    + "\n".join(f"fxo{number:04}()" for number in range(60)),
    "conditions": "x = 1" + " if a else 1" * 20000,
    "signs": "x = " + "-" * (MAX_BYTES - 5) + "1",
    "negations": "x = " + "not " * 60000 + "a",
    "sums": "x = 1" + "+1" * 120000,
    "attributes": "x = a" + ".b" * 120000,
    "bare brackets": "addVar(x, " + "(" * (MAX_BYTES - 12),
    "slots": "x = `" + "${" * 120000,
    "blocks": "if(a, b, =)\n" * 20000,
    "one-line functions": "function f(){" * 18000,
    "NUL": "\0" * MAX_BYTES,
    "halves of pairs": "\ud800" * (MAX_BYTES // 3),
    "carriage returns": "\r" * MAX_BYTES,
}


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("code", HARD.values(), ids=HARD.keys())
@pytest.mark.timeout(60)  # the bench measures; this ends what is not linear
def test_hard_input_is_judged(code: str, dialect: Dialect) -> None:
    result = judge(code, dialect)
    assert len(result.diagnostics) <= MAX_DIAGNOSTICS
    assert (result.verdict is Validity.VALID) == (not result.diagnostics)
    result.model_dump_json()


def test_a_text_that_no_encoding_takes_is_still_answered() -> None:
    result = judge("x = '\ud800'\n\udfff\nfoo\x01()")
    assert result.verdict is Validity.INVALID
    assert "\ud800" not in result.model_dump_json()
    assert [found.line for found in result.diagnostics] == [1, 2, 3]


def test_an_invalid_program_still_has_a_tree() -> None:
    parsed = parse("x = 1\nif(a, b, =)\ny = foo(1)\n", vocabulary(), Dialect.STRICT)
    assert len(parsed.tree.body) == 2


@pytest.mark.parametrize(
    "code", ["1[if(a", "x = 5(", "x = 1.(", "[1", "x = 'a'(b", "if(", "if", "function", "x =", "="]
)
def test_a_broken_end_is_answered(code: str) -> None:
    assert judge(code).verdict is Validity.INVALID
