"""Whatever a valid program does, running it ends in an outcome, and always in the same one."""

from __future__ import annotations

import json

from avap_runs import parsed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.avap.execution import Inputs, Limits, execute
from core.avap.execution.compiling import compile_program
from core.avap.execution.coverage import ecs
from core.avap.execution.mutation import mutants
from core.avap.execution.running import finished
from core.avap.execution.values import plain
from core.model.syntax import Dialect

WORDS = "definitions-2026.03"
SMALL = Limits(steps=3000, memory=200_000, output=20_000, depth=20)

names = st.sampled_from(["a", "b", "rows", "año", "_status", "__last_error__"])
atoms = st.one_of(
    names,
    names.map("${}".format),
    st.integers(0, 40).map(str),
    st.sampled_from(
        [
            *("3.25", "None", "True", '""', '"text"', "'12'", "`${a} and ${b.c}`", "[]", "{}", "()", '"%s %5d"', "f"),
            *('"a.*[b]"', '"2026-01-31"', '"%Y-%m-%d"', '"t"', '"id, name"', '"SELECT * FROM t"', '"https://a.b"'),
        ]
    ),
)
OPERATORS = ("+", "-", "*", "/", "%", "**", "<", ">=", "==", "in", "not in", "and", "or", "is not")
METHODS = ("upper()", "split()", "get(1)", "items()", "join(a)", "m(1, 2)", "query('SELECT 1 AS n')", "index(0)")


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map(lambda parts: f"({' '.join(parts)})"),
        inner.map("(-{})".format),
        inner.map("(not {})".format),
        st.tuples(inner, inner).map("({0[0]})[{0[1]}]".format),
        st.tuples(inner, inner).map("({0[0]})[{0[1]}:]".format),
        inner.map("({}).b".format),
        st.tuples(inner, st.sampled_from(METHODS)).map("({0[0]}).{0[1]}".format),
        st.tuples(st.sampled_from(["len", "str", "int", "float", "f"]), inner).map("{0[0]}({0[1]})".format),
        st.tuples(inner, inner).map("[{0[0]}, {0[1]}]".format),
        st.tuples(inner, inner).map("{{'k': {0[0]}, {0[1]}: 2}}".format),
        st.tuples(inner, inner, inner).map("({0[0]} if {0[1]} else {0[2]})".format),
        st.tuples(inner, inner).map("[{0[0]} for a in {0[1]} if a]".format),
    )


expressions = st.recursive(atoms, _compound, max_leaves=6)


def _with(template: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.tuples(*parts).map(lambda chosen: [template.format(*chosen)])


X, N = expressions, names
simple = st.one_of(
    _with("{} = {}", N, X),
    _with("addVar({}, {})", N, X),
    _with("addResult({})", N),
    _with("addParam('p', {})", N),
    _with("getQueryParamList({})", N),
    _with("getListLen({}, {})", N, N),
    _with("itemFromList({}, {}, {})", N, X, N),
    _with("variableToList({}, {})", X, N),
    _with("AddVariableToJSON({}, {}, {})", X, X, N),
    _with("variableFromJSON({}, {}, {})", X, X, N),
    _with("{} = encodeSHA256({})", N, X),
    _with("encodeMD5({}, {})", X, N),
    _with("getRegex({}, {}, {})", N, X, N),
    _with("replace({}, {}, {}, {})", X, X, X, N),
    _with("randomString({}, {}, {})", X, X, N),
    _with("getDateTime({}, {}, 'UTC', {})", X, X, N),
    _with("stampToDatetime({}, {}, {}, {})", X, X, X, N),
    _with("getTimeStamp({}, {}, {}, {})", X, X, X, N),
    _with("RequestGet({}, {}, {}, {})", X, X, X, N),
    _with("RequestPost({}, {}, {}, {}, {}, {})", X, X, X, X, N, X),
    _with("ormCheckTable({}, {})", X, N),
    _with("ormCreateTable({}, 'TEXT, TEXT', {}, {})", X, X, N),
    _with("ormAccessSelect({}, {}, {}, {})", X, X, N, X),
    _with("ormAccessInsert({}, {}, {}, {})", X, N, X, N),
    _with("ormAccessUpdate({}, {}, {}, {}, {})", X, N, X, X, N),
    _with("ormDirect({}, {})", X, N),
    _with("{} = go(f, {})", N, X),
    _with("{} = gather({}, {})", N, N, X),
    _with("{} = avapConnector({})", N, X),
    _with("{}.m({})", N, X),
    _with("f({})", X),
    _with("registerEndpoint({}, 'GET', {}, {}, f, {})", X, X, X, N),
    st.just(["import año"]),
)


def _block(body: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    operator = st.sampled_from(["=", "!=", "<", ">=", "in"])
    opener = st.tuples(expressions, expressions, operator).map("if({0[0]}, {0[1]}, '{0[2]}')".format)
    return st.one_of(
        st.tuples(opener, body, body).map(lambda parts: [parts[0], *parts[1], "else()", *parts[2], "end()"]),
        body.map(lambda lines: ["if(None, None, `len(str(a)) > 1`)", *lines, "end()"]),
        st.tuples(names, st.sampled_from(["2", "a", "len(rows)", "9999"]), body).map(
            lambda parts: [f"startLoop({parts[0]}, 0, {parts[1]})", *parts[2], "endLoop()"]
        ),
        st.tuples(body, body).map(lambda pair: ["try()", *pair[0], "exception(e)", *pair[1], "end()"]),
        st.tuples(body, body).map(lambda pair: [*pair[0], *pair[1]]),
    )


guarded = simple.map(lambda lines: ["try()", *lines, "exception(e)", "end()"])
bodies = st.recursive(st.one_of(guarded, guarded, guarded, simple), _block, max_leaves=10)
constants = st.sampled_from(["7", "-1.5", "'12'", '"%s|%d"', "[3, [], 'x']", "{'c': 1, 0: 'x'}", "None", "(1, 2)"])
assigned = st.tuples(constants, constants, constants).map("a = {0[0]}\nrows = {0[1]}\naño = {0[2]}".format)
programs = st.tuples(assigned, bodies, bodies).map(
    lambda parts: "\n".join([parts[0], *parts[1], "function f(a){", *parts[2], "return([a, $b])", "}"])
)
WORLD = Inputs.from_mapping(
    {"p": ["x", 1], "b": {"c": 2.5}, "__http__": {"https://a.b": [1]}, "__connectors__": {"text": {"m": {"k": None}}}}
)
quick = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@given(programs, st.sampled_from(Dialect))
@quick
def test_any_valid_program_ends_in_one_outcome(code: str, dialect: Dialect) -> None:
    tree = parsed(code, WORDS, dialect).tree
    done = execute(tree, WORLD, SMALL, dialect=dialect)
    assert execute(tree, WORLD, SMALL, dialect=dialect) == done
    assert json.loads(done.model_dump_json())["status"] == done.status
    assert set(done.executed_lines) <= set(done.statement_lines)
    assert (done.error is None) or done.status == 500
    assert (done.limit is not None) == (done.error is not None and done.error.kind == "limit")
    assert done.error is None or done.error.line in done.executed_lines


@given(programs)
@settings(quick, max_examples=40)
def test_every_mutant_runs_too(code: str) -> None:
    found = parsed(code, WORDS)
    for mutant in mutants(found.tree, 30):
        with finished(compile_program(found.tree, exchange=mutant.exchange), WORLD, SMALL) as run:
            json.dumps([plain(value) for value in run.machine.world.globals.values()], allow_nan=False)
    assert 0 <= ecs(found, [WORLD, Inputs()], SMALL).score <= 1
