"""Configurations by the unlucky and the hostile: whatever is written, it is a configuration or a ConfigError."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.errors import ConfigError
from core.lab.config import compose, find, stored
from core.lab.source import Origin, Origins
from core.lab.suites import merged, pushed_down
from core.model.frozen import canonical_json
from experiments.msvl import MsvlConfig

MSVL = """
experiment: msvl
name: it
golden: golden.yaml
index: {name: i, version: v1, corpus: c, pipelines: [p@1], embedder: {model: "hash:8"}}
generator: {provider: rehearsal, model: g}
judge: {provider: rehearsal, model: j}
few_shot: {pool: pool, k: 2}
gates: [{metric: faithfulness, threshold: 0.5}]
"""


class Desk:
    """A configs root with one whole configuration, `msvl`, to extend and to spoil."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.file = root / "it.yaml"
        (root / "msvl.yaml").write_text(MSVL, encoding="utf-8")

    def config(self, text: str, *assignments: str) -> MsvlConfig:
        self.file.write_text(f"extends: msvl\n{text}", encoding="utf-8")
        return compose(self.file, configs=self.root, assignments=assignments).validated(MsvlConfig)

    def fault(self, text: str, *assignments: str) -> ConfigError:
        with pytest.raises(ConfigError) as caught:
            self.config(text, *assignments)
        return caught.value


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("configs"))


SPOILED = {
    "extends a number": ("seed: 1\nextends: 5", ""),
    "tab": ("a:\n\tb: 1", ""),
    "second document": ("---\nb: 2", ""),
    "python tag": ("a: !!python/object/apply:os.system [ls]", ""),
    "recursive alias": ("a: &a [*a]", ""),
    "null key": ("~: 1", ""),
    "number key": ("5: 1", "5"),
    "boolean key": ("suites: [{name: a, on: 1}]", "suites.0.True"),
    "open interpolation": ("name: '${nope'", ""),
    "unknown interpolation": ("name: '${nope.x}'", "name"),
    "own interpolation": ("name: '${name}'", "name"),
    "unset value": ("name: '???'", "name"),
    "unknown top key": ("sweeep: {}", "sweeep"),
    "unknown suite key": ("retrieval: {mod: hybrid}", "suites.0.retrieval.mod"),
    "unknown runtime key": ("runtime: {cels: 1}", "runtime.cels"),
    "unknown gate key": ("gates: [{metric: a, bar: 1}]", "gates.0.threshold"),
    "runtime as list": ("runtime: [1]", "runtime"),
    "suites as mapping": ("suites: {a: 1}", "suites"),
    "suite without name": ("suites: [{}]", "suites.0"),
    "suite name as number": ("suites: [{name: 5}]", "suites.0"),
    "suite name as path": ("suites: [{name: ../x}]", "suites.0.name"),
    "suite name too long": (f"suites: [{{name: {'a' * 101}}}]", "suites.0.name"),
    "two names but for case": ("suites: [{name: a}, {name: A}]", "suites"),
    "run name as path": ("name: a/b", "name"),
    "pool that is not there": ("runtime: {pool: slurm}", "runtime.pool"),
    "yes for a count": ("runs: yes", "runs"),
    "on for a seed": ("seed: on", "seed"),
    "yes for a share": ("bands: [{name: a, floor: yes}]", "bands.0.floor"),
    "yes for none or more": ("few_shot: {pool: p, k: yes}", "suites.0.few_shot.k"),
    "not a number": ("gates: [{metric: faithfulness, threshold: .nan}]", "gates.0.threshold"),
    "infinite": ("gates: [{metric: faithfulness, threshold: .inf}]", "gates.0.threshold"),
    "half a run": ("runs: 2.5", "runs"),
    "sweep over one value": ("sweep: {retrieval.k: 4}", "sweep.retrieval.k"),
    "sweep over nothing": ("sweep: {}", "sweep"),
    "sweep over an empty list": ("sweep: {retrieval.k: []}", "sweep.retrieval.k"),
    "sweep over names": ("sweep: {name: [a, b]}", "sweep.name"),
    "sweep with a hole in its path": ("sweep: {retrieval..k: [1]}", "sweep.retrieval..k"),
    "sweep without a path": ("sweep: {'': [1]}", "sweep."),
    "sweep of the same twice": ("sweep: {retrieval.k: [4, 4]}", "sweep"),
    "sweep of what no suite has": ("sweep: {runs: [1, 2]}", "suites.0.runs"),
}


@pytest.mark.parametrize(("text", "path"), SPOILED.values(), ids=SPOILED.keys())
def test_what_is_spoiled_is_told_by_its_path(desk: Desk, text: str, path: str) -> None:
    fault = desk.fault(text)
    assert fault.file == str(desk.file)
    assert fault.path in {path, f"extends{path}"}
    assert "\n" not in str(fault).replace("\nit", "") or fault.path, "library words are kept to one line"
    assert fault.exit_code == 2


anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["${seed}", "???"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
KEYS = [*MsvlConfig.model_fields, "sweep", "retrieval", "index", "few_shot", "generator", "rehearsal", "language"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), anything, max_size=3))
@example({"suites": {"a": 1}})
@example({"sweep": {"retrieval": {"k": {}}}})
@example({"runtime": {"parser_url": "${"}})
@example({"name": "${oc.env:HOME}"})
def test_any_values_at_any_key_are_a_configuration_or_a_told_fault(desk: Desk, changes: dict[str, Any]) -> None:
    text = yaml.safe_dump(changes, allow_unicode=True)
    try:
        config = desk.config(text if changes else "")
    except ConfigError:
        return
    assert len({suite.name.casefold() for suite in config.suites}) == len(config.suites) > 0
    canonical_json(config)


@settings(deadline=None)
@given(st.text(max_size=30))
@example("runs=[1")
@example("name=*a")
@example("suites.-1.name=b")
@example("runtime.parser_url=${oc.env:NO_SUCH_VARIABLE}")
@example("a.b.c.d.e={}")
@example("sweep.retrieval.mode=[hybrid, knn_only]")
def test_any_assignment_is_taken_or_told(desk: Desk, assignment: str) -> None:
    with contextlib.suppress(ConfigError):
        desk.config("", assignment)


def test_a_place_made_by_set_is_blamed_on_it(desk: Desk) -> None:
    assert desk.fault("", "retreival.k=4").file == "--set"


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "", ".", "..", "/dev/null", "it/", "it.yaml/x"])
def test_a_name_that_is_no_file_names_the_known(desk: Desk, name: str) -> None:
    with pytest.raises(ConfigError, match="no configuration") as caught:
        find(name, desk.root)
    assert "msvl" in caught.value.remedy


def test_what_is_extended_must_be_a_file(desk: Desk) -> None:
    (desk.root / "folder").mkdir(exist_ok=True)
    for base in ("folder", "x" * 5000):
        desk.file.write_text(f"extends: {base}")
        with pytest.raises(ConfigError, match="is not a file"):
            compose(desk.file, configs=desk.root)


class TestSweeps:
    def test_nested_and_dotted_paths_are_the_same(self, desk: Desk) -> None:
        dotted = desk.config("sweep: {retrieval.mode: [hybrid, knn_only], retrieval.k: [4, 8]}")
        assert desk.config("sweep: {retrieval: {mode: [hybrid, knn_only], k: [4, 8]}}") == dotted
        assert desk.config("", "sweep.retrieval.mode=[hybrid, knn_only]", "sweep.retrieval.k=[4, 8]") == dotted

    def test_a_lone_suite_gives_way_to_what_is_swept(self, desk: Desk) -> None:
        made = desk.config("suites: [{name: hybrid}]\nsweep: {retrieval.mode: [hybrid, knn_only, bm25_only]}")
        assert [(s.name, s.retrieval.mode.value) for s in made.suites] == [
            ("hybrid", "hybrid"), ("knn_only", "knn_only"), ("bm25_only", "bm25_only"),
        ]  # fmt: skip

    def test_a_lone_suite_keeps_what_it_changes(self, desk: Desk) -> None:
        made = desk.config("suites: [{name: small, retrieval: {k: 3}}]\nsweep: {retrieval.mode: [knn_only]}")
        assert [(s.name, s.retrieval.k) for s in made.suites] == [("knn_only", 3)]

    def test_a_bad_value_is_blamed_on_the_line_of_the_sweep(self, desk: Desk) -> None:
        fault = desk.fault("sweep:\n  retrieval:\n    mode: [hybrid, hybird]")
        assert (fault.line, fault.path) == (4, "suites.1.retrieval.mode")

    @given(st.lists(st.lists(st.integers(1, 99), min_size=1, max_size=4, unique=True), min_size=1, max_size=3))
    def test_every_point_of_the_grid_is_there_once(self, axes: list[list[int]]) -> None:
        sweep = {f"axis{number}": values for number, values in enumerate(axes)}
        data, _ = pushed_down({"sweep": sweep}, Origins(Origin("f")), ())
        points = {tuple(suite[key] for key in sweep) for suite in data["suites"]}
        expected = 1
        for values in axes:
            expected *= len(values)
        assert len(points) == len(data["suites"]) == len({suite["name"] for suite in data["suites"]}) == expected


trees = st.recursive(st.integers(), lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3))
mappings = st.dictionaries(st.sampled_from("abc"), trees, max_size=3)


class TestMerging:
    @given(mappings, mappings)
    def test_what_lies_over_is_there_and_what_it_does_not_name_stays(self, under: Any, over: Any) -> None:
        made = merged(under, over)
        assert made.keys() == under.keys() | over.keys()
        for key, value in made.items():
            if key not in over or key not in under:
                assert value == {**under, **over}[key]
            elif isinstance(under[key], dict) and isinstance(over[key], dict):
                assert value.keys() == under[key].keys() | over[key].keys()
            else:
                assert value == over[key]

    @given(trees)
    def test_itself_and_nothing_change_nothing(self, tree: object) -> None:
        assert merged(tree, tree) == tree
        assert merged({"a": tree}, {}) == {"a": tree}

    def test_shares_nothing_with_what_it_was_made_of(self) -> None:
        under, over = {"a": {"b": [1]}}, {"c": {"d": [2]}}
        made = merged(under, over)
        made["a"]["b"].append(3)
        made["c"]["d"].append(3)
        assert (under, over) == ({"a": {"b": [1]}}, {"c": {"d": [2]}})


@settings(deadline=None, max_examples=40)
@given(st.text(st.characters(codec="utf-8", exclude_characters="${}?"), min_size=1, max_size=30))
@example("\x85")
@example("a\u2028b\n c\r")
def test_whatever_text_is_stored_composes_to_itself(desk: Desk, text: str) -> None:
    config = desk.config("").model_copy(update={"golden": text})
    again = desk.root / "again.yaml"
    again.write_text(stored(config, {}), encoding="utf-8")
    assert compose(again, configs=desk.root).validated(MsvlConfig) == config
