"""Section 3 and the lexing part of section 8: lines, comments, quotes, numbers, names."""

from __future__ import annotations

import pytest
from avap_language import assert_valid, faults, judge

from core.model.syntax import Dialect

VALID = {
    "indentation means nothing": "    addVar(x, 1)\n\taddResult(x)",
    "blank lines mean nothing": "\n\n   \naddVar(x, 1)\n\n",
    "a line goes on while a bracket is open": 'registerEndpoint(\n  "/x",\n  "GET",\n  [],\n  "d",\n  main,\n  out\n)\n'
    "function main(){\n}",
    "a line goes on inside a list": "x = [\n1,\n2\n]",
    "a line goes on inside a dict": 'x = {\n"a": 1,\n"b": [\n2],\n}\naddResult(x)',
    "a dict may follow return": 'function f(){\nreturn {\n"a": 1\n}\n}',
    "a dict may follow a comparison": "x = y == {\n}",
    "a dict may be an argument": 'addVar(x, {\n"a": 1\n})',
    "comments inside a continued line": "addVar(x, // name\n 1 /* value */)",
    "one semicolon": "addVar(x, 1);",
    "a comment after the semicolon": "addVar(x, 1); // done",
    "a semicolon and spaces": "x = 1 ;  ",
    "line comment": "// hi\nx = 1 // there",
    "documentation comment": "/// title\nx = 1",
    "block comment": "/* a */ x = /* b */ 1 /* c */",
    "block comment over lines": "/* a\nb\nc */ x = 1\n/*\n*/\ny = 2",
    "a statement on each side of a block comment": "x = 1 /* a\nb */ y = 2",
    "comment marks in quotes": "x = \"http://a /* b */\"\ny = 'http://c'\nz = `http://d`",
    "double quotes": r'x = "a \" b \\"',
    "single quotes": r"x = 'a \' b'",
    "quotes in the other quotes": 'x = "it\'s"\ny = \'say "hi"\'',
    "template": "x = `Hello ${name}, ${order.total}`",
    "template with escapes": r"x = `a \` b \n \${c`",
    "empty template": "x = ``",
    "dollar without brace in a template": "x = `$5 and $name`",
    "integers and decimals": "x = 0\ny = 12\nz = 3.25",
    "signs": "x = -1\ny = +2.5\nz = 3 - -4",
    "constants": "x = None\ny = True\nz = False",
    "lower-case true is a name": "x = true",
    "names": "_a1 = 1\nA_b = _a1\n__last_error__ = None\n_status = 404",
    "unicode letters in names": "año = 1\nпривет = año\nx = `${año}`",
    "global": "x = $y + 1",
    "byte-order mark": "\ufeffx = 1",
    "CR ends a line": "x = 1\ry = 2\r",
    "CRLF ends a line": "x = 1\r\ny = 2\r\n",
    "space before the bracket": 'addVar (x, 1)\nif (x, 1, "=")\nend ()',
    "commands with capitals": "RequestGet('u', '', '', r)\nAddVariableToJSON('k', 1, d)\nAddvariableToJSON('k', 1, d)",
    "no-break space is space": "x\u00a0=\u00a01",
    "keywords of other languages as variables": "class = 1\npackage = class\naddVar(var, let)\nprint = 2",
    "keywords of ours as variables": "addVar(end, 5)\nstartLoop(i, start, end)\nendLoop()\ntry = 1",
    "line separators that are no line ends": "x = 1\u2028\ny = 2",
}

INVALID = {
    "hash is no comment": ("# hi\nx = 1", "1:1 syntax_error"),
    "hash after a statement": ("x = 1 # hi", "1:7 syntax_error"),
    "two semicolons": ("x = 1;;", "1:6 syntax_error"),
    "a lone semicolon": ("x = 1\n;", "2:1 syntax_error"),
    "a semicolon between statements": ("x = 1; y = 2", "1:6 syntax_error"),
    "unclosed text": ('x = "abc\ny = 1', "1:5 syntax_error"),
    "unclosed single-quoted text": ("x = 'abc\ny = 1", "1:5 syntax_error"),
    "text ends with a backslash": ('x = "abc\\"', "1:5 syntax_error"),
    "unclosed template": ("x = `abc\ny = 1", "1:5 syntax_error"),
    "slot that is an expression": ("x = `a ${b + 1}`", "1:8 syntax_error"),
    "empty slot": ("x = `${}`", "1:6 syntax_error"),
    "unclosed slot": ("x = `a ${b`", "1:8 syntax_error"),
    "unclosed comment": ("x = 1\n/* abc\ny = 2", "2:1 syntax_error"),
    "unclosed bracket": ("addVar(x, 1\naddResult(x)", "1:7 syntax_error"),
    "unclosed bracket at the end": ("addVar(x, 1", "1:7 syntax_error"),
    "unclosed list": ("x = [1, 2\ny = 3", "1:5 syntax_error"),
    "unclosed dict": ('x = {"a": 1\ny = 3', "1:5 syntax_error"),
    "wrong closer": ("x = [1, 2)", "1:5 syntax_error"),
    "closer of nothing": ("x = 1)", "1:6 syntax_error"),
    "floor division is a comment": ("x = 7 // 2", None),
    "exponent": ("x = 1e5", "1:5 syntax_error"),
    "no digit before the point": ("x = .5", "1:5 syntax_error"),
    "no digit after the point": ("x = 5.", "1:5 syntax_error"),
    "hexadecimal": ("x = 0x1F", "1:5 syntax_error"),
    "digits then letters": ("x = 12ab", "1:5 syntax_error"),
    "NUL": ("x = 1\ny = \0 2", "2:5 syntax_error"),
    "NUL in a text": ('x = "a\0b"', "1:7 syntax_error"),
    "lone surrogate": ('x = "a\ud800b"', "1:7 syntax_error"),
    "unknown sign": ("x = 1 ? 2", "1:7 syntax_error"),
    "emoji": ("x = 😀", "1:5 syntax_error"),
    "superscript is no letter": ("x = ²", "1:5 syntax_error"),
    "columns count code points": ('x = "😀é" 5', "1:10 syntax_error"),
    "columns count from the byte-order mark": ("\ufeffx = ?", "1:5 syntax_error"),
    "markdown fence": ("```avap\nx = 1\n```", "1:1 syntax_error|3:1 syntax_error"),
    "f-string": ('x = f"a {b}"', "1:5 syntax_error"),
    "dollar alone": ("x = $", "1:5 syntax_error"),
    "slot outside a template": ("x = ${a}", "1:5 syntax_error"),
    "CR counts as a line": ("x = 1\ry = ?", "2:5 syntax_error"),
    "php tag": ("<?php\nx = 1", "1:1 foreign_keyword"),
}


@pytest.mark.parametrize("code", VALID.values(), ids=VALID.keys())
def test_accepted(code: str) -> None:
    assert_valid(code)


@pytest.mark.parametrize(("code", "expected"), INVALID.values(), ids=INVALID.keys())
def test_refused(code: str, expected: str | None) -> None:
    assert faults(code) == (expected.split("|") if expected else [])


def test_a_mark_of_comment_is_text_inside_a_bare_argument() -> None:
    assert_valid("addVar(endpoint, https://api.example.com/users)\nc.query(1)", Dialect.LENIENT)
    assert_valid("addVar(accept, */*)\naddVar(other, */*)\nx = 1", Dialect.LENIENT)


def test_after_an_unclosed_bracket_reading_goes_on_at_the_next_statement() -> None:
    assert faults("addVar(x, (1\nif(x, 1, '=')\ny = getSHA256(x)\nend()\naddVar(z, [\naddResult(z)\n}") == [
        "1:7 syntax_error",
        "3:5 unknown_token",
        "5:7 syntax_error",
        "7:1 unexpected_construct",
    ]


def test_the_hint_of_a_hash_is_the_comment_mark() -> None:
    assert judge("# hi\nx = 1").diagnostics[0].suggestion == "//"


def test_the_hint_of_a_fence_says_what_to_send() -> None:
    assert "fence" in judge("```\nx = 1").diagnostics[0].message
