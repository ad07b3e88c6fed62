"""The last part of section 4: other languages' constructs are told as such, with the AVAP form, and named."""

from __future__ import annotations

import pytest
from avap_language import assert_valid, faults, judge

from core.model.syntax import Category

CASES = {
    "for of Python": ("for i in range(1, 6):", "Python", "startLoop"),
    "for of JavaScript": ("for (let i = 0; i < 5; i++) {\n}", "JavaScript", "startLoop"),
    "for of Go": ("for i := 0; i < 5; i++ {\n}", "Go", "startLoop"),
    "for of Java": ("for (int i = 0; i < 5; i++) {\n}", "Java", "startLoop"),
    "foreach of nobody": ("foreach(item in items)", "PHP", "startLoop"),
    "foreach of PHP": ("foreach ($items as $item) {\n}", "PHP", "startLoop"),
    "while of Python": ("while x < 5:", "Python", "startLoop"),
    "while of JavaScript": ("while (x < 5) {\n}", "JavaScript", "startLoop"),
    "while like a command": ("while(x, 5, '<')", None, "startLoop"),
    "elif": ("elif x > 1:", "Python", "if"),
    "elif like a command": ("elif(x, 1, '>')", "Python", "if"),
    "switch": ("switch (x) {\n}", "JavaScript", "if"),
    "def": ("def f(x):", "Python", "function"),
    "func": ("func f(x int) int {\n}", "Go", "function"),
    "fn": ("fn f(x: i32) {\n}", "Rust", "function"),
    "class": ("class A:", "Python", None),
    "class with a brace": ("class A {\n}", "JavaScript", None),
    "package": ("package main", "Go", None),
    "package of Java": ("package a.b;", "Java", None),
    "let": ("let x = 1;", "JavaScript", "addVar"),
    "var": ("var x = 1", "JavaScript", "addVar"),
    "var of Go": ("var x int", "Go", "addVar"),
    "const": ("const x = {\n  a: 1\n}", "JavaScript", "addVar"),
    "import from": ("import x from 'y'", "JavaScript", "import"),
    "import names from": ("import { a, b } from 'y';", "JavaScript", "import"),
    "import as": ("import numpy as np", "Python", "import"),
    "import of a dotted name": ("import os.path", "Python", "import"),
    "import of Java": ("import java.util.List;", "Java", "import"),
    "import block of Go": ('import (\n\t"fmt"\n)', "Go", "import"),
    "from import": ("from x import y", "Python", "import"),
    "include of C": ("#include <stdio.h>", "C", "include"),
    "print": ("print(x)", "Python", "addResult"),
    "print in an expression": ("x = print(y)", "Python", "addResult"),
    "fmt": ('fmt.Println("x")', "Go", "addResult"),
    "fmt in an expression": ('x = fmt.Sprintf("%d", y)', "Go", "addResult"),
    "console": ("console.log(x);", "JavaScript", "addResult"),
    "arrow": ("f = (a) => a + 1", "JavaScript", "function"),
    "arrow with a body": ("app.get('/x', (req, res) => {\n});", "JavaScript", "function"),
    "walrus": ("x := 5", "Go", "="),
    "lambda": ("f = lambda x: x + 1", "Python", "function"),
    "if with a brace": ("if (x > 5) {\n}", "JavaScript", None),
    "AVAP if with a brace": ('if(x, 5, ">") {\n}', "JavaScript", None),
    "if of Go": ("if x > 5 {\n}", "Go", None),
    "if of Python": ("if x > 5:", "Python", None),
    "else of Python": ("else:", "Python", None),
    "try of Python": ("try:", "Python", None),
    "except of Python": ("except Exception as e:", "Python", "exception"),
    "else if": ("else if (x) {\n}", "JavaScript", "else"),
    "loop with a brace": ("startLoop(i, 1, 5) {\n}", "JavaScript", None),
    "try with a brace": ("try {\n} catch (e) {\n}", "JavaScript", None),
    "block of its own": ("{\n}", "JavaScript", None),
    "php": ("<?php", "PHP", None),
    "echo": ('echo "x";', "PHP", "addResult"),
    "anonymous function": ("const f = function(a) {\n}", "JavaScript", "addVar"),
}


@pytest.mark.parametrize(("code", "language", "suggestion"), CASES.values(), ids=CASES.keys())
def test_foreign(code: str, language: str | None, suggestion: str | None) -> None:
    result = judge(code)
    found = result.diagnostics[0]
    assert (found.category, found.line) == (Category.FOREIGN_KEYWORD, 1)
    assert found.suggestion == suggestion
    assert found.message.startswith(f"{language}'s " if language else "'")
    assert {item.category for item in result.diagnostics} == {Category.FOREIGN_KEYWORD}


@pytest.mark.parametrize(
    "word", ["for", "foreach", "while", "elif", "switch", "def", "func", "fn", "let", "var", "const"]
)
def test_the_message_has_the_form_of_avap(word: str) -> None:
    message = judge(f"{word} x").diagnostics[0].message
    assert any(form in message for form in ("startLoop(", "if(", "function name(", "addVar("))


GO_PROGRAM = """package main

import (
\t"fmt"
\t"sync"
)

func worker(id int, wg *sync.WaitGroup) {
\tdefer wg.Done()
\tfmt.Println("Worker", id)
}

func main() {
\tvar wg sync.WaitGroup
\tfor i := 1; i <= 3; i++ {
\t\twg.Add(1)
\t\tgo worker(i, &wg)
\t}
\twg.Wait()
}
"""

PYTHON_LOOP = """for i in range(1, 6):
    # Build the JSON object
    item = {"id": i, "name": "x"}
    addResult(item)
"""

JAVASCRIPT = """let allowedRoles = ["admin", "editor"];
addParam("rol", rol)
if (allowedRoles.includes(rol)) {
    addVar(ok, True)
} else {
    addVar(ok, False)
}
addResult(ok)
"""

FOREACH = """foreach(item in items)
    print(item)
end()
"""


def test_a_go_program() -> None:
    result = judge(GO_PROGRAM)
    assert result.category is Category.FOREIGN_KEYWORD
    foreign = [found.line for found in result.diagnostics if found.category is Category.FOREIGN_KEYWORD]
    assert foreign == [1, 3, 8, 9, 10, 13, 14, 15]
    assert not {11, 18, 20} & {found.line for found in result.diagnostics}


def test_a_python_loop() -> None:
    assert faults(PYTHON_LOOP) == ["1:1 foreign_keyword", "2:5 syntax_error"]


def test_a_javascript_choice() -> None:
    assert faults(JAVASCRIPT) == ["1:1 foreign_keyword", "3:33 foreign_keyword", "5:8 foreign_keyword"]


def test_a_foreign_loop_takes_its_closer_with_it() -> None:
    assert faults(FOREACH) == ["1:1 foreign_keyword", "2:5 foreign_keyword"]
    assert faults("while(a, b, '<')\nx = 1\nendLoop()\nend()") == ["1:1 foreign_keyword", "4:1 unexpected_construct"]
    assert faults("if(a, b, =)\nfor i in b:\nx = 1\nend()\nendLoop()") == ["2:1 foreign_keyword"]


def test_foreign_wins_over_what_stands_further_left() -> None:
    assert faults("doIt(1 +, () => 2)") == ["1:14 foreign_keyword"]


def test_braces_of_a_foreign_block_inside_a_function() -> None:
    assert faults("function f(a){\nif (a > 1) {\nx = 1\n}\nreturn(a)\n}\nf(1)") == ["2:12 foreign_keyword"]


def test_a_brace_block_closed_the_avap_way() -> None:
    assert faults('if(a, b, "=") {\nx = 1\nelse()\nx = 2\nend()\ny = getSHA256(x)') == [
        "1:15 foreign_keyword",
        "6:5 unknown_token",
    ]


def test_comprehensions_and_conditionals_are_no_foreign_loops() -> None:
    assert_valid("x = [a for a in b if a > 1]\ny = 1 if x else 2")


def test_a_declared_function_may_bear_a_foreign_name() -> None:
    assert_valid("function print(a){\n}\nprint(1)")


def test_foreign_words_inside_texts_are_texts() -> None:
    assert_valid(
        "x = 'for (let i = 0; i < 1; i++) { fmt.Println(); }'\ny = \"lambda => :=\"\n// while (True) { print(1) }"
    )


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("getSHA256", "encodeSHA256"),
        ("generateSHA256Hash", "encodeSHA256"),
        ("readParam", "addParam"),
        ("ifParam", "addParam + if"),
        ("returnResult", "addResult"),
        ("getTimeStamp", "getDateTime"),
        ("except", "exception"),
        ("getListParamList", None),
        ("variableFromJSON", None),
        ("confirmPassword", None),
        ("httpGet", "RequestGet"),
    ],
)
def test_the_commands_that_models_invented(name: str, suggestion: str | None) -> None:
    for code in (f"x = 1\n{name}(x, y)", f"x = 1\ny = {name}(x)", f"x = 1\ny = 'a' + {name}(\"x\")"):
        if name == "except" and "=" not in code.splitlines()[1]:
            code = "x = 1\nexcept(e)"  # noqa: PLW2901
        found = judge(code).diagnostics[0]
        assert (found.line, found.category, found.text) == (2, Category.UNKNOWN_TOKEN, name)
        assert found.suggestion == suggestion


def test_except_acts_as_exception() -> None:
    assert faults("try()\nx = 1\nexcept(e)\naddResult(e)\nend()") == ["3:1 unknown_token"]
