"""What is said of code that was sent without its git, and when that is believed."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.errors import ConfigError
from core.lab.handover import VARIABLE, Handover, code_digest, taken_over
from core.lab.provenance import gather

COMMIT = "c" * 40


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A folder with a little code, outside of any checkout."""
    for name in ("core/one.py", "core/deep/two.j2", "experiments/three.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def statement(root: Path, **more: object) -> Path:
    """A file that speaks of the code in `root`, but for `more`."""
    file = root / "provenance.json"
    said = {"commit": COMMIT, "dirty": True, "assay_version": "1.2.3", "code_sha256": code_digest(root), **more}
    file.write_text(json.dumps(said))
    return file


def test_a_statement_on_this_code_is_taken_over(code: Path) -> None:
    taken = taken_over(statement(code), code, commit="")
    assert (taken.commit, taken.dirty, taken.assay_version) == (COMMIT, True, "1.2.3")


def test_where_there_is_git_it_must_agree(code: Path) -> None:
    assert taken_over(statement(code), code, commit=COMMIT).commit == COMMIT
    with pytest.raises(ConfigError, match="the checkout here is at dddd"):
        taken_over(statement(code), code, commit="d" * 40)


@pytest.mark.parametrize("change", ["edited", "added", "removed", "renamed"])
def test_a_statement_on_other_code_is_refused(code: Path, change: str) -> None:
    file, victim = statement(code), code / "core" / "deep" / "two.j2"
    match change:
        case "edited":
            victim.write_text("other")
        case "added":
            (code / "experiments" / "four.py").write_text("")
        case "removed":
            victim.unlink()
        case "renamed":
            victim.rename(victim.with_name("zwei.j2"))
    with pytest.raises(ConfigError, match="other code") as caught:
        taken_over(file, code, commit="")
    assert "assay submit" in caught.value.remedy


def test_what_is_not_code_does_not_count(code: Path) -> None:
    file = statement(code)
    for name in ("core/__pycache__/one.pyc", "core/_configs/it.yaml", "core/.DS_Store", "tests/test_it.py"):
        (code / name).parent.mkdir(exist_ok=True)
        (code / name).write_text("")
    assert taken_over(file, code, commit="").commit == COMMIT


@pytest.mark.parametrize(
    "more",
    [{"commit": "main"}, {"dirty": None}, {"code_sha256": "0"}, {"signed": "me"}],
    ids=lambda more: next(iter(more)),
)
def test_a_statement_of_another_shape_is_refused_with_the_field(code: Path, more: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(more))):
        taken_over(statement(code, **more), code, commit="")


def test_a_statement_that_is_not_there_or_no_json_is_refused(code: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        taken_over(code / "nothing.json", code, commit="")
    (code / "half.json").write_text('{"commit": "c')
    with pytest.raises(ConfigError, match="no statement"):
        taken_over(code / "half.json", code, commit="")


def test_provenance_takes_the_code_from_it_and_the_machine_from_here(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = gather({}, ("assay",))
    monkeypatch.setattr("core.lab.provenance.core", SimpleNamespace(__file__=str(code / "core" / "one.py")))
    taken = gather({VARIABLE: str(statement(code))}, ("assay",))
    assert taken == here.model_copy(update={"commit": COMMIT, "dirty": True, "assay_version": "1.2.3"})
    (code / "core" / "one.py").write_text("other")
    with pytest.raises(ConfigError, match="other code"):
        gather({VARIABLE: str(code / "provenance.json")}, ("assay",))


def test_what_is_sent_says_what_its_checkout_knew(code: Path) -> None:
    known = gather({}, ()).model_copy(update={"commit": COMMIT, "dirty": False})
    (code / "provenance.json").write_text(Handover.of(known, code).model_dump_json())
    taken = taken_over(code / "provenance.json", code, commit="")
    assert (taken.commit, taken.dirty, taken.assay_version) == (COMMIT, False, known.assay_version)


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gather({VARIABLE: ""}, ()) == gather({}, ())
