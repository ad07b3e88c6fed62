"""`assay doctor`: each check tells the sound from the broken, and says how to mend it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import ParserUnavailable
from experiments import checkup
from experiments.__main__ import main
from experiments.checkup import Finding, Level


def test_every_extra_of_this_environment_is_there() -> None:
    found = [checkup.extra_installed(extra) for extra in checkup.EXTRAS]
    assert [finding.detail for finding in found if finding.level is not Level.OK] == []


def test_a_package_asked_for_with_an_extra_of_its_own_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["pydantic[email]>=2; extra == 'llm'", "never-here[fast]>=1; extra == 'llm'", "nor-this; extra == 'ray'"]
    monkeypatch.setattr("importlib.metadata.requires", lambda _: lines)
    assert checkup.extra_installed("llm").detail.endswith(": never-here>=1")


def test_a_package_too_old_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.0.1" if name == "tantivy" else "99.0")
    found = checkup.extra_installed("retrieval")
    assert found.level is Level.FAIL
    assert "tantivy>=" in found.detail
    assert "numpy" not in found.detail
    assert "assay-lab[retrieval]" in found.fix


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert checkup.writable("results", tmp_path / "new" / "deep", "ASSAY_RESULTS").level is Level.OK
    broken = checkup.writable("results", tmp_path / "file" / "results", "ASSAY_RESULTS")
    assert (broken.level, "ASSAY_RESULTS" in broken.fix) == (Level.FAIL, True)


@pytest.mark.parametrize(("free", "level"), [(50e9, Level.OK), (1e9, Level.WARN), (1e7, Level.FAIL)])
def test_room_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: float, level: Level) -> None:
    usage = type("Usage", (), {"free": free})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    assert checkup.room("cache", tmp_path, "ASSAY_CACHE").level is level


def test_no_configurations(tmp_path: Path) -> None:
    assert checkup.configurations(tmp_path).level is Level.FAIL
    (tmp_path / "it.yaml").write_text("")
    assert checkup.configurations(tmp_path).detail.endswith(": it")


def test_variables_that_only_some_runs_need_are_warnings() -> None:
    assert [found.level for found in checkup.environment({"EVAL_SEED": "1"})] == [Level.OK, Level.WARN, Level.WARN]


def test_a_seed_that_no_run_would_take() -> None:
    seed, *_ = checkup.environment({"EVAL_SEED": "soon"})
    assert (seed.check, seed.level, "'soon'" in seed.detail) == ("EVAL_SEED", Level.FAIL, True)


def test_without_git_and_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert (checkup.code().level, checkup.browser().level) == (Level.WARN, Level.WARN)


async def test_a_probe_that_fails_is_a_finding_with_its_remedy() -> None:
    async def down() -> str:
        raise ParserUnavailable("core.serving.parser did not start", remedy="look at its log")

    async def bug() -> str:
        raise OSError("libfoo.so: cannot open")

    found = await checkup.probed("parser service", down)
    assert (found.level, found.fix) == (Level.FAIL, "look at its log")
    assert "libfoo.so" in (await checkup.probed("other", bug)).detail


@pytest.mark.parametrize(("level", "code"), [(Level.OK, 0), (Level.WARN, 0), (Level.FAIL, 5)])
def test_exit_code_and_json(
    level: Level, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def found(extras: object) -> list[Finding]:
        return [Finding(check="it", level=level, detail="is so", fix="mend it")]

    monkeypatch.setattr("experiments.commands.doctor.findings", found)
    for words in (["doctor", "--json"], ["doctor"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == code
    out = capsys.readouterr().out
    assert json.loads(out[: out.index("\n}") + 2])["healthy"] is (code == 0)
    assert "fix: mend it" in out


def test_only_the_extras_asked_for_are_probed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["doctor", "retrieval", "--json"])
    names = {finding["check"] for finding in json.loads(capsys.readouterr().out)["findings"]}
    assert {"packages [retrieval]", "text index"} <= names
    assert not names & {"packages [embed]", "parser service", "embedding model"}


def test_an_unknown_extra_is_a_slip(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "retreival"])
    assert ended.value.code == 2
    assert "did you mean 'retrieval'" in capsys.readouterr().err
