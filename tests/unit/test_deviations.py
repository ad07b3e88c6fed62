"""What a repetition does otherwise: nothing is left out, and what all suites share is told once."""

from __future__ import annotations

from typing import Any

import pytest
from evaluation_rows import record, suite_record
from hypothesis import given
from hypothesis import strategies as st

from core.lab.deviations import code_deviations, configuration_deviations, data_deviations, record_deviations
from core.lab.experiment import ExperimentConfig, PathSafe
from core.model.deviation import ABSENT, Area, Deviation
from core.model.frozen import Frozen
from core.model.record import RunRecord
from core.model.specs import Provider
from experiments.originals import rerun_name


class Judge(Frozen):
    model: str = "judge-1"
    tags: tuple[str, ...] = ()


class Suite(Frozen):
    name: PathSafe
    judge: Judge = Judge()
    k: int = 8


class Config(ExperimentConfig):
    experiment: str = "toy"
    name: str = "it"
    runs: int = 5
    suites: tuple[Suite, ...]


def config(*suites: Suite, **changed: Any) -> Config:
    return Config(suites=suites or (Suite(name="v0.6"), Suite(name="b")), **changed)


def changes(found: tuple[Deviation, ...]) -> dict[str, tuple[str, str]]:
    return {each.setting: (each.was, each.now) for each in found}


class TestConfigurations:
    def test_that_are_alike_do_not_deviate_whatever_they_are_called_and_run_on(self) -> None:
        other = config(name="other", runtime={"concurrency": 3})
        assert configuration_deviations(config(), other) == ()

    def test_are_told_by_suite_and_dotted_path(self) -> None:
        now = config(Suite(name="v0.6", k=4), Suite(name="b", judge=Judge(tags=("x",))), runs=3)
        assert changes(configuration_deviations(config(), now)) == {
            "runs": ("5", "3"),
            "suites.v0.6.k": ("8", "4"),
            "suites.b.judge.tags": ("[]", '["x"]'),
        }

    def test_tell_once_what_all_suites_have_in_common(self) -> None:
        judge = Judge(model="judge-2")
        now = config(Suite(name="v0.6", judge=judge), Suite(name="b", judge=judge))
        assert changes(configuration_deviations(config(), now)) == {"suites.*.judge.model": ("judge-1", "judge-2")}

    def test_tell_of_suites_that_came_and_went(self) -> None:
        now = config(Suite(name="b"), Suite(name="c", k=1))
        assert changes(configuration_deviations(config(), now)) == {
            "suites.v0.6": ("there", ABSENT),
            "suites.c": (ABSENT, "there"),
        }


def changed_suite(kept: RunRecord, part: str, **fields: Any) -> RunRecord:
    suite = kept.suites[0]
    other = suite.model_copy(update={part: getattr(suite, part).model_copy(update=fields)})
    return kept.model_copy(update={"suites": (other, *kept.suites[1:])})


def recoded(kept: RunRecord, **fields: Any) -> RunRecord:
    return kept.model_copy(update={"provenance": kept.provenance.model_copy(update=fields)})


class TestRecords:
    def test_that_are_alike_do_not_deviate(self) -> None:
        again = record("one", "two").model_copy(update={"created_at": "later", "fingerprint": "0" * 64})
        assert record_deviations(record("one", "two"), again) == ()

    @pytest.mark.parametrize(
        ("part", "field", "value", "area"),
        [
            ("parser", "version", "2.0", Area.GATE),
            ("parser", "vocabulary_sha256", "f" * 64, Area.GATE),
            ("index", "corpus_sha256", "f" * 64, Area.INDEX),
            ("index", "count", 7, Area.INDEX),
            ("generator", "sdk", "anthropic 9", Area.MODEL),
            ("few_shot", "pool_size", 7, Area.DATA),
        ],
    )
    def test_tell_what_each_suite_stood_on(self, part: str, field: str, value: object, area: Area) -> None:
        before = record("one", "two")
        [found] = record_deviations(before, changed_suite(before, part, **{field: value}))
        assert (found.setting, found.area) == (f"suites.one.{part}.{field}", area)

    def test_tell_data_prompts_metrics_and_packages(self) -> None:
        before = record(data={"a.yaml": "1" * 64, "b.yaml": "2" * 64})
        now = record(
            data={"a.yaml": "3" * 64},
            prompts={"a@2": "9", "b@1": "2"},
            metrics=("faithfulness@2",),
        )
        now = recoded(now, packages={"numpy": "3"}, eval_seed=None)
        assert changes(record_deviations(before, now)) == {
            "a.yaml": ("1" * 12, "3" * 12),
            "b.yaml": ("2" * 12, ABSENT),
            "prompts.a": ("a@1 1", "a@2 9"),
            "metrics.faithfulness": ("faithfulness@1", "faithfulness@2"),
            "packages.numpy": (ABSENT, "3"),
            "EVAL_SEED": ("7", "unset"),
        }

    def test_without_a_judge_deviate_from_those_with_one(self) -> None:
        suite = suite_record("one", Provider.ANTHROPIC, judge=None)
        now = record("one").model_copy(update={"suites": (suite,)})
        assert changes(record_deviations(record("one"), now))["suites.one.judge.sdk"] == ("s", ABSENT)


def test_code_with_changes_is_never_called_the_same() -> None:
    clean = record().provenance
    dirty = clean.model_copy(update={"dirty": True})
    assert code_deviations(clean, clean) == ()
    [found] = code_deviations(dirty, dirty)
    assert (found.was, found.now) == ("abc with changes", "abc with changes")
    assert "cannot be compared" in found.note
    [unknown] = code_deviations(clean, clean.model_copy(update={"commit": ""}))
    assert unknown.now == "unknown"


@given(was=st.dictionaries(st.text(), st.text()), now=st.dictionaries(st.text(), st.text()))
def test_data_deviates_exactly_where_its_content_does(was: dict[str, str], now: dict[str, str]) -> None:
    digests = [{name: f"{content:>064}" for name, content in side.items()} for side in (was, now)]
    found = {each.setting for each in data_deviations(*digests)}
    short = [{name: sha[:12] for name, sha in side.items()} for side in digests]
    assert found == {name for name in was.keys() | now.keys() if short[0].get(name) != short[1].get(name)}


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("april", "april-rerun"),
        ("april-rerun", "april-rerun-2"),
        ("april-rerun-2", "april-rerun-3"),
        ("a-rerun-of-b", "a-rerun-of-b-rerun"),
        ("april-rerun-09", "april-rerun-10"),
    ],
)
def test_a_rerun_never_has_the_name_of_what_it_repeats(name: str, again: str) -> None:
    assert rerun_name(name) == again
