"""Composition and validation of configurations, as a user meets them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
import yaml
from pydantic import Field

from core.errors import ConfigError
from core.lab.config import compose, find, known_names, stored
from core.lab.experiment import ExperimentConfig, PathSafe
from core.model.frozen import Frozen
from core.model.specs import RehearsalSpec, RetrievalSpec


class Suite(Frozen):
    name: PathSafe
    retrieval: RetrievalSpec = RetrievalSpec()
    rehearsal: RehearsalSpec = RehearsalSpec()
    words: tuple[str, ...] = ()


class Config(ExperimentConfig):
    runs: Annotated[int, Field(ge=1)] = 1
    suites: tuple[Suite, ...]


class Plain(ExperimentConfig):
    size: int = 1


class Configs:
    """A configs root made of literal files."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, text: str) -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def config(self, text: str, *assignments: str) -> Config:
        file = self.write("experiments/it.yaml", f"experiment: toy\nname: it\n{text}")
        return compose(file, configs=self.root, assignments=assignments).validated(Config)

    def error(self, text: str, *assignments: str) -> ConfigError:
        with pytest.raises(ConfigError) as caught:
            self.config(text, *assignments)
        return caught.value


@pytest.fixture
def configs(tmp_path: Path) -> Configs:
    return Configs(tmp_path)


class TestFinding:
    def test_by_name_in_every_folder_and_by_path(self, configs: Configs) -> None:
        files = [configs.write(name, "a: 1") for name in ("one.yaml", "experiments/two.yaml", "campaigns/2026-04.yaml")]
        assert [find(name, configs.root) for name in ("one", "two", "2026-04")] == files
        assert find(str(files[1]), Path("/nonexistent")) == files[1]
        assert find("experiments/two", configs.root) == files[1]
        assert known_names(configs.root) == ("2026-04", "one", "two")

    def test_unknown_name_tells_the_nearest(self, configs: Configs) -> None:
        configs.write("experiments/msvl.yaml", "a: 1")
        with pytest.raises(ConfigError) as caught:
            find("msvk", configs.root)
        assert "did you mean 'msvl'" in caught.value.remedy


class TestExtends:
    def test_later_wins_mappings_merge_and_lists_are_replaced(self, configs: Configs) -> None:
        configs.write("base/a.yaml", "seed: 1\nretrieval: {k: 3, mode: knn_only}\nwords: [x, y]")
        configs.write("base/b.yaml", "seed: 2\nretrieval: {k: 4}")
        made = configs.config("extends: [base/a, base/b]\nwords: [z]")
        assert made.seed == 2
        assert made.suites[0].retrieval == RetrievalSpec.model_validate({"k": 4, "mode": "knn_only"})
        assert made.suites[0].words == ("z",)

    def test_relative_to_the_file_first(self, configs: Configs) -> None:
        configs.write("near.yaml", "seed: 1")
        configs.write("experiments/near.yaml", "seed: 2")
        assert configs.config("extends: near").seed == 2

    def test_circle_is_named(self, configs: Configs) -> None:
        configs.write("experiments/b.yaml", "extends: it")
        error = configs.error("extends: b")
        assert "circle" in str(error)
        assert "it.yaml" in str(error)
        assert "b.yaml" in str(error)

    def test_same_base_twice_is_no_circle(self, configs: Configs) -> None:
        configs.write("root.yaml", "seed: 7")
        configs.write("left.yaml", "extends: root")
        configs.write("right.yaml", "extends: root")
        assert configs.config("extends: [left, right]").seed == 7

    def test_missing_base_names_the_line_and_the_nearest(self, configs: Configs) -> None:
        configs.write("models/rehearsal.yaml", "seed: 1")
        error = configs.error("extends: models/rehersal")
        assert error.line == 3
        assert "models/rehearsal" in error.remedy


class TestSet:
    def test_values_are_yaml(self, configs: Configs) -> None:
        made = configs.config("", "seed=5", "retrieval.mode=bm25_only", "words=[a, '1']", "rehearsal.faults={}")
        assert (made.seed, made.suites[0].retrieval.mode, made.suites[0].words) == (5, "bm25_only", ("a", "1"))

    def test_list_items_by_index(self, configs: Configs) -> None:
        made = configs.config("suites: [{name: a}, {name: b}]", "suites.1.retrieval.k=2")
        assert [suite.retrieval.k for suite in made.suites] == [8, 2]

    @pytest.mark.parametrize("bad", ["seed", "=1", "a..b=1", "suites.4.name=x", "seed=[", "words.x=1"])
    def test_malformed_names_itself(self, configs: Configs, bad: str) -> None:
        error = configs.error("suites: [{name: a}]\nwords: [a]", bad)
        assert "--set" in f"{error} {error.file}"
        assert error.remedy


class TestSuites:
    def test_one_suite_when_none_is_named(self, configs: Configs) -> None:
        assert [suite.name for suite in configs.config("retrieval: {k: 2}").suites] == ["main"]

    def test_overrides_lie_over_the_common_part(self, configs: Configs) -> None:
        made = configs.config("retrieval: {k: 2}\nsuites:\n- name: a\n- {name: b, retrieval: {mode: knn_only}}")
        assert [(s.retrieval.k, s.retrieval.mode.value) for s in made.suites] == [(2, "hybrid"), (2, "knn_only")]

    def test_sweep_is_the_product_named_by_what_changes(self, configs: Configs) -> None:
        made = configs.config("sweep:\n  retrieval.mode: [hybrid, knn_only]\n  retrieval.k: [4, 8]")
        assert [s.name for s in made.suites] == ["hybrid_k-4", "hybrid_k-8", "knn_only_k-4", "knn_only_k-8"]
        assert [s.retrieval.k for s in made.suites] == [4, 8, 4, 8]

    def test_sweep_composes_with_suites(self, configs: Configs) -> None:
        made = configs.config("suites: [{name: a, words: [w]}, {name: b}]\nsweep: {retrieval.k: [1, 2]}")
        assert [s.name for s in made.suites] == ["a_k-1", "a_k-2", "b_k-1", "b_k-2"]
        assert [s.words for s in made.suites] == [("w",), ("w",), (), ()]

    def test_two_ways_of_writing_it_are_the_same_configuration(self, configs: Configs) -> None:
        swept = configs.config("sweep: {retrieval.k: [1, 2]}")
        written = configs.config("suites: [{name: k-1, retrieval: {k: 1}}, {name: k-2, retrieval: {k: 2}}]")
        assert swept == written

    @pytest.mark.parametrize(
        ("text", "path"),
        [
            ("suites: {}", "suites"),
            ("suites: [{retrieval: {}}]", "suites.0"),
            ("suites: [{name: a}, {name: a}]", "suites"),
            ("sweep: [1]", "sweep"),
            ("sweep: {retrieval.k: 4}", "sweep.retrieval.k"),
        ],
    )
    def test_malformed_says_where(self, configs: Configs, text: str, path: str) -> None:
        assert configs.error(text).path == path

    def test_experiment_without_suites_has_nothing_to_sweep(self, configs: Configs) -> None:
        file = configs.write("plain.yaml", "experiment: toy\nname: p\nsweep: {size: [1, 2]}")
        with pytest.raises(ConfigError, match="no suites"):
            compose(file, configs=configs.root).validated(Plain)


class TestErrors:
    def test_unknown_key_names_file_line_path_allowed_and_nearest(self, configs: Configs) -> None:
        error = configs.error("retrieval:\n  k: 4\n  mod: hybrid")
        assert error.file.endswith("it.yaml")
        assert (error.line, error.path) == (5, "suites.0.retrieval.mod")
        assert "did you mean 'mode'" in error.remedy
        assert "candidates, k, mode, rrf_k" in error.remedy

    def test_the_file_that_set_the_value_is_blamed(self, configs: Configs) -> None:
        configs.write("base.yaml", "seed: 1\nretrieval: {k: 0}")
        error = configs.error("extends: base\nretrieval: {mode: hybrid}")
        assert error.file.endswith("base.yaml")
        assert error.line == 2

    def test_the_command_line_is_blamed(self, configs: Configs) -> None:
        assert configs.error("retrieval: {k: 4}", "retrieval.k=none").file == "--set"

    def test_the_sweep_is_blamed(self, configs: Configs) -> None:
        error = configs.error("sweep:\n  retrieval.mode: [hybrid, hybird]")
        assert error.line == 4
        assert "did you mean 'hybrid'" in error.remedy

    def test_unknown_top_level_key(self, configs: Configs) -> None:
        error = configs.error("sed: 1")
        assert error.path == "sed"
        assert "did you mean 'seed'" in error.remedy

    def test_all_faults_at_once(self, configs: Configs) -> None:
        error = configs.error("runs: 0\nretrieval: {k: -1}\nwords: 3")
        assert len(str(error).splitlines()) == 3

    def test_model_level_rule(self, configs: Configs) -> None:
        error = configs.error("rehearsal: {faults: {foreign_language: 0.7, foreign_structure: 0.7}}")
        assert "sum to more than 1" in str(error)

    @pytest.mark.parametrize("text", ["a: [", "seed: 1\nseed: 2", "retrieval: {1: 2}", "\ttab: 1"])
    def test_broken_yaml_names_file_and_line(self, configs: Configs, text: str) -> None:
        error = configs.error(text)
        assert error.file.endswith("it.yaml")
        assert error.line >= 3

    def test_not_a_mapping(self, configs: Configs) -> None:
        with pytest.raises(ConfigError, match="must be a mapping"):
            compose(configs.write("list.yaml", "- 1"), configs=configs.root)

    def test_no_experiment(self, configs: Configs) -> None:
        with pytest.raises(ConfigError, match="which experiment"):
            _ = compose(configs.write("empty.yaml", ""), configs=configs.root).experiment

    def test_missing_file(self, configs: Configs) -> None:
        with pytest.raises(ConfigError, match="cannot be read"):
            compose(configs.root / "gone.yaml", configs=configs.root)


class TestEnvironment:
    def test_is_read_under_runtime(self, configs: Configs, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TOY_URL", "http://127.0.0.1:9")
        made = configs.config("runtime: {generator_url: '${oc.env:TOY_URL}', cells: '${oc.decode:${oc.env:NONE,3}}'}")
        assert (made.runtime.generator_url, made.runtime.cells) == ("http://127.0.0.1:9", 3)

    @pytest.mark.parametrize("text", ["seed: ${oc.env:HOME}", "words: ['${oc.env:HOME}']", "seed: ${runtime.cells}"])
    def test_never_reaches_the_identity(self, configs: Configs, text: str) -> None:
        error = configs.error(f"{text}\nruntime: {{cells: 1}}")
        assert error.line == 3

    def test_not_by_the_command_line_either(self, configs: Configs) -> None:
        assert configs.error("", "seed=${oc.env:HOME}").file == "--set"

    def test_missing_variable_names_itself(self, configs: Configs) -> None:
        error = configs.error("runtime: {generator_url: '${oc.env:NO_SUCH}'}")
        assert "NO_SUCH" in str(error)
        assert error.path == "runtime.generator_url"

    def test_values_may_refer_to_values(self, configs: Configs) -> None:
        assert configs.config("seed: 4\nretrieval: {k: '${seed}'}").suites[0].retrieval.k == 4


def test_what_is_stored_composes_to_the_same(configs: Configs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_URL", "secret")
    text = "experiment: toy\nname: it\nsweep: {retrieval.k: [1, 2]}\nruntime: {judge_url: '${oc.env:TOY_URL}'}"
    draft = compose(configs.write("it.yaml", text), configs=configs.root)
    config = draft.validated(Config)
    again = stored(config, draft.runtime)
    assert "secret" not in again
    assert compose(configs.write("run/config.yaml", again), configs=configs.root).validated(Config) == config
    assert yaml.safe_load(again)["name"] == "it"
