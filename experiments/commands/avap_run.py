"""`assay avap run` and `assay avap cover`: programs executed in this process, in a world given by test inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from core.errors import ConfigError, ExitCode
from core.model.specs import LanguageSpec
from core.model.syntax import Dialect, Validity

if TYPE_CHECKING:
    from core.avap import Parsed
    from core.avap.execution import Execution, Inputs
    from core.avap.execution.coverage import Coverage

_STDIN: Final = Path("-")
_TRACE_LINES: Final = 10_000
_VOCABULARY: Final = LanguageSpec().vocabulary

File = Annotated[Path, typer.Argument(metavar="FILE", help="The program; - reads standard input.")]
VocabularyId = Annotated[
    str, typer.Option("--vocabulary", metavar="ID", help="Which commands exist: a file in configs/languages/avap.")
]
DialectName = Annotated[Dialect, typer.Option("--dialect", help="How arguments are read.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object, for scripts.")]


def run(  # noqa: PLR0913, PLR0917  the options of a command
    file: File,
    vocabulary: VocabularyId = _VOCABULARY,
    dialect: DialectName = Dialect.STRICT,
    inputs: Annotated[
        Path | None, typer.Option(metavar="JSON", help="Request parameters, and __http__, __connectors__, __now__ ...")
    ] = None,
    param: Annotated[list[str] | None, typer.Option(metavar="NAME=TEXT", help="One request parameter.")] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show each line as it was executed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run an AVAP program and print what it comes to.

    Nothing outside is touched: replies to requests, the moment and the
    seed of random texts come from the inputs, tables live in memory.

    Exit code: 0 it ran to its end; 1 it is not valid, or an error that it
    did not catch or a limit ended it; 2 a file or an option is wrong.

    Example: assay avap run --param name=Ada hello.avap
    """
    from core.avap.execution import Limits, execute

    parsed = _parsed(file, vocabulary, dialect)
    given = _merged(_one(inputs), param or [])
    if parsed.result.verdict is Validity.INVALID:
        typer.echo(_invalid_json(parsed) if as_json else "\n".join(parsed.result.trace))
        raise typer.Exit(ExitCode.GATE_FAILED)
    limits = Limits(trace=_TRACE_LINES if trace else 0)
    execution = execute(parsed.tree, given, limits, dialect=dialect)
    lines = parsed.tree.lines
    typer.echo(_json(execution) if as_json else "\n".join(_text(execution, lines)))
    if execution.error is not None:
        raise typer.Exit(ExitCode.GATE_FAILED)


def cover(
    file: File,
    vocabulary: VocabularyId = _VOCABULARY,
    dialect: DialectName = Dialect.STRICT,
    inputs: Annotated[
        Path | None, typer.Option(metavar="JSON", help="One object of test inputs, or a list of them.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show which lines of an AVAP program its test inputs execute.

    In front of each line that counts stands + when some test input
    executed it and - when none did. The score is ECS: executed / all.

    Exit code: 0 it was measured; 1 the program is not valid, or a test
    input ended in an error; 2 a file or an option is wrong.

    Example: assay avap cover --inputs cases.json orders.avap
    """
    from core.avap.execution.coverage import ecs

    parsed = _parsed(file, vocabulary, dialect)
    coverage = ecs(parsed, _several(inputs))
    typer.echo(coverage.model_dump_json() if as_json else "\n".join(_covered(coverage, parsed)))
    if coverage.reason is not None:
        raise typer.Exit(ExitCode.GATE_FAILED)


def _parsed(file: Path, vocabulary: str, dialect: Dialect) -> Parsed:
    # Imported here, so that `assay --help` stays quick.
    from core.adapters.languages import load_vocabulary
    from core.avap import parse

    return parse(_read(file), load_vocabulary(vocabulary), dialect)


def _read(file: Path) -> str:
    try:
        raw = typer.get_binary_stream("stdin").read() if file == _STDIN else file.read_bytes()
        return raw.decode("utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read {file} ({error.strerror})", remedy="name a file that may be read") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text", file=str(file), remedy="save it as UTF-8") from error


def _data(file: Path | None) -> Any:
    from core.avap.execution import load_json

    if file is None:
        return {}
    try:
        return load_json(_read(file))
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}", file=str(file), line=error.line, remedy=error.remedy) from error


def _one(file: Path | None) -> Mapping[str, Any]:
    data = _data(file)
    if not isinstance(data, dict):
        raise ConfigError(f"{file} holds no JSON object", file=str(file), remedy='write {"parameter": "value"}')
    return data


def _several(file: Path | None) -> list[Inputs]:
    from core.avap.execution import Inputs

    data = _data(file)
    cases = data if isinstance(data, list) else [data]
    if not all(isinstance(case, dict) for case in cases):
        raise ConfigError(f"{file} holds no list of JSON objects", file=str(file), remedy='write [{"name": "value"}]')
    return [Inputs.from_mapping(case) for case in cases]


def _merged(data: Mapping[str, Any], params: list[str]) -> Inputs:
    from core.avap.execution import Inputs

    pairs = [param.partition("=") for param in params]
    wrong = next((param for param, (name, sign, _) in zip(params, pairs, strict=True) if not name or not sign), None)
    if wrong is not None:
        raise ConfigError(f"--param {wrong!r} is not NAME=TEXT", remedy="write --param name=Ada")
    return Inputs.from_mapping({**data, **{name: text for name, _, text in pairs}})


def _json(execution: Execution) -> str:
    shown = {"variables", "results", "status", "error", "executed_lines"}
    data = execution.model_dump(mode="json", include=shown | ({"trace"} if execution.trace else set()))
    return json.dumps(data)


def _invalid_json(parsed: Parsed) -> str:
    first = parsed.result.diagnostics[0]
    error = {"line": first.line, "text": first.message, "kind": "invalid"}
    return json.dumps({"variables": {}, "results": {}, "status": 500, "error": error, "executed_lines": []})


def _text(execution: Execution, lines: tuple[str, ...]) -> list[str]:
    shown = [f"{line:>5}  {lines[line - 1].rstrip()}" for line in execution.trace]
    for title, values in (("variables", execution.variables), ("results", execution.results)):
        shown += [f"{title}:", *(f"  {name} = {_value(value)}" for name, value in values.items())]
    shown.append(f"status: {execution.status}")
    error = execution.error
    shown.append("error: none" if error is None else f"error: line {error.line}: {error.text} ({error.kind.value})")
    shown.append(f"executed lines: {', '.join(map(str, execution.executed_lines)) or 'none'}")
    return shown


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def _covered(coverage: Coverage, parsed: Parsed) -> list[str]:
    executed, counted = set(coverage.executed_lines), set(coverage.statement_lines)
    marks = {line: "+" if line in executed else "-" for line in counted}
    shown = [f"{marks.get(n, ' ')} {n:>4}  {text.rstrip()}".rstrip() for n, text in enumerate(parsed.tree.lines, 1)]
    score = f"{coverage.metric} {coverage.score:.3f} ({len(executed)} of {len(counted)} lines)"
    while shown and not shown[-1].strip("0123456789 "):
        shown.pop()
    return [*shown, score if coverage.reason is None else f"{coverage.metric} 0: {coverage.reason}"]
