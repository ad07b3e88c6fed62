"""`assay avap run` and `assay avap cover`, from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from core.errors import ConfigError
from experiments.commands.avap import app

RUN = CliRunner()
GREET = """addParam("name", name)
if(name, None, "==")
    _status = 400
else()
    greeting = `Hello ${name}`
end()
addResult(greeting)
"""


@pytest.fixture
def greet(tmp_path: Path) -> Path:
    return written(tmp_path / "greet.avap", GREET)


def written(file: Path, text: str) -> Path:
    file.write_text(text, "utf-8")
    return file


def assay(*arguments: object, stdin: str | bytes | None = None) -> tuple[int, str]:
    result = RUN.invoke(app, [*map(str, arguments)], input=stdin)
    if isinstance(result.exception, ConfigError):
        raise result.exception
    return result.exit_code, result.stdout


def data(said: str) -> dict[str, Any]:
    (line,) = said.splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def test_a_run_is_told_for_people(greet: Path) -> None:
    code, said = assay("run", "--param", "name=Ada", greet)
    assert code == 0
    assert said == (
        'variables:\n  name = "Ada"\n  greeting = "Hello Ada"\nresults:\n  greeting = "Hello Ada"\n'
        "status: 200\nerror: none\nexecuted lines: 1, 2, 5, 7\n"
    )


def test_a_run_is_told_for_scripts(greet: Path) -> None:
    code, said = assay("run", "--json", greet)
    assert code == 0
    assert data(said) == {
        "variables": {"name": None, "_status": 400},
        "results": {"greeting": None},
        "status": 400,
        "error": None,
        "executed_lines": [1, 2, 3, 7],
    }


def test_an_uncaught_error_ends_with_1() -> None:
    code, said = assay("run", "--json", "-", stdin="x = 1\naddResult(x)\ny = x / 0\n")
    assert code == 1
    found = data(said)
    assert found["error"] == {"line": 3, "text": "division by zero", "kind": "arithmetic"}
    assert (found["status"], found["results"]) == (500, {"x": 1})
    code, said = assay("run", "-", stdin="x = 1 / 0")
    assert (code, "error: line 1: division by zero (arithmetic)" in said) == (1, True)


def test_an_invalid_program_ends_with_1_and_says_what_is_wrong() -> None:
    code, said = assay("run", "-", stdin="x = 1\ngetSHA256(x, y)\n")
    assert (code, said) == (1, "Line 2: unknown command 'getSHA256' — did you mean 'encodeSHA256'?\n")
    code, said = assay("run", "--json", "-", stdin="x = \n")
    assert code == 1
    assert data(said)["error"]["kind"] == "invalid"
    assert set(data(said)) == {"variables", "results", "status", "error", "executed_lines"}


def test_vocabulary_and_dialect_are_chosen() -> None:
    stamp = 'getTimeStamp("2026-01-01", "%Y-%m-%d", 0, x)'
    assert assay("run", "-", stdin=stamp)[0] == 1
    code, said = assay("run", "--json", "--vocabulary", "definitions-2026.03", "-", stdin=stamp)
    assert (code, data(said)["variables"]) == (0, {"x": 1767225600})
    code, said = assay("run", "--json", "--dialect", "lenient", "-", stdin="addVar(x, https://a.b)")
    assert (code, data(said)["variables"]) == (0, {"x": "https://a.b"})


def test_inputs_come_from_a_file_and_parameters_win(greet: Path, tmp_path: Path) -> None:
    inputs = written(tmp_path / "inputs.json", '{"name": "Eva", "__seed__": 4}')
    assert data(assay("run", "--json", "--inputs", inputs, greet)[1])["variables"]["name"] == "Eva"
    found = data(assay("run", "--json", "--inputs", inputs, "--param", "name=a=b", greet)[1])
    assert found["variables"]["name"] == "a=b"


def test_the_trace_shows_lines_as_they_were_executed(tmp_path: Path) -> None:
    file = written(tmp_path / "loop.avap", "startLoop(i, 1, 2)\n    x = i\nendLoop()\n")
    assert assay("run", "--trace", file)[1].startswith(
        "    1  startLoop(i, 1, 2)\n    2      x = i\n    2      x = i\n"
    )
    assert data(assay("run", "--trace", "--json", file)[1])["trace"] == [1, 2, 2]


def test_coverage_is_shown_per_line(greet: Path, tmp_path: Path) -> None:
    code, said = assay("cover", greet)
    assert code == 0
    assert said == (
        '+    1  addParam("name", name)\n+    2  if(name, None, "==")\n+    3      _status = 400\n     4  else()\n'
        "-    5      greeting = `Hello ${name}`\n     6  end()\n+    7  addResult(greeting)\n"
        "ecs@1 0.800 (4 of 5 lines)\n"
    )
    inputs = written(tmp_path / "inputs.json", '[{"name": "Eva"}, {}]')
    found = data(assay("cover", "--json", "--inputs", inputs, greet)[1])
    assert (found["score"], found["executed_lines"]) == (1, [1, 2, 3, 5, 7])


def test_coverage_of_a_program_that_fails_is_0(tmp_path: Path) -> None:
    code, said = assay("cover", written(tmp_path / "bad.avap", "x = 1\ny = x / 0\n"))
    assert (code, said.splitlines()[-1]) == (1, "ecs@1 0: Line 2: division by zero")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--param", "name"], "'name' is not NAME=TEXT"),
        (["--param", "=x"], "'=x' is not NAME=TEXT"),
        (["--inputs", "missing.json"], r"cannot read missing.json \(No such file or directory\)"),
        (["--inputs", "{folder}/list.json"], "holds no JSON object"),
        (["--inputs", "{folder}/broken.json"], "broken.json: not JSON"),
        (["--inputs", "{folder}/wrong.json"], "test inputs: "),
        (["--vocabulary", "unknown"], "unknown vocabulary 'unknown'"),
    ],
)
def test_bad_usage_is_told(greet: Path, tmp_path: Path, options: list[str], message: str) -> None:
    written(tmp_path / "list.json", "[]")
    written(tmp_path / "broken.json", "{")
    written(tmp_path / "wrong.json", '{"__now__": "soon"}')
    with pytest.raises(ConfigError, match=message):
        assay("run", *(option.replace("{folder}", str(tmp_path)) for option in options), greet)


def test_a_program_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        assay("run", tmp_path / "nothing.avap")
    file = tmp_path / "latin.avap"
    file.write_bytes(b"x = '\xe9'")
    with pytest.raises(ConfigError, match="not UTF-8"):
        assay("cover", file)
    with pytest.raises(ConfigError, match="no list of JSON objects"):
        assay("cover", "--inputs", written(tmp_path / "n.json", "[5]"), written(tmp_path / "x.avap", "x = 1"))
