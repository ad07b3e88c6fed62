"""ECS and the quality of assertions."""

from __future__ import annotations

import pytest
from avap_language import vocabulary
from avap_runs import parsed, run

from core.avap import parse
from core.avap.execution import Inputs, Limits
from core.avap.execution.coverage import ECS, covered, ecs
from core.avap.execution.mutation import mutants
from core.avap.execution.quality import TEST_QUALITY, AssertionQuality, quality
from core.avap.tree import Program
from core.model.syntax import Dialect

BRANCHES = """addParam("n", n)
if(n, 10, ">")
    size = "big"
else()
    size = "small"
end()
try()
    half = 100 / int(n)
exception(e)
    half = 0
end()
addResult(size)
"""


def cases(*inputs: dict[str, object]) -> list[Inputs]:
    return [Inputs.from_mapping(given) for given in inputs]


def test_coverage_is_the_union_over_the_test_inputs() -> None:
    program = parsed(BRANCHES)
    one = ecs(program, cases({"n": "20"}))
    assert one.statement_lines == (1, 2, 3, 5, 7, 8, 9, 10, 12)
    assert one.executed_lines == (1, 2, 3, 7, 8, 12)
    assert one.score == pytest.approx(6 / 9)
    assert (one.metric, one.reason) == (ECS, None)
    both = ecs(program, cases({"n": "20"}, {"n": "0"}))
    assert (both.score, both.executed_lines) == (1, both.statement_lines)


def test_coverage_is_0_when_the_program_does_not_parse_or_run() -> None:
    invalid = ecs(parse("x = \n", vocabulary(), Dialect.STRICT), [])
    assert (invalid.score, invalid.statement_lines) == (0, ())
    assert invalid.reason is not None
    assert invalid.reason.startswith("Line 1: ")
    fails = ecs(parsed("addParam('n', n)\nx = 1 / n"), cases({"n": 1}, {"n": 0}))
    assert (fails.score, fails.reason) == (0, "Line 2: division by zero")
    assert fails.executed_lines == (1, 2)
    endless = ecs(parsed("startLoop(i, 1, 999)\nx = i\nendLoop()"), [], Limits(steps=100))
    assert (endless.score, endless.reason) == (0, "Line 2: the program takes more than 100 steps")


def test_coverage_of_finished_runs() -> None:
    assert covered([run("x = 1\naddResult(x)")]).score == 1


def changes(code: str) -> list[str]:
    return [f"{mutant.line} {mutant.change}" for mutant in mutants(parsed(code).tree)]


def test_operators_constants_statements_and_arguments_are_changed() -> None:
    assert changes("x = 1 + y * 2.5") == [
        "1 statement: dropped",
        "1 operator: + became -",
        "1 constant: 1 became 2",
        "1 operator: * became /",
        "1 constant: 2.5 became 12.5",
    ]
    assert changes('if(a, "b", "<=")\nx = not True\nend()') == [
        "1 statement: dropped",
        "1 operator: <= became <",
        "1 operator: <= became >",
        "1 constant: text changed",
        "2 statement: dropped",
        "2 operator: not dropped",
        "2 constant: True became False",
    ]
    assert changes("if(None, None, `a and 1 < b`)\nx = `t${a}`\nend()") == [
        "1 statement: dropped",
        "1 operator: and became or",
        "1 operator: < became <=",
        "1 operator: < became >=",
        "1 constant: 1 became 2",
        "2 statement: dropped",
        "2 constant: template changed",
    ]
    assert changes("replace(a, b, c, x)") == [
        "1 arguments: 1 and 2 swapped",
        "1 arguments: 2 and 3 swapped",
        "1 statement: dropped",
    ]
    code = "function f(a, b){ return(a - b) }\nf(1, 2)\nx = f(3, 4)\nc.m(x, x)\ni = go(f, x, x)"
    assert [change for change in changes(code) if "swapped" in change] == [
        "2 arguments: 1 and 2 swapped",
        "3 arguments: 1 and 2 swapped",
        "4 arguments: 1 and 2 swapped",
        "5 arguments: 2 and 3 swapped",
    ]


def test_names_and_declarations_are_left_alone() -> None:
    assert changes("import a\ngetListLen(y, x)") == ["2 statement: dropped"]
    assert changes("function f(){\nreturn(None)\n}") == ["2 statement: dropped"]


def test_mutants_are_bounded_and_spread_over_the_program() -> None:
    tree: Program = parsed("\n".join(f"x = {n}" for n in range(300))).tree
    found = mutants(tree, 30)
    assert len(found) == 30
    assert found == mutants(tree, 30)
    assert max(mutant.line for mutant in found) > 270
    assert len(mutants(parsed("x = " + " + ".join(["1"] * 3000)).tree)) == 200


def judged(code: str, assertion: str, *inputs: dict[str, object]) -> AssertionQuality:
    (found,) = quality(parsed(code), [assertion], cases(*inputs)).assertions
    return found


SUM = 'addParam("a", a)\ntotal = int(a) + 2\ntwice = 5\ntwice = 5\naddResult(total)'


def test_an_assertion_counts_that_holds_and_would_notice_a_mistake() -> None:
    good = judged(SUM, "total == 5", {"a": "3"})
    assert good.counts
    assert good.killed == "line 2: statement: dropped"
    assert judged(SUM, "total == int(a) + 2", {"a": "3"}, {"a": "-1"}).counts


def test_a_mutant_without_a_variable_does_not_have_it_from_the_request() -> None:
    assert judged(SUM, 'a == "3"', {"a": "3"}).killed == "line 1: statement: dropped"
    assert judged(SUM, 'total == {"x": 5, "y": 6}[case]', {"a": "3", "case": "x"}, {"a": "4", "case": "y"}).counts


@pytest.mark.parametrize(
    ("assertion", "reason"),
    [
        ("total == 6", "passes"),
        ("total", "passes"),
        ("missing == 1", "passes"),
        ("total / 0 == 1", "passes"),
        ("1 == 1", "names_assigned"),
        ("total == total", "varies"),
        ("total == 5 or True", "varies"),
        ("len(str(total)) >= 0", "varies"),
        ("twice != 77", "killed"),
    ],
)
def test_assertions_that_do_not_count(assertion: str, reason: str) -> None:
    found = judged(SUM, assertion, {"a": "3"})
    assert not found.counts
    assert not getattr(found, reason)


def test_an_assertion_must_hold_under_every_test_input() -> None:
    assert judged(SUM, "total == 5", {"a": "3"}, {"a": "4"}).passes is False
    assert judged(SUM, "total == 5", {"a": "3"}, {"a": "x"}).passes is False


def test_the_score_is_the_share_that_counts() -> None:
    found = quality(parsed(SUM), ["total == 5", "1 == 1", "total ==", ""], cases({"a": "3"}))
    assert (found.score, found.metric) == (0.25, TEST_QUALITY)
    assert [item.reason is None for item in found.assertions] == [True, True, False, False]
    assert found.mutants == len(mutants(parsed(SUM).tree))
    assert quality(parsed(SUM), [], []).score == 0
    invalid = quality(parse("x = ", vocabulary(), Dialect.STRICT), ["x == 1"], [])
    assert (invalid.score, invalid.mutants, invalid.assertions[0].passes) == (0, 0, False)


def test_assertions_speak_the_language_of_programs() -> None:
    code = "rows = [{'n': 1}, {'n': 2}]\npair = (1, 2)\nfunction double(n){ return(n * 2) }\n_status = 404"
    for assertion in (
        "[row['n'] for row in rows] == [1, 2]",
        "pair == (1, 2) and len(pair) == 2",
        "double(pair[1]) // 2 == 2",
        "`${pair}` == '(1, 2)'",
        "_status == 404",
        "$pair[0] == 1",
    ):
        assert judged(code, assertion).counts, assertion


def test_a_mutant_that_hangs_is_noticed() -> None:
    found = judged("n = 3\nx = 0\nstartLoop(i, 1, n ** 2)\nx = i\nendLoop()", "x == 9")
    assert found.counts


def test_equal_programs_have_equal_quality() -> None:
    first, second = (quality(parsed(BRANCHES), ["size == 'big'", "half == 5"], cases({"n": "20"})) for _ in range(2))
    assert first == second
    assert first.score == 1
