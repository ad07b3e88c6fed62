"""`assay avap check` and `assay parser`, from outside."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from core.avap import PARSER_VERSION
from core.errors import ConfigError, ParserUnavailable
from core.model.specs import LanguageSpec
from core.serving.parser.judge import Languages
from core.serving.parser.limits import Limits
from core.serving.parser.server import ServerSpec, start
from experiments.commands.avap import app as avap
from experiments.commands.parser import app as parser

RUN = CliRunner()

GOOD = 'addParam("name", name)\naddResult(name)\n'
BAD = "addVar(x, 1)\ngetSHA256(x, y)\nend()\n"
BARE = "addVar(url, https://example.com)\n"
KEYS = {"verdict", "category", "diagnostics", "trace", "node_types", "vocabulary", "dialect", "parser_version"}


@pytest.fixture
def good(tmp_path: Path) -> Path:
    file = tmp_path / "good.avap"
    file.write_text(GOOD)
    return file


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    file = tmp_path / "bad.avap"
    file.write_text(BAD)
    return file


def check(*arguments: object, stdin: str | bytes | None = None) -> tuple[int, str]:
    result = RUN.invoke(avap, ["check", *map(str, arguments)], input=stdin)
    if isinstance(result.exception, ConfigError):
        raise result.exception
    return result.exit_code, result.stdout


def test_valid_programs_end_with_0(good: Path) -> None:
    code, said = check(good)
    assert (code, said) == (0, f"{good}: valid (lrm-2026.04, strict)\n")


def test_faults_are_told_as_a_compiler_tells_them(good: Path, bad: Path) -> None:
    code, said = check(good, bad)
    assert code == 1
    faults = re.findall(rf"^{re.escape(str(bad))}:(\d+):(\d+): (\w+): \S", said, re.MULTILINE)
    assert faults == [("2", "1", "unknown_token"), ("3", "1", "unexpected_construct")]
    assert "    getSHA256(x, y)\n    ^^^^^^^^^\n" in said
    assert "trace:\n  Line 2: unknown command 'getSHA256' — did you mean 'encodeSHA256'?\n  Line 3: " in said


def test_json_is_one_object_per_file_and_line(good: Path, bad: Path) -> None:
    code, said = check("--json", good, bad, "-", stdin="")
    first, second, third = map(json.loads, said.splitlines())
    assert code == 1
    assert all(set(each) == KEYS | {"file"} for each in (first, second, third))
    assert [each["file"] for each in (first, second, third)] == [str(good), str(bad), "<stdin>"]
    assert (first["verdict"], first["category"], first["diagnostics"], first["trace"]) == ("VALID", None, [], [])
    assert first["node_types"] == ["addParam", "addResult"]
    assert (first["vocabulary"], first["dialect"]) == ("lrm-2026.04", "strict")
    assert first["parser_version"] == PARSER_VERSION
    assert (second["verdict"], second["category"], second["node_types"]) == ("INVALID", "unknown_token", [])
    assert set(second["diagnostics"][0]) == {"line", "column", "category", "message", "text", "suggestion"}
    assert second["diagnostics"][0]["suggestion"] == "encodeSHA256"
    assert len(second["trace"]) == 2
    assert third["verdict"] == "INVALID"


def test_the_options_choose_the_language() -> None:
    assert check("-", stdin=BARE)[0] == 1
    assert check("--dialect", "lenient", "-", stdin=BARE)[0] == 0
    program = 'variableFromJSON(reply, "name", target)\n'
    assert check("-", stdin=program)[0] == 1
    assert check("--vocabulary", "definitions-2026.03", "-", stdin=program)[0] == 0


def test_an_unknown_vocabulary_is_a_config_error(good: Path) -> None:
    with pytest.raises(ConfigError, match=r"'lrm-1999'.*definitions-2026\.03, lrm-2026\.04"):
        check("--vocabulary", "lrm-1999", good)


def test_what_cannot_be_read_is_named_after_the_rest_was_checked(tmp_path: Path, good: Path, bad: Path) -> None:
    absent = tmp_path / "absent.avap"
    result = RUN.invoke(avap, ["check", str(absent), str(good), str(tmp_path), str(bad)])
    assert isinstance(result.exception, ConfigError)
    assert str(result.exception) == f"cannot read {absent} (No such file or directory), {tmp_path} (Is a directory)"
    assert f"{good}: valid" in result.stdout
    assert f"{bad}:2:1: unknown_token" in result.stdout


@pytest.mark.parametrize(
    ("raw", "line", "column", "hint"),
    [
        (b"addVar(x, 1)\r\naddVar(y, \xe9)\n", 2, 11, "0xE9"),
        ("ñ = 1".encode() + b"\x80", 1, 6, "0x80"),
        ("addVar(x, 1)".encode("utf-16"), 1, 1, "UTF-16"),
    ],
)
def test_bytes_that_are_no_text_are_a_fault_with_a_place(raw: bytes, line: int, column: int, hint: str) -> None:
    code, said = check("--json", "-", stdin=raw)
    result = json.loads(said)
    assert (code, result["verdict"], result["category"]) == (1, "INVALID", "syntax_error")
    (fault,) = result["diagnostics"]
    assert (fault["line"], fault["column"]) == (line, column)
    assert hint in fault["message"]
    assert check("-", stdin=raw)[1].startswith(f"<stdin>:{line}:{column}: syntax_error: ")


def test_a_separator_inside_a_string_does_not_break_a_json_line() -> None:
    code, said = check("--json", "-", stdin='x = 1\nfoo("\u2028")\nfoo\u2028()\n')
    assert (code, len(said.splitlines())) == (1, 1)
    assert json.loads(said)["verdict"] == "INVALID"


def test_a_fault_far_to_the_right_is_still_shown() -> None:
    _, said = check("-", stdin=f"x = [{'1, ' * 500}#]\n")
    snippet = [line for line in said.splitlines() if line.startswith("    ")]
    assert max(map(len, snippet)) < 120
    assert snippet[1].rstrip().endswith("^")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["-"], 1, ""),
        (["absent.avap"], 2, "error: cannot read absent.avap (No such file or directory)"),
        (["--vocabulary", "lrm-1999", "-"], 2, "fix: use one of: definitions-2026.03, lrm-2026.04"),
        (["--dialect", "loose", "-"], 2, "strict"),
        ([], 2, "FILE"),
    ],
)
def test_the_command_tells_scripts_by_its_exit_code(arguments: list[str], code: int, said: str) -> None:
    command = [sys.executable, "-m", "experiments", "avap", "check", *arguments]
    ended = subprocess.run(command, input=BAD, capture_output=True, text=True, check=False)
    assert ended.returncode == code
    assert said in ended.stderr


def test_checking_needs_only_the_base_install(good: Path) -> None:
    heavy = ("grpc", "google", "anthropic", "torch", "numpy", "scipy", "httpx")
    script = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({heavy!r}))\n"
        "from experiments.commands.avap import app\n"
        "app(['check', sys.argv[1]])"
    )
    assert subprocess.run([sys.executable, "-c", script, good], check=False).returncode == 0


def test_parser_info_describes_a_running_parser(configs: Path) -> None:
    languages = Languages.read(configs / "languages/avap", LanguageSpec())
    server = start(languages, ServerSpec(port=0, limits=Limits(workers=0)))
    try:
        said = RUN.invoke(parser, ["info", f"127.0.0.1:{server.port}"]).stdout
        as_json = RUN.invoke(parser, ["info", "--json", f"127.0.0.1:{server.port}"]).stdout
    finally:
        server.stop()
    assert re.search(rf"version +{re.escape(PARSER_VERSION)}$", said, re.MULTILINE)
    assert languages.vocabularies["lrm-2026.04"].sha256 in said
    assert json.loads(as_json) == languages.info.model_dump(mode="json")


def test_parser_info_of_nobody_is_a_dependency_down() -> None:
    result = RUN.invoke(parser, ["info", "127.0.0.1:1"])
    assert isinstance(result.exception, ParserUnavailable)


def test_serve_says_its_port_and_ends_on_ctrl_c() -> None:
    script = "from experiments.commands.parser import app; app(['serve', '--port', '0'])"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        port = json.loads(process.stdout.readline())["ready"]["port"]
        assert RUN.invoke(parser, ["info", f"127.0.0.1:{port}"]).exit_code == 0
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stdout.read() == b""
        assert [json.loads(line)["event"] for line in process.stderr] == ["serving", "draining"]


def test_serve_without_the_extra_says_how_to_get_it() -> None:
    script = (
        "import sys; sys.modules['grpc'] = None\n"
        "from experiments.commands.parser import app\n"
        "app(['serve', '--port', '0'], standalone_mode=False)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert b"ConfigError" in ended.stderr
    assert b"the parser service is not installed" in ended.stderr
