"""`assay avap`: AVAP programs checked in this process, with what the base install brings."""

from __future__ import annotations

import json
import re
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from core.errors import ConfigError, ExitCode
from core.model.syntax import Diagnostic, Dialect, ParseResult, Validity
from experiments.commands.avap_explain import explain
from experiments.commands.avap_format import fmt
from experiments.commands.avap_pool import pool_stats
from experiments.commands.avap_run import cover, run
from experiments.commands.avap_source import (
    VOCABULARY,
    DialectName,
    Files,
    VocabularyId,
    readable,
    refuse_unreadable,
    shown_name,
    uri_of,
)
from experiments.commands.avap_vocabularies import diff_vocabularies

app = typer.Typer(no_args_is_help=True)
app.command()(run)
app.command()(cover)
app.command("pool-stats")(pool_stats)
app.command()(fmt)
app.command()(explain)
app.command("diff-vocabularies")(diff_vocabularies)

_SHOWN = 96
"""Columns of a source line that are shown around a fault."""


class Format(StrEnum):
    """How verdicts are written."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"


@app.callback()
def _avap() -> None:
    """Check, run, format and explain programs of the AVAP language."""


@app.command()
def check(
    files: Files,
    vocabulary: VocabularyId = VOCABULARY,
    dialect: DialectName = Dialect.STRICT,
    form: Annotated[
        Format, typer.Option("--format", help="text for people, json as --json, sarif for editors and CI services.")
    ] = Format.TEXT,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per file and line, for scripts.")] = False,
) -> None:
    """Check AVAP programs, as a compiler would.

    Each fault is one line, `file:line:column: category: message`.
    After the faults of a file comes its trace: the text that a model is
    given when it has to repair the program.

    Exit code: 0 all are valid; 1 some are not; 2 a file cannot be read,
    or the vocabulary is unknown.

    Example: assay avap check --dialect lenient orders.avap login.avap
    """
    # Imported here, so that `assay --help` stays quick.
    from core.adapters.avap_file import check_bytes
    from core.adapters.languages import load_vocabulary

    table = load_vocabulary(vocabulary)
    form = _chosen(form, as_json=as_json)
    verdicts: Counter[Validity] = Counter()
    judged: list[tuple[Path, ParseResult]] = []
    unreadable: list[str] = []
    for file, raw in readable(files, unreadable):
        name = shown_name(file)
        result = check_bytes(raw, table, dialect)
        verdicts[result.verdict] += 1
        if form is Format.SARIF:
            judged.append((file, result))
        else:
            typer.echo(_json(name, result) if form is Format.JSON else _text(name, result, raw))
    if form is Format.SARIF:
        typer.echo(_sarif(judged, unreadable))
    refuse_unreadable(unreadable)
    if verdicts[Validity.INVALID]:
        raise typer.Exit(ExitCode.GATE_FAILED)


def _chosen(form: Format, *, as_json: bool) -> Format:
    if as_json and form is Format.SARIF:
        raise ConfigError("--json and --format sarif exclude each other", remedy="leave one of them out")
    return Format.JSON if as_json else form


def _sarif(judged: list[tuple[Path, ParseResult]], unreadable: list[str]) -> str:
    from core.avap.sarif import Judged, sarif_log

    files = [Judged(uri=uri_of(file), result=result) for file, result in judged]
    return sarif_log(files, [f"cannot read {name}" for name in unreadable]).to_json()


def _json(name: str, result: ParseResult) -> str:
    # The default escapes keep it to one line for readers that also break at U+2028 and its like.
    return json.dumps({"file": name, **result.model_dump(mode="json"), "node_types": sorted(result.node_types)})


def _text(name: str, result: ParseResult, raw: bytes) -> str:
    if result.verdict is Validity.VALID:
        return f"{name}: valid ({result.vocabulary}, {result.dialect.value})"
    lines = re.split(r"\r\n|\r|\n", raw.decode("utf-8", "replace"))
    faults = [text for diagnostic in result.diagnostics for text in _fault(name, diagnostic, lines)]
    return "\n".join([*faults, "trace:", *(f"  {line}" for line in result.trace)])


def _fault(name: str, diagnostic: Diagnostic, lines: list[str]) -> list[str]:
    where = f"{name}:{diagnostic.line}:{diagnostic.column}"
    headline = f"{where}: {diagnostic.category.value}: {diagnostic.message}"
    if diagnostic.line > len(lines) or not lines[diagnostic.line - 1].strip():
        return [headline]
    return [headline, *_snippet(lines[diagnostic.line - 1], diagnostic)]


def _snippet(line: str, diagnostic: Diagnostic) -> list[str]:
    """The line around the fault, and carets under the offending text."""
    column = diagnostic.column - 1
    first = max(0, column - _SHOWN // 2)
    shown = "".join(character if character.isprintable() else " " for character in line[first : first + _SHOWN])
    width = max(1, min(len(diagnostic.text.partition("\n")[0]), len(shown) - (column - first)))
    return [f"    {shown.rstrip()}", f"    {' ' * (column - first)}{'^' * width}"]
