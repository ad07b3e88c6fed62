"""`assay avap fmt`, `explain` and `check --format`, from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from core.errors import ConfigError
from experiments.commands.avap import app

RUN = CliRunner()
CANONICAL = "x = 1\n"
LOOSE = "// note\r\nx=1\r\n"
BAD = "getSHA256(x, y)\nfor i in x:\n"


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    file = tmp_path / "loose.avap"
    file.write_bytes(LOOSE.encode())
    return file


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    file = tmp_path / "bad.avap"
    file.write_text(BAD)
    return file


def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
    result = RUN.invoke(app, [*map(str, arguments)], input=stdin)
    if isinstance(result.exception, ConfigError):
        raise result.exception
    return result


def test_fmt_prints_the_canonical_text(loose: Path) -> None:
    assert (run("fmt", loose).exit_code, run("fmt", loose).stdout) == (0, "// note\nx = 1\n")
    assert run("fmt", "-", stdin="y=2").stdout == "y = 2\n"
    assert loose.read_bytes() == LOOSE.encode()


def test_fmt_check_names_what_would_change(loose: Path, tmp_path: Path) -> None:
    good = tmp_path / "good.avap"
    good.write_text(CANONICAL)
    result = run("fmt", "--check", good, loose)
    assert (result.exit_code, result.stdout) == (1, f"{loose}\n")
    assert run("fmt", "--check", good).exit_code == 0
    assert loose.read_bytes() == LOOSE.encode()


def test_fmt_write_rewrites_behind_links_and_keeps_permissions(loose: Path, tmp_path: Path) -> None:
    loose.chmod(0o640)
    link = tmp_path / "link.avap"
    link.symlink_to(loose)
    result = run("fmt", "-w", link)
    assert (result.exit_code, result.stdout) == (0, f"{link}\n")
    assert link.is_symlink()
    assert loose.read_bytes() == b"// note\nx = 1\n"
    assert loose.stat().st_mode & 0o777 == 0o640
    assert (run("fmt", "--write", loose).exit_code, run("fmt", "--write", loose).stdout) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.avap", "loose.avap"]


def test_fmt_refuses_what_is_not_valid_and_goes_on(loose: Path, bad: Path, tmp_path: Path) -> None:
    result = run("fmt", "--write", bad, loose)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"{bad}: not valid, left as it is\nLine 1: unknown command 'getSHA256'")
    assert bad.read_text() == BAD
    assert loose.read_bytes() == b"// note\nx = 1\n"
    assert run("fmt", "-", stdin=b"x = \xff").exit_code == 1
    with pytest.raises(ConfigError, match=r"cannot read .*absent\.avap"):
        run("fmt", tmp_path / "absent.avap")


def test_fmt_options_that_exclude_each_other(loose: Path) -> None:
    with pytest.raises(ConfigError, match="exclude each other"):
        run("fmt", "--check", "--write", loose)
    with pytest.raises(ConfigError, match="standard input cannot be rewritten"):
        run("fmt", "--write", "-", stdin=LOOSE)


def test_fmt_speaks_both_dialects() -> None:
    assert run("fmt", "-", stdin="addVar(u,a b)").exit_code == 1
    assert run("fmt", "--dialect", "lenient", "-", stdin="addVar(u,a b)").stdout == "addVar(u, a b)\n"


def test_explain_tells_what_why_and_the_way(bad: Path) -> None:
    result = run("explain", bad)
    assert result.exit_code == 1
    assert f"{bad}:1:1: unknown command 'getSHA256'\n    getSHA256(x, y)\n" in result.stdout
    assert "  Here: write encodeSHA256(value, target)\n" in result.stdout
    assert result.stdout.count("  Why: ") == 2
    assert "  write:\n      encodeSHA256(password, digest)\n" in result.stdout
    assert (run("explain", "-", stdin=CANONICAL).exit_code, run("explain", "-", stdin=CANONICAL).stdout) == (
        0,
        "<stdin>: valid, nothing to explain\n",
    )


def test_explain_tells_a_lesson_once_and_takes_any_bytes() -> None:
    result = run("explain", "-", stdin="foo(1)\nfoo(2)\n")
    assert result.stdout.count("  Instead of:\n") == 1
    assert "  Why: as above (unknown-command).\n" in result.stdout
    assert "not-text" in run("explain", "--json", "-", stdin=b"x = \xff").stdout


def test_explain_json_is_one_object(bad: Path) -> None:
    told = json.loads(run("explain", "--json", bad).stdout)
    assert set(told) == {"file", "verdict", "explanations"}
    assert [each["lesson"] for each in told["explanations"]] == ["unknown-command", "foreign-loop"]
    with pytest.raises(ConfigError, match=r"cannot read .*absent\.avap"):
        run("explain", bad.with_name("absent.avap"))


def test_check_formats(bad: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("check", "--format", "json", bad).stdout == run("check", "--json", bad).stdout
    assert run("check", "--format", "text", bad).stdout == run("check", bad).stdout
    monkeypatch.chdir(bad.parent)
    Path("a b.avap").write_text(CANONICAL)
    result = run("check", "--format", "sarif", "bad.avap", "a b.avap", bad, "-", stdin="x = 1")
    assert result.exit_code == 1
    (told,) = json.loads(result.stdout)["runs"]
    uris = [artifact["location"]["uri"] for artifact in told["artifacts"]]
    assert uris == ["bad.avap", "a%20b.avap", bad.as_uri(), "stdin"]
    assert len(told["results"]) == 4


def test_check_sarif_tells_what_it_could_not_read(bad: Path) -> None:
    result = RUN.invoke(app, ["check", "--format", "sarif", str(bad), "absent.avap"])
    assert isinstance(result.exception, ConfigError)
    (told,) = json.loads(result.stdout)["runs"]
    assert told["invocations"][0]["executionSuccessful"] is False
    with pytest.raises(ConfigError, match="exclude each other"):
        run("check", "--json", "--format", "sarif", bad)
