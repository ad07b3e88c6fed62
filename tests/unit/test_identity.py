"""What changes a fingerprint and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ConfigError
from core.lab.continuity import changes, continued
from core.lab.experiment import ExperimentConfig
from core.lab.identity import fingerprint, pinned
from core.lab.provenance import checkout, gather
from core.model.record import RunRecord
from core.model.specs import RuntimeSpec

PINNED = "9b32683c92411e2fbcc37ed6ab111f0229d100a4907d24cc89387ce5ff44bc95"


class Config(ExperimentConfig):
    size: int | float = 1
    words: tuple[str, ...] = ()


def config(**values: object) -> Config:
    return Config.model_validate({"experiment": "toy", "name": "it", **values})


def record(**values: object) -> RunRecord:
    given = {"experiment": "toy", "name": "it", "fingerprint": "f", "created_at": "t", "seed": 0, "runs": 1, "data": {},
             "prompts": {"a@1": "x"}, "metrics": ("m@1",), "suites": (), "provenance": gather({}, ())}  # fmt: skip
    return RunRecord.model_validate({**given, **values})


class TestFingerprint:
    @given(st.integers(1, 64), st.integers(1, 8))
    def test_runtime_is_no_part_of_it(self, concurrency: int, cells: int) -> None:
        runtime = RuntimeSpec(concurrency=concurrency, cells=cells)
        assert fingerprint(config(runtime=runtime), {}) == fingerprint(config(), {})

    @given(st.integers(), st.integers())
    def test_every_literal_is(self, one: int, other: int) -> None:
        same = fingerprint(config(seed=one), {}) == fingerprint(config(seed=other), {})
        assert same == (one == other)

    def test_order_of_a_list_is(self) -> None:
        assert fingerprint(config(words=("a", "b")), {}) != fingerprint(config(words=("b", "a")), {})

    def test_data_and_name_are(self) -> None:
        assert len({fingerprint(config(), {}), fingerprint(config(), {"f": "1"}), fingerprint(config(), {"f": "2"}),
                    fingerprint(config(name="other"), {})}) == 4  # fmt: skip

    def test_one_spelling_per_number(self) -> None:
        assert fingerprint(config(size=1.0), {}) == fingerprint(config(size=1), {})

    def test_is_the_same_forever(self) -> None:
        # Pinned: a change here orphans every stored run, and needs a line in the changelog.
        assert fingerprint(config(), {"a": "b"}) == PINNED


class TestPins:
    def test_content_counts_and_paths_are_relative(self, tmp_path: Path) -> None:
        (tmp_path / "d").mkdir()
        (tmp_path / "d" / "x").write_text("1")
        first = pinned([tmp_path / "d" / "x"], tmp_path)
        assert list(first) == ["d/x"]
        (tmp_path / "d" / "x").write_text("2")
        assert pinned([tmp_path / "d" / "x"], tmp_path) != first

    def test_missing_file_is_a_config_error(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="cannot be read"):
            pinned([tmp_path / "gone"], tmp_path)


class TestContinuity:
    def test_the_moment_and_the_code_may_differ(self) -> None:
        later = gather({"EVAL_SEED": "4"}, ("other",))
        assert changes(record(), record(created_at="later", provenance=later)) == ()

    def test_everything_else_is_named(self) -> None:
        now = record(prompts={"a@1": "y", "b@1": "z"}, metrics=("m@2",))
        assert changes(record(), now) == (
            "prompts.a@1: was 'x', is 'y'",
            "metrics.0: was 'm@1', is 'm@2'",
            "prompts.b@1: was 'absent', is 'z'",
        )

    def test_same_code_elsewhere_leaves_the_record_alone(self) -> None:
        before = record()
        assert continued(before, before.provenance.model_copy(update={"argv": ("x",), "platform": "y"})) == before

    def test_other_code_is_noted_once(self) -> None:
        other = record().provenance.model_copy(update={"commit": "other"})
        once = continued(record(), other)
        assert once.resumed_under == (other,)
        assert continued(once, other) == once


class TestProvenance:
    def test_environment_is_an_argument(self) -> None:
        here = gather({"EVAL_SEED": "42", "ASSAY_IMAGE_DIGEST": "sha256:1"}, ("assay", "run"))
        assert (here.eval_seed, here.container_image_digest, here.argv) == (42, "sha256:1", ("assay", "run"))
        assert here.packages["pydantic"]
        assert not here.notebook

    def test_seed_that_is_none(self) -> None:
        with pytest.raises(ConfigError, match="EVAL_SEED"):
            gather({"EVAL_SEED": "soon"}, ())

    def test_no_checkout(self, tmp_path: Path) -> None:
        assert checkout(tmp_path) == ("", False)

    def test_no_git(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert gather({}, ()).commit == ""
