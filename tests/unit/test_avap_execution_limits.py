"""No program hangs, fills the memory or breaks the interpreter: each bound is named, and none can be caught."""

from __future__ import annotations

import pytest
from avap_runs import failure, run, value

from core.avap.execution import ErrorKind, Limit, Limits

FOREVER = "startLoop(i, 0, 10 ** 12)\n{}\nendLoop()"

HOSTILE = {
    "endless loop": (FOREVER.format("x = i"), Limit.STEPS),
    "endless loop of decimals": ("startLoop(i, 10.0 ** 300, 10.0 ** 301)\nx = i\nendLoop()", Limit.STEPS),
    "power": ("x = 9 ** 9 ** 9", Limit.MEMORY),
    "negative power": ("x = (-7) ** -(10 ** 9)", Limit.MEMORY),
    "squares": ("x = 2\n" + FOREVER.format("x = x * x"), Limit.MEMORY),
    "repeated text": ('x = "a" * 10 ** 12', Limit.MEMORY),
    "repeated list": ("x = [0] * 10 ** 30", Limit.MEMORY),
    "doubled text": ('x = "ab"\n' + FOREVER.format("x = x + x"), Limit.MEMORY),
    "shared parts": ("x = [1]\n" + FOREVER.format("x = [x, x]"), Limit.MEMORY),
    "nested lists": ("x = [1]\n" + FOREVER.format("x = [x]"), Limit.MEMORY),
    "nested dicts": ("x = 1\n" + FOREVER.format('x = {"k": x}'), Limit.MEMORY),
    "nested brackets": ("x = " + "[" * 150 + "]" * 150, Limit.MEMORY),
    "recursion": ("function f(n){\nreturn(f(n + 1))\n}\nx = f(1)", Limit.DEPTH),
    "recursion in a handler": (
        "function f(n){\ntry()\nx = f(n)\nexception(e)\nx = f(n)\nend()\nreturn(x)\n}\nx = f(1)",
        Limit.DEPTH,
    ),
    "recursion of tasks": ("function f(n){\nt = go(f, n)\nreturn(t)\n}\nx = f(1)", Limit.DEPTH),
    "comprehension": ('a = "a" * 10000\nx = [1 for b in a for c in a for d in a if False]', Limit.STEPS),
    "widths": ('x = "%1000d" * 20000 % ((1,) * 20000)', Limit.MEMORY),
    "join": ('s = "a" * 100000\nx = s.join([c for c in s])', Limit.MEMORY),
    "replace": ('s = "a" * 100000\nreplace(s, "a", s, x)', Limit.MEMORY),
    "replace method": ('s = "a" * 100000\nx = s.replace("a", s)', Limit.MEMORY),
    "template": ('s = "a" * 4000000\n' + FOREVER.format("x = `${s}${s}${s}`"), Limit.MEMORY),
    "text of a list": ("s = [[1] * 1000] * 500\n" + FOREVER.format("x = str(s)"), Limit.MEMORY),
    "equal texts": ('s = "a" * 4000000\nt = s + "b"\nu = s + "c"\n' + FOREVER.format("x = t == u"), Limit.STEPS),
    "equal lists": ("s = [1] * 100000\nt = [1] * 100000\n" + FOREVER.format("x = s == t"), Limit.STEPS),
    "membership": ("s = [1] * 100000\n" + FOREVER.format("x = 2 in s"), Limit.STEPS),
    "loose membership": ("s = [1] * 100000\n" + FOREVER.format('if(2, s, "in")\nx = 1\nend()'), Limit.STEPS),
    "length": ("s = [1] * 1000000\n" + FOREVER.format("x = len(s)"), Limit.STEPS),
    "hash": ('s = "a" * 8000000\n' + FOREVER.format("encodeSHA256(s, x)"), Limit.STEPS),
    "random text": ("randomString(10 ** 9, x)", Limit.MEMORY),
    "date": ('f = "%A" * 100000\n' + FOREVER.format('getDateTime(f, 0, "UTC", x)'), Limit.MEMORY),
    "growing object": (FOREVER.format("AddVariableToJSON(i, i, x)"), Limit.MEMORY),
    "growing list": ("x = []\n" + FOREVER.format("x = x + [i]"), Limit.MEMORY),
    "tasks": ("function f(n){\nreturn(n)\n}\n" + FOREVER.format("x = go(f, i)"), Limit.STEPS),
    "results": ('x = "a" * 1000\n' + FOREVER.format("addResult(x)"), Limit.OUTPUT),
    "one result": ('x = "a" * 2000000\naddResult(x)', Limit.OUTPUT),
    "variables": ('x = "a" * 2000000', Limit.OUTPUT),
    "recursive query": (
        'ormDirect("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) AS n FROM t", x)',
        Limit.STEPS,
    ),
    "endless rows": (
        'ormDirect("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t", x)',
        Limit.STEPS,
    ),
    "sorted rows": (
        's = "a" * 8000\nq = "WITH RECURSIVE t(n, s) AS (SELECT 1, \'" + s + "\' UNION ALL SELECT n + 1, s FROM t)'
        ' SELECT n FROM t ORDER BY s, n"\normDirect(q, x)',
        Limit.STEPS,
    ),
    "growing table": (
        'ormDirect("CREATE TABLE t(a)", x)\nv = ["a" * 8000]\n' + FOREVER.format('ormAccessInsert("a", v, "t", x)'),
        Limit.STEPS,
    ),
    "pattern with look-ahead": ('s = "a" * 3000\ngetRegex(s, "(?=(?=(?=a*b)a*b)a*b)", x)', Limit.STEPS),
    "patterns": ('s = "a" * 100000\n' + FOREVER.format('getRegex(s, "a*b", x)'), Limit.STEPS),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.timeout(60)
def test_hostile_programs_end_in_a_named_limit(name: str) -> None:
    code, limit = HOSTILE[name]
    done = run("before = 1\naddResult(before)\n" + code)
    assert done.limit is limit
    assert done.error is not None
    assert done.error.kind is ErrorKind.LIMIT
    assert done.error.line >= 1
    assert (done.status, done.results["before"]) == (500, 1)


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "(a*)*(a*)*b", "(a|aa)*b", "(a|a)*b", "((a{0,9}){0,9}){0,9}b", "(.*)(.*)(.*)(.*)(.*)b", "(a?)*?b"],
)
@pytest.mark.timeout(30)
def test_patterns_that_hang_elsewhere_end(pattern: str) -> None:
    assert value(f's = "a" * 200\ngetRegex(s, "{pattern}", x)') is None


@pytest.mark.parametrize("code", ["[x for x in y] == y", "x ** x", "len(y)"])
def test_a_limit_is_never_caught(code: str) -> None:
    caught = (
        f"y = [1] * 1000\nx = 10 ** 1000\ntry()\nstartLoop(i, 0, 10 ** 9)\nz = {code}\nendLoop()\n"
        "exception(e)\nw = 1\nend()"
    )
    done = run(caught)
    assert done.limit in {Limit.STEPS, Limit.MEMORY}
    assert "w" not in done.variables
    assert done.error is not None
    assert done.error.line in {4, 5}


def test_limits_can_be_set() -> None:
    assert run("x = 1", limits=Limits(steps=2)).limit is Limit.STEPS
    assert run("x = 1", limits=Limits(steps=3)).limit is None
    code = "function f(n){\nif(n, 0, '==')\nreturn(0)\nend()\nreturn(f(n - 1))\n}\nx = f({})"
    assert run(code.replace("{}", "3"), limits=Limits(depth=4)).limit is None
    assert run(code.replace("{}", "4"), limits=Limits(depth=4)).limit is Limit.DEPTH
    assert run('x = "aaaaaaaaaa" + "b"', limits=Limits(memory=10)).limit is Limit.MEMORY
    assert run("x = [1, [2]]", limits=Limits(nesting=1)).limit is Limit.MEMORY
    assert run("x = [1, [2]]", limits=Limits(nesting=2)).limit is None


def test_variables_that_are_too_large_are_left_out_but_the_others_told() -> None:
    done = run('a = 1\nb = "b" * 300\nc = 2', limits=Limits(output=100))
    assert (dict(done.variables), done.limit, done.status) == ({"a": 1}, Limit.OUTPUT, 500)
    assert done.error is not None
    assert done.error.line == 3


def test_the_trace_is_as_long_as_it_may_be() -> None:
    code = "startLoop(i, 1, 9)\nx = i\nendLoop()"
    assert run(code).trace == ()
    assert run(code, limits=Limits(trace=4)).trace == (1, 2, 2, 2)
    assert len(run(code, limits=Limits(trace=99)).trace) == 10


def test_deep_programs_run() -> None:
    assert value("x = " + "(" * 199 + "1" + ")" * 199) == 1
    assert value("x = " + "-" * 1000 + "5") == 5
    assert value("x = " + "+".join(["1"] * 20_000)) == 20_000
    assert value('if(1, 1, "==")\n' * 200 + "x = 1\n" + "end()\n" * 200) == 1
    assert value("function f(n){\nreturn(n)\n}\nx = " + "f(" * 190 + "1" + ")" * 190) == 1
    assert value("x = " + "{'k': " * 90 + "1" + "}" * 90)["k"]
    assert value("y = [[1]]\nx = y" + "[0:1]" * 5000) == [[1]]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ('x = "%99999d" % 1', "value: a field of '%' is wider than 1000"),
        ('x = "%.99999f" % 1', "value: a field of '%' is wider than 1000"),
        ("x = " + "9" * 4990, "arithmetic: the result is too large for a decimal number"),
        ('x = int("9" * 5000)', "value: int cannot convert the text"),
        ('s = "a"\ngetRegex(s, "((a{1,99}){1,99})", x)', "value: the pattern cannot be used: it is too large"),
        ('s = "a"\np = "(" * 500\ngetRegex(s, p, x)', "value: the pattern cannot be used"),
        ('s = "a"\np = "a" * 1001\ngetRegex(s, p, x)', "value: the pattern is longer than 1000 signs"),
        ('s = "," * 100000\nx = ormAccessSelect(s, "t")', "table: fields are longer than 2000 signs"),
    ],
)
def test_what_is_absurd_but_small_is_an_ordinary_error(code: str, kind: str) -> None:
    assert kind in failure(code)
