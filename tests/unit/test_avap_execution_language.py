"""What programs do: expressions, blocks, scope, errors, tasks and endpoints."""

from __future__ import annotations

from typing import Any

import pytest
from avap_language import vocabulary
from avap_runs import failure, run, value

from core.avap import parse
from core.avap.execution import ErrorKind, NotExecutable, execute
from core.model.syntax import Dialect


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("2 ** 3 ** 2", 512),
        ("-2 ** 2", -4),
        ("7 / 2", 3.5),
        ("-7 % 3", 2),
        ("10 - 3 - 2", 5),
        ('"a" + "b" * 3', "abbb"),
        ("[1] + [2]", [1, 2]),
        ("(1, 2) + (3,)", [1, 2, 3]),
        ("2 * [0]", [0, 0]),
        ('"%s is %d (%.2f%%)" % ("x", 3, 1.5)', "x is 3 (1.50%)"),
        ('"%(a)05d|%(b)-4s|" % {"a": 42, "b": "q"}', "00042|q   |"),
        ('"%x %X %o %e %c" % (255, 255, 8, 1.5, "z")', "ff FF 10 1.500000e+00 z"),
        ("1 < 2 < 3", True),
        ("1 < 3 < 2", False),
        ("1 == 1.0", True),
        ('"1" == 1', False),
        ("None is None", True),
        ("1 is not 1.0", True),
        ('"b" in "abc" and 4 not in [1, 2]', True),
        ('"k" in {"k": 1}', True),
        ("0 or [] or 5", 5),
        ("1 and 0 and 1 / 0", 0),
        ("not not 3", True),
        ("1 if 0 else 2 if 0 else 3", 3),
        ("[a * b for a in [1, 2] for b in [10, 20] if a * b != 20]", [10, 40]),
        ("[k + v for k, v in [('a', 'b'), ('c', 'd')]]", ["ab", "cd"]),
        ("[c for c in 'xyz']", ["x", "y", "z"]),
        ('{"a": {"b": [1, 2, 3]}}["a"]["b"][-1]', 3),
        ('{"a": {"b": 4}}.a.b', 4),
        ('"hello"[1:4]', "ell"),
        ("[1, 2, 3, 4][::-2]", [4, 2]),
        ('len("año") + len([1]) + len({"k": 1})', 5),
        ('int("-12") + int(3.9)', -9),
        ('float("1e2") + float(1)', 101.0),
        ("str([1, 'a', None, True, 2.5])", "[1, 'a', None, True, 2.5]"),
        ("str(10 ** 20)", "100000000000000000000"),
        ('"  Ab ".strip().upper() + "x,y".split(",")[1]', "ABy"),
        ('"-".join(["a", "b"]) + "aXa".replace("X", "")', "a-baa"),
        ('{"a": 1}.get("b", 7) + {"a": 1}.get("a")', 8),
        ('{"a": 1, "b": 2}.items()', [["a", 1], ["b", 2]]),
        ('{"a": 1}.keys() + {"a": 1}.values()', ["a", 1]),
        ("[3, 4, 3].index(4) + [3, 4, 3].count(3)", 3),
        ('"abc".find("c") + "banana".count("a")', 5),
        ('"a1".isalnum() and "12".isdigit() and "ab".startswith("a")', True),
        ("()", []),
    ],
)
def test_expressions_follow_python(expression: str, expected: Any) -> None:
    found = value(f"x = {expression}")
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 / 0", "arithmetic: division by zero"),
        ("1 % 0", "arithmetic: division by zero"),
        ("(-8) ** 0.5", "arithmetic: a fractional power of a negative number is no number"),
        ("10.5 ** 400", "arithmetic: the result is too large for a decimal number"),
        ('"a" + 1', "type: '+' does not work on a text and a number; convert with str(...)"),
        ("[] - []", "type: '-' does not work on a list and a list"),
        ('-"a"', "type: '-' needs a number, not a text"),
        ('1 < "a"', "type: '<' does not order a number and a text"),
        ("1 in 5", "type: 'in' needs a list, a dict or a text, not a number"),
        ('1 in "1"', "type: 'in' looks for a text in a text, not for a number"),
        ("[1][5]", "value: index 5 is outside a list of 1"),
        ('[1]["a"]', "type: a list is indexed by a whole number, not by 'a'"),
        ('{"a": 1}["b"]', "value: the dict has no key 'b'"),
        ("(None)[0]", "type: None has no elements"),
        ("{[1]: 2}", "type: a list cannot be the key of a dict"),
        ('int("12a")', "value: int cannot convert the text '12a'"),
        ('float("nan")', "value: float cannot convert the text 'nan'"),
        ('float("inf")', "value: float cannot convert the text 'inf'"),
        ("float(10 ** 400)", "arithmetic: the number is too large for a decimal number"),
        ("len(5)", "type: a number has no length"),
        ('"%d" % "a"', "type: '%d' does not take a text"),
        ('"%s %s" % (1,)', "type: the text has more fields than there are values for '%'"),
        ('"%s" % (1, 2)', "type: the text has fewer fields than there are values for '%'"),
        ('"%q" % 1', "value: '%q' is no field of '%'"),
        ('"%*d" % (3, 4)', "value: '%*' is no field of '%'"),
        ("missing + 1", "name: variable 'missing' has no value here"),
        ("[1].append(2)[0]", "type: a list has no method 'append'; write x = x + [item]"),
        ('"{}".format(1)[0]', "type: a text has no method 'format'"),
        ('"a".__class__', "type: a text has no attribute '__class__'"),
        ('{"a": 1}.__class__', "value: the dict has no key '__class__'"),
        ('"a".upper(1)', "type: upper does not take 1 arguments"),
        ('"a".split(1) + []', "type: split does not take a number"),
        ('{"a": 1}["a"](2)', "type: a number cannot be called"),
        ("[a for a in 5]", "type: 'for' needs a list, not a number"),
        ("[a for a, b in [[1]]]", "value: a list does not give 2 names their values"),
        ("[1, 2][0:1:0]", "value: the step of a slice cannot be 0"),
        ('[1]["a":]', "type: a slice is given by whole numbers"),
    ],
)
def test_what_cannot_be_computed_is_an_error_of_the_program(expression: str, expected: str) -> None:
    assert failure(f"y = 1\nx = {expression}") == f"2 {expected}"


def test_floor_division_exists_in_mode_2_only() -> None:
    assert run("m = 485\nif(None, None, `m // 60 == 8`)\nx = 1\nend()").variables["x"] == 1


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ('"10", 9, ">"', True),
        ('"10", "9", ">"', True),
        ('"abc", "abd", "<"', True),
        ('"10", "9a", "<"', True),
        ('1, "1.0", "=="', True),
        ('" 7 ", 7, "="', True),
        ('n, None, "=="', True),
        ('n, "None", "=="', False),
        ('n, 5, "<"', False),
        ('n, 5, ">"', False),
        ('n, n, "<="', False),
        ('n, 5, "!="', True),
        ('"True", True, "=="', True),
        ('True, 1, "=="', False),
        ('[1, 2], [1, 2], "=="', True),
        ('"2", [1, 2], "in"', True),
        ('"b", "abc", "in"', True),
        ('"k", {"k": 1}, "in"', True),
        ('n, ["None"], "in"', False),
        ("3, 4, <=", True),
    ],
)
def test_mode_1_compares_numbers_as_numbers_and_all_else_as_text(condition: str, holds: bool) -> None:
    assert value(f"n = None\nx = False\nif({condition})\nx = True\nend()") is holds


def test_else_and_nesting() -> None:
    code = (
        'addParam("a", a)\nif(a, 10, ">")\nx = "big"\nelse()\nif(a, 5, ">")\nx = "middle"\nelse()\n'
        'x = "small"\nend()\nend()'
    )
    assert [value(code, {"a": a}) for a in ("11", "6", "1")] == ["big", "middle", "small"]


def test_loops_include_both_bounds_and_keep_the_last_value() -> None:
    done = run("n = 3\nt = 0\nstartLoop(i, 1, n)\nn = 10\nt = t + i\nendLoop()")
    assert dict(done.variables) == {"n": 10, "t": 6, "i": 3}
    assert "i" not in run("startLoop(i, 1, 0)\nx = 1\nendLoop()").variables
    assert value('x = []\nstartLoop(i, "2", 3.0)\nx = x + [i]\nendLoop()') == [2, 3]
    assert (
        failure('startLoop(i, 0, "a")\nx = 1\nendLoop()')
        == "1 type: the end of a loop must be a number, not the text 'a'"
    )


def test_templates_fill_slots_with_what_the_name_means_where_they_stand() -> None:
    code = "a = {'b': {'c': 1.5}}\ng = 'global'\nfunction f(a){\nreturn(`${a}/${g}`)\n}\nx = `<${a.b.c}|${g}> ` + f(2)"
    assert value(code) == "<1.5|global> 2/global"
    assert failure("a = {}\nx = `${a.b}`") == "2 value: 'a.b' is not there: no key 'b'"
    assert failure("x = `${nothing}`") == "1 name: variable 'nothing' has no value here"


def test_a_slot_inside_a_mode_2_text() -> None:
    code = (
        "function f(p){\nif(None, None, `${p.n} > $limit`)\nreturn(True)\nend()\nreturn(False)\n}\n"
        "limit = 3\nx = f({'n': 4})"
    )
    assert value(code) is True


def test_functions_have_a_scope_of_their_own() -> None:
    code = "x = 1\ny = 5\nfunction f(a){\nx = a + $y\nreturn(x)\n}\nz = f(2)"
    assert dict(run(code).variables) == {"x": 1, "y": 5, "z": 7}
    assert failure("y = 5\nfunction f(){\nreturn(y)\n}\nx = f()") == (
        "3 name: variable 'y' has no value here; the global is read through $"
    )
    assert failure("function f(a){\nreturn($a)\n}\nx = f(1)") == "2 name: variable 'a' has no value here"


def test_status_and_last_error_belong_to_no_scope() -> None:
    code = (
        "function f(){\n_status = 404\ntry()\nx = 1 / 0\nexception()\ny = __last_error__\nend()\n"
        "return(y)\n}\nx = f()\nz = _status"
    )
    done = run(code)
    assert (done.status, done.variables["x"], done.variables["z"]) == (404, "division by zero", 404)
    assert done.variables["__last_error__"] == "division by zero"
    assert value("x = _status") == 200


@pytest.mark.parametrize("status", ['"abc"', "99", "600", "None", "200.5"])
def test_a_status_that_is_none_is_an_error(status: str) -> None:
    assert failure(f"_status = {status}").startswith("1 ")


def test_functions_call_each_other_before_they_are_declared_and_return_early() -> None:
    code = "x = [even(4), even(7)]\nfunction even(n){\nif(n, 0, '==')\nreturn(True)\nend()\nreturn(odd(n - 1))\n}\n"
    code += "function odd(n){\nif(n, 0, '==')\nreturn(False)\nend()\nreturn(even(n - 1))\n}"
    assert value(code) == [True, False]
    assert value("function f(){\ny = 1\n}\nx = f()") is None
    assert value("function f(){\nreturn()\n}\nx = f()") is None
    assert value("function inc(n){ return(n + 1) }\nx = inc(inc(1))") == 3
    assert run("function f(a){\ny = a\n}\nf(1)\nx = 1").variables == {"x": 1}


def test_returning_out_of_loops_and_try_leaves_nothing_behind() -> None:
    code = (
        "function f(){\nstartLoop(i, 1, 9)\ntry()\nif(i, 3, '==')\nreturn(i)\nend()\nexception(e)\n"
        "return(e)\nend()\nendLoop()\n}\n"
    )
    assert value(code + "try()\nx = [f() for a in [1, 2]]\ny = 1 / 0\nexception(e)\nz = e\nend()") == [3, 3]


def test_the_handler_runs_when_something_fails_and_only_then() -> None:
    code = "try()\ny = 1\nx = [1 / b for b in [1, 0]]\nz = 1\nexception(e)\nx = [e, __last_error__]\nend()"
    done = run(code)
    assert done.variables["x"] == ["division by zero", "division by zero"]
    assert "z" not in done.variables
    assert run("try()\nx = 1\nexception(e)\nx = 2\nend()").variables == {"x": 1}


def test_errors_go_to_the_nearest_handler() -> None:
    code = (
        "function f(){\nreturn(1 / 0)\n}\ntry()\ntry()\ny = f()\nexception(a)\ny = int(a)\nend()\n"
        "exception(b)\nx = b\nend()"
    )
    assert value(code) == "int cannot convert the text 'division by zero'"


def test_an_uncaught_error_gives_500_its_line_and_the_results_so_far() -> None:
    code = "a = 1\naddResult(a)\nfunction f(n){\nreturn(1 / n)\n}\n_status = 201\nb = f(0)\naddResult(b)"
    done = run(code)
    assert (done.status, dict(done.results)) == (500, {"a": 1})
    assert done.error is not None
    assert (done.error.line, done.error.text, done.error.kind) == (4, "division by zero", ErrorKind.ARITHMETIC)
    assert done.executed_lines == (1, 2, 3, 4, 6, 7)


def test_results_keep_their_order_and_null_stands_for_what_was_never_assigned() -> None:
    done = run("b = 1\na = 2\naddResult(b)\naddResult(a)\naddResult('nothing')\nb = 3\naddResult(b)")
    assert list(done.results.items()) == [("b", 3), ("a", 2), ("nothing", None)]
    assert "nothing" not in done.variables


def test_a_request_may_supply_a_variable() -> None:
    assert value("x = user + '!'", {"user": "ada"}) == "ada!"
    assert failure("function f(){\nreturn(user)\n}\nx = f()", {"user": "ada"}).startswith("2 name")


def test_go_runs_at_once_and_gather_gives_what_it_returned() -> None:
    code = "n = 10\nfunction f(a){\nn = a * $n\nreturn(n)\n}\ni = go(f, 2)\nj = go('f', 3)\n"
    code += "b = gather(j, 100)\na = gather(i)\nx = [a, b, n]\n"
    assert value(code) == [20, 30, 10]
    assert failure("y = 5\nx = gather(y)") == "2 value: gather needs an id that go has given"


def test_a_failing_task_fails_where_it_is_gathered() -> None:
    task = "function f(){\nreturn(1 / 0)\n}\ni = go(f)\ny = 1\n"
    assert failure(task + "x = gather(i)") == "6 arithmetic: division by zero"
    assert value(task + "try()\nx = gather(i)\nexception(e)\nx = e\nend()") == "division by zero"
    assert run("function f(){\nreturn(1 / 0)\n}\ngo(f)\nx = 1").error is None


def test_tasks_start_tasks() -> None:
    code = (
        "function g(n){\nreturn(n + 1)\n}\nfunction f(n){\ni = go(g, n)\nr = gather(i)\n"
        "return([r, i])\n}\ni = go(f, 1)\nj = go(f, 5)\n"
    )
    inner, outer = run(code + "a = gather(i)\nb = gather(j)").variables["a"], run(code).variables
    assert inner[0] == 2
    assert len({inner[1], outer["i"], outer["j"]}) == 3


def test_a_task_that_waits_longer_than_gather_does_gives_none() -> None:
    code = 'function f(){\nRequestGet("https://a.b", "", "", r)\nreturn(r)\n}\ni = go(f)\nx = gather(i, 100)'
    slow = {"__http__": [{"url": "https://a.b", "body": "ok", "delay_ms": 200}]}
    assert value(code, slow) is None
    assert value(code.replace("100", "200"), slow) == "ok"


def test_connectors_answer_as_they_were_told() -> None:
    inputs = {"__connectors__": {"T-1": {"send": {"ok": True}}}}
    code = 'c = avapConnector("T-1")\nc.send(1, 2)\nx = c.send("a")'
    assert value(code, inputs) == {"ok": True}
    assert failure(code) == "2 request: no reply is given for 'send' of 'T-1' (__connectors__)"
    assert (
        value(
            'c = avapConnector("T")\nfunction f(c){\nreturn($c.m(1))\n}\nx = f(2)', {"__connectors__": {"T": {"m": 3}}}
        )
        == 3
    )


def test_a_connector_reaches_the_tables_of_the_run() -> None:
    code = (
        'ormCreateTable("a", "INTEGER", "t", made)\nc = avapConnector("DB")\n'
        'w = c.query("INSERT INTO t VALUES (7)")\nx = c.query("SELECT a FROM t")'
    )
    assert value(code) == [{"a": 7}]


def test_modules_answer_as_they_were_told_and_files_are_not_read() -> None:
    inputs = {"__connectors__": {"pricing": {"quote": 12, "call": 5}}}
    assert value('import "a.avap"\ninclude <other>\nimport pricing\nx = pricing.quote(1) + pricing(2)', inputs) == 17
    assert failure("import pricing\nx = pricing.quote(1)").startswith("2 request: no reply is given")


def test_method_calls_on_the_right_work_on_values_too() -> None:
    assert value('s = "a b"\nx = s.upper()') == "A B"
    assert failure("s = [1]\ns.append(2)") == "2 type: a list has no method 'append'; write x = x + [item]"


ENDPOINTS = """function allow(){
addParam("key", key)
if(key, "k", "!=")
_status = 401
return(False)
end()
return(True)
}
function read(id){
return("read " + str(id))
}
function write(){
return("written")
}
registerEndpoint("/a", "GET", [allow], "reads", read, seen)
registerEndpoint("/a", "POST", [], "writes", write, done)
"""


def test_a_request_reaches_the_endpoint_it_names() -> None:
    done = run(ENDPOINTS, {"key": "k", "id": 7, "__request__": {"path": "/a"}})
    assert (done.status, dict(done.results), dict(done.variables)) == (200, {"seen": "read 7"}, {"seen": "read 7"})
    done = run(ENDPOINTS, {"__request__": {"path": "/a", "method": "post"}})
    assert dict(done.results) == {"done": "written"}
    assert 2 not in done.executed_lines
    assert run(ENDPOINTS, {"__request__": {"path": "/b"}}).status == 404


def test_without_a_request_each_endpoint_is_asked_once() -> None:
    assert dict(run(ENDPOINTS, {"key": "k"}).results) == {"seen": "read None", "done": "written"}


def test_a_middleware_that_gives_false_refuses_the_request() -> None:
    done = run(ENDPOINTS, {"__request__": {"path": "/a"}})
    assert (done.status, dict(done.results)) == (401, {"seen": None})
    assert 10 not in done.executed_lines


def test_an_output_is_stored_as_any_variable_is() -> None:
    code = 'function f(){\nreturn(status)\n}\nregisterEndpoint("/", "GET", [], "", f, _status)'
    assert run(code.replace("status)\n}", "202)\n}")).status == 202
    assert failure(code.replace("status)\n}", "'none')\n}")).startswith("4 type: _status must be a whole number")


def test_an_error_in_a_handler_has_its_line() -> None:
    assert failure('function f(){\nreturn(1 / 0)\n}\nregisterEndpoint("/", "GET", [], "", f, x)').startswith("2 ")
    code = 'function f(){\nreturn(1)\n}\nregisterEndpoint("/", "GET", ["g"], "", f, x)'
    assert failure(code) == "4 request: no reply is given for 'call' of 'g' (__connectors__)"
    assert failure(code.replace('["g"]', "5")) == "4 type: the middleware of an endpoint is a list, not a number"


def test_bare_words_of_the_lenient_dialect_stand_for_themselves() -> None:
    code = (
        "zone = 'UTC'\ngetDateTime(%Y-%m-%d, 0, UTC, x)\naddVar(y, zone)\n"
        "addVar(z, https://a.b/?q=1)\nRequestGet(z, , , r)"
    )
    done = run(code, {"__http__": {"https://a.b/?q=1": 1}}, dialect=Dialect.LENIENT)
    assert done.error is None
    assert dict(done.variables) == {
        "zone": "UTC", "x": "2026-01-01", "y": "UTC", "z": "https://a.b/?q=1", "r": 1,
    }  # fmt: skip


def test_executed_and_counted_lines() -> None:
    code = """// a comment

function f(a){
    y = [
        a
    ]
    return(y)
}
function never(){
    z = 1
}
try()
    x = f(1)
exception(e)
    x = 2
end()
if(x, 3, "==")
    x = 4
else()
    x = 5
end()
startLoop(i, 1, 0)
    x = 6
endLoop()
"""
    done = run(code)
    assert done.statement_lines == (3, 4, 7, 9, 10, 12, 13, 14, 15, 17, 18, 20, 22, 23)
    assert done.executed_lines == (3, 4, 7, 12, 13, 17, 20, 22)


def test_only_valid_programs_are_executed() -> None:
    for code in ('if(1, 2, "===")\nx = 1\nend()', "try()\nx = 1\nend()"):
        with pytest.raises(NotExecutable, match="line 1: only a VALID program"):
            execute(parse(code, vocabulary(), Dialect.STRICT).tree)
