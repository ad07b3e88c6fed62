"""What the reference says is valid or refused, put to the parser: a claim that stops holding must be rewritten."""

from __future__ import annotations

import pytest

from core.adapters.languages import load_vocabulary
from core.avap import check
from core.model.syntax import Dialect, Validity

LRM = load_vocabulary("lrm-2026.04")
DEFINITIONS = load_vocabulary("definitions-2026.03")

ACCEPTED = (
    'AddvariableToJSON("a",1,d)',
    "if(1,2,=)\nend()",
    'if(None, None, "1 == 2")\nend()',
    "try()\nexception()\nend()",
    "function f(a){\n    return(a)\n}\ngo(f, 1)",
    'function f(a){\n    return(a)\n}\nx = go("f", 1)',
    "function g(){ return 1 }",
    "function g(){\nreturn()\n}",
    "addVar(a,1); // x",
    'addResult("x")',
    'RequestGet("u","","","res")',
    "import <abc>",
    'import slug\nx = slug("a")',
    "año = 1",
    "x = not (0 <= 5 < 100)",
)

REFUSED = {
    "unexpected_construct": (
        'function f(a){\n    return(a)\n}\nregisterEndpoint("/a","PATCH",[],"d",f,o)',
        "x = addVar(1)",
        "addVar(5, x)",
        "addResult(encodeSHA256(x))",
        "addResult(a + b)",
        'if(a, b, "===")\nend()',
        "if(a)\nend()",
        "else()",
        "startLoop(i,1,3)\nend()",
        "endLoop()",
        "startLoop(i,1,3)",
        "try()\nx = 1\nend()",
        "exception(e)",
        "go_async(id)\nend()",
        "return(1)",
        "function a(){\nreturn(1)\n}\nfunction a(){\nreturn(1)\n}",
        "function f(a){\n    return(a)\n}\nx = f(1,2)",
        'ormAccessInsert("a", [1], "t", r)',
        'getRegex("a" + "b", "c", d)',
        'startLoop("i",1,3)\nendLoop()',
    ),
    "unknown_token": (
        'registerEndpoint("/a","GET",[],"d",nope,o)',
        "addvar(x, 1)",
        'IF(a, b, "==")\nend()',
        "x = range(3)",
        "x = sum([1])",
        'readParam("x")',
        'ifParam("x", y)',
        "returnResult(x)",
        "x = getSHA256(y)",
        'getTimeStamp("a","b",0,x)',
        'httpGet("u")',
        'RequestPut("u","","",b,x)',
        "try()\nexcept(e)\nend()",
        "x = go(nope)",
        "endIf()",
        'x = getListParamList("a")',
        "catch(e)",
        "confirmPassword(a,b)",
        "x = max(1,2)",
        'include "f.avap"\nx = helper(1)',
    ),
    "syntax_error": (
        "x += 1",
        'd["k"] = 1',
        "$x = 1",
        "a = b = 1",
        "a, b = 1, 2",
        "# c\nx = 1",
        "x = 1;;",
        "x = 1; y = 2",
        "x = .5",
        "x = 1e5",
        "x = 0x1F",
        "addVar(u, https://a.b)",
        'x = f"a"',
        "if(None, None, `a = 1`)\nend()",
        "RequestGet(url, , , r)",
        "",
        "```avap\nx = 1\n```",
        "x++",
        "x = {1, 2}",
    ),
    "foreign_keyword": (
        "while x:\n y=1",
        "switch(x)",
        "elif(x)",
        'import x from "y"',
        "from x import y",
        "let x = 1",
        "x := 1",
        "package main",
        "x = lambda a: a",
        "f = (a) => a",
        "print(x)",
        "for x in items:",
        "do {",
    ),
}

ONLY_LENIENT = (
    "addVar(endpoint, https://api.example.com/users)",
    "getDateTime(%Y-%m-%d, 0, UTC, today)",
    "addVar(sql, SELECT * FROM users WHERE id = 1)",
    "RequestGet(url, , , result)",
)

ONLY_IN_DEFINITIONS = (
    'getTimeStamp("2026-04-06", "%Y-%m-%d", 0, stamp)',
    'variableFromJSON(source, "key", target)',
)


_REFUSALS = [
    pytest.param(category, code, id=f"{category}-{code[:30]!a}")
    for category, programs in REFUSED.items()
    for code in programs
]


@pytest.mark.parametrize("code", ACCEPTED)
def test_the_reference_calls_it_valid(code: str) -> None:
    assert check(code, LRM, Dialect.STRICT).trace == ()


@pytest.mark.parametrize(("category", "code"), _REFUSALS)
def test_the_reference_says_why_it_is_refused(category: str, code: str) -> None:
    result = check(code, LRM, Dialect.STRICT)
    assert result.verdict is Validity.INVALID
    assert result.category == category, result.trace


@pytest.mark.parametrize("code", ONLY_LENIENT)
def test_bare_text_belongs_to_the_lenient_dialect(code: str) -> None:
    assert check(code, LRM, Dialect.LENIENT).trace == ()
    assert "accepted by dialect lenient" in check(code, LRM, Dialect.STRICT).trace[0]


@pytest.mark.parametrize("code", ONLY_IN_DEFINITIONS)
def test_two_commands_belong_to_the_older_vocabulary_alone(code: str) -> None:
    assert check(code, DEFINITIONS, Dialect.STRICT).trace == ()
    assert check(code, LRM, Dialect.STRICT).category == "unknown_token"


def test_a_result_on_the_left_counts_as_its_command_alone() -> None:
    assert check("digest = encodeSHA256(text)", LRM, Dialect.STRICT).node_types == {"encodeSHA256": 1}


def test_a_method_of_any_name_counts_as_a_connector_call() -> None:
    assert check("items.append(1)", LRM, Dialect.STRICT).node_types == {"connector_call": 1}
