"""The few-shot pool holds what it promises, and what would break the promise is seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from evaluation_rows import question, record, row
from typer.testing import CliRunner

from core.adapters.domain import load_examples
from core.adapters.languages import load_vocabulary
from core.avap import parse
from core.avap.execution import Inputs
from core.avap.execution.quality import quality
from core.errors import ConfigError
from core.flows.pool import assess
from core.measure.likeness import alike, similarity, token_grams
from core.measure.pool import Assessment, PoolStats, pool_stats, thin_constructs
from core.measure.summary import Background, summarise
from core.model.sample import Example
from core.model.syntax import Dialect, Validity
from experiments.commands.avap import app

VOCABULARY = load_vocabulary("lrm-2026.04")
POOL = load_examples(Path(__file__).parents[2] / "configs/domains/avap/examples")

TOTAL = Example(
    id="E-1",
    language="en",
    description="Add two numbers",
    code='addParam("a", a)\ntotal = int(a) + 2\naddResult(total)\n',
    constructs=("addParam", "assign", "addResult"),
    test_inputs=({"a": "3"}, {"a": "-2"}),
    test_list=("total == int(a) + 2", "total in [5, 0]"),
)
SHOUT = TOTAL.model_copy(
    update={
        "id": "E-2",
        "code": 'addParam("word", word)\nreplace(word, ".", "!", loud)\naddResult(loud)\n',
        "constructs": ("addParam", "replace", "addResult"),
        "test_inputs": ({"word": "go."},),
        "test_list": ('loud == "go!"', "len(loud) == 3 and loud != word"),
    }
)
LINES_BY_LENGTH = "\n".join(f"line_{number} = {number}" for number in range(29))


@cache
def pool() -> PoolStats:
    """The measures of the pool that is shipped."""
    return pool_stats(assess(POOL, VOCABULARY), VOCABULARY.node_types)


def measured(*examples: Example) -> PoolStats:
    """The measures of a pool of `examples`."""
    return pool_stats(assess(examples, VOCABULARY), VOCABULARY.node_types)


def faults(**changes: object) -> str:
    """Why TOTAL is refused after `changes`."""
    (refused,) = measured(TOTAL.model_copy(update=changes)).refused
    return "; ".join(refused.faults)


def test_there_are_190_valid_examples() -> None:
    assert pool().refused == ()
    assert pool().near_duplicates == ()
    assert pool().examples == pool().valid >= 190


def test_every_example_is_covered_and_tested() -> None:
    assert pool().ecs_min >= 0.9
    assert pool().test_quality_min >= 0.5


def test_every_construct_is_shown_and_so_are_the_pairs() -> None:
    assert len(pool().constructs) == 38
    assert pool().constructs_min >= 5
    assert pool().pairs_possible == 703
    assert pool().pairs == 703
    assert pool().pairs_missing == ()
    assert (pool().trios, pool().trios_possible) >= (8000, 8436)


def test_some_examples_are_whole_endpoints() -> None:
    assert pool().endpoints >= 8


def test_no_assertion_of_the_pool_is_idle() -> None:
    """Stricter than the share that is asked for: each one holds, can fail, and notices some mutant."""
    idle = [(name, text) for name, text in _idle()]
    assert idle == []


def _idle() -> Iterator[tuple[str, str]]:
    for example in POOL:
        inputs = [Inputs.from_mapping(given) for given in example.test_inputs]
        tested = quality(parse(example.code, VOCABULARY, Dialect.STRICT), example.test_list, inputs)
        yield from ((example.id, one.text) for one in tested.assertions if not one.counts)


def test_a_third_is_spanish() -> None:
    assert set(pool().languages) == {"en", "es"}
    assert 0.3 <= pool().languages["es"] / pool().valid <= 0.4


def test_a_small_pool_is_counted() -> None:
    stats = measured(TOTAL, SHOUT)
    assert (stats.examples, stats.valid, stats.refused) == (2, 2, ())
    assert {name for name, count in stats.constructs.items() if count == 2} == {"addParam", "addResult"}
    assert (stats.pairs, stats.trios, stats.constructs_min, stats.endpoints) == (5, 2, 0, 0)
    assert ("assign", "replace") in stats.pairs_missing
    assert ("addParam", "replace") not in stats.pairs_missing
    assert stats.pairs + len(stats.pairs_missing) == stats.pairs_possible == 703
    assert list(stats.constructs.values()) == sorted(stats.constructs.values())


def test_an_endpoint_has_thirty_lines() -> None:
    longer = TOTAL.model_copy(update={"id": "E-3", "code": f"{LINES_BY_LENGTH}\n{TOTAL.code}"})
    shorter = TOTAL.model_copy(update={"id": "E-4", "code": LINES_BY_LENGTH, "constructs": ("assign",),
                                       "test_list": ("line_1 == 1", "line_2 == 2")})  # fmt: skip
    assert [measured(example).endpoints for example in (longer, shorter)] == [1, 0]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"code": 'addParam("a", a)\ngetTotal(a)\n'}, "not VALID: Line 2: unknown command 'getTotal'"),
        ({"constructs": ("addParam", "addResult")}, "its constructs are addParam, addResult, assign"),
        ({"constructs": ("addParam", "addParam", "addResult", "assign")}, "its constructs are addParam, addResult"),
        ({"test_inputs": ()}, "no test inputs"),
        ({"test_list": ("total == int(a) + 2",)}, "1 assertions, at least 2 are needed"),
        ({"test_inputs": ({"a": "three"},)}, "it does not run: Line 2: "),
        ({"test_inputs": ({"a": "3", "__http__": 7},)}, "it does not run: test inputs: "),
        ({"test_list": ("a == a", "total == total")}, "test quality 0.00 is below 0.5"),
    ],
)
def test_an_example_that_breaks_a_rule_is_refused_with_the_reason(changes: dict[str, object], why: str) -> None:
    assert why in faults(**changes)


def test_an_example_that_is_hardly_covered_is_refused() -> None:
    code = 'addParam("a", a)\ntotal = int(a)\nif(total, 9, ">")\n    total = 9\nend()\n'
    constructs = ("addParam", "assign", "if_mode1")
    told = faults(code=code, constructs=constructs, test_inputs=({"a": "3"},), test_list=("total == 3", "total < 4"))
    assert told == "ECS 0.75 is below 0.9"


def test_a_refused_example_covers_nothing() -> None:
    stats = measured(SHOUT, TOTAL.model_copy(update={"test_inputs": ()}))
    assert stats.valid == 1
    assert stats.constructs["assign"] == 0


def test_the_later_of_two_near_duplicates_is_refused() -> None:
    copy = TOTAL.model_copy(update={"id": "E-9", "code": f"// A copy\n{TOTAL.code}"})
    stats = measured(TOTAL, SHOUT, copy)
    assert [(pair.first, pair.second, pair.similarity) for pair in stats.near_duplicates] == [("E-1", "E-9", 1)]
    assert [(item.id, item.faults) for item in stats.refused] == [
        ("E-9", ("a near-duplicate of E-1 (similarity 1.00)",))
    ]


def test_similarity_sees_through_spacing_and_comments_and_tells_programs_apart() -> None:
    program = token_grams('addParam("na me", name)\naddResult(name)\n')
    respaced = token_grams('addParam("na me",name) // read it\n/* then\n*/ addResult( name )\n')
    assert similarity(program, respaced) == 1
    assert similarity(program, token_grams('addParam("name", name)\naddResult(name)\n')) < 1
    assert similarity(program, token_grams("startLoop(i, 1, 5)\n    total = total + i\nendLoop()")) == 0


def test_an_address_in_a_text_is_no_comment() -> None:
    assert len(token_grams('a = "https://a"\nb = 1')) == len(token_grams('a = "x"\nb = 1'))


def test_programs_of_exactly_the_limit_are_not_too_alike() -> None:
    programs = {"one": "a b c d e f", "two": "a b c d e g"}
    assert list(alike(programs, more_than=1 / 3)) == []
    assert list(alike(programs, more_than=0.3)) == [("one", "two", 1 / 3)]


def test_thin_constructs_are_rejected_often_and_shown_seldom() -> None:
    shown = {"go": 3, "gather": 11, "try": 12, "assign": 90}
    rejected = {"go": 2, "gather": 5, "try": 7, "assign": 9, "return": 2, "include": 0}
    thin = thin_constructs(shown, rejected, fewer_than=12)
    assert [(line.node_type, line.rejected, line.examples) for line in thin] == [
        ("gather", 5, 11),
        ("return", 2, 0),
        ("go", 2, 3),
    ]


def test_an_assessment_needs_no_parser() -> None:
    stats = pool_stats([Assessment(TOTAL, (), frozenset(TOTAL.constructs), ecs=1, test_quality=0.5)], ("assign", "go"))
    assert (stats.valid, stats.pairs_possible, stats.pairs_missing) == (1, 1, (("assign", "go"),))


def invoke(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["pool-stats", *map(str, arguments)])
    if isinstance(result.exception, ConfigError):
        raise result.exception
    return result.exit_code, result.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A pool of two examples, the second without assertions."""
    items = [TOTAL.model_dump(mode="json"), {**SHOUT.model_dump(mode="json"), "test_list": []}]
    (tmp_path / "small.yaml").write_text(yaml.safe_dump({"examples": items}))
    return tmp_path


def test_the_command_prints_one_json_object_for_scripts() -> None:
    code, out = invoke("--json")
    data = json.loads(out)
    assert code == 0
    assert (data["examples"], data["valid"], data["pairs"]) == (190, 190, 703)
    assert data["constructs_min"] == min(data["constructs"].values())
    assert {"trios", "pairs_missing", "near_duplicates", "ecs_min", "test_quality_min", "thin"} <= data.keys()


def test_the_command_names_what_is_missing_and_refused(folder: Path) -> None:
    code, out = invoke("--examples", folder)
    assert code == 1
    assert "examples          2, 1 valid (1 en; 0 whole endpoints)" in out
    assert "assign with replace" in out
    assert "E-2: 0 assertions, at least 2 are needed" in out


def test_the_command_reads_the_rejected_answers_of_a_report(tmp_path: Path) -> None:
    asked = question(1)
    judged = (row(asked, 1, syntax=Validity.INVALID), row(asked, 2))
    report = summarise(judged, Background(record=record(), questions=(asked,), bands=()))
    (tmp_path / "report.json").write_text(report.model_dump_json())
    thin = _thin(tmp_path / "report.json", fewer_than=1000)
    assert [(line["node_type"], line["rejected"]) for line in thin] == [("startLoop", 1)]
    assert _thin(tmp_path / "report.json", fewer_than=thin[0]["examples"]) == []


def _thin(report: Path, fewer_than: int) -> list[dict[str, Any]]:
    data = json.loads(invoke("--run", report, "--thin-below", fewer_than, "--json")[1])
    found: list[dict[str, Any]] = data["thin"]
    return found


@pytest.mark.parametrize(
    ("content", "told"), [("{}", "no report of an evaluation: Field required"), ("no JSON", "no report")]
)
def test_what_is_no_report_is_refused(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "report.json").write_text(content)
    with pytest.raises(ConfigError, match=told):
        invoke("--run", tmp_path / "report.json")


def test_an_unknown_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no run matches 'elsewhere'"):
        invoke("--run", "elsewhere", "--results", tmp_path)
