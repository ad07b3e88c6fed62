"""`assay avap explain`: what is wrong with a program, why AVAP is so, and how to say it instead."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from core.errors import ExitCode
from core.model.syntax import Dialect, ParseResult
from experiments.commands.avap_source import (
    VOCABULARY,
    DialectName,
    VocabularyId,
    raw_program,
    refuse_unreadable,
    shown_name,
)

if TYPE_CHECKING:
    from core.avap.explaining import Explanation

_WIDTH: Final = 100
_SHOWN: Final = 100
"""Columns of the faulty line that are shown."""


def explain(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The program; - reads standard input.")],
    vocabulary: VocabularyId = VOCABULARY,
    dialect: DialectName = Dialect.STRICT,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for scripts.")] = False,
) -> None:
    """Explain every fault of an AVAP program.

    For each: what is wrong, why AVAP is so, the AVAP way, and a valid
    example. Longer than the lines of `assay avap check`; for people who
    learn the language, and for models.

    Exit code: 0 the program is valid; 1 it is not; 2 the file cannot be
    read.

    Example: assay avap explain orders.avap
    """
    # Imported here, so that `assay --help` stays quick.
    from core.adapters.avap_file import check_bytes
    from core.adapters.languages import load_vocabulary
    from core.avap.explaining import explain as explained

    table = load_vocabulary(vocabulary)
    name = shown_name(file)
    try:
        raw = raw_program(file)
    except OSError as error:
        refuse_unreadable([f"{name} ({error.strerror})"])
        return
    result = check_bytes(raw, table, dialect)
    explanations = explained(result, table)
    typer.echo(_json(name, result, explanations) if as_json else "\n".join(_text(name, raw, explanations)))
    if explanations:
        raise typer.Exit(ExitCode.GATE_FAILED)


def _json(name: str, result: ParseResult, explanations: tuple[Explanation, ...]) -> str:
    told = [each.model_dump(mode="json") for each in explanations]
    return json.dumps({"file": name, "verdict": result.verdict.value, "explanations": told})


def _text(name: str, raw: bytes, explanations: tuple[Explanation, ...]) -> Iterator[str]:
    lines = re.split(r"\r\n|\r|\n", raw.decode("utf-8", "replace"))
    if not explanations:
        yield f"{name}: valid, nothing to explain"
    told: set[str] = set()
    for each in explanations:
        yield f"{name}:{each.line}:{each.column}: {each.message}"
        yield from _source(lines, each.line)
        yield from _fix(each)
        if each.lesson in told:
            yield f"  Why: as above ({each.lesson})."
        else:
            told.add(each.lesson)
            yield from _lesson(each)
        yield ""


def _source(lines: list[str], number: int) -> Iterator[str]:
    if number <= len(lines) and lines[number - 1].strip():
        shown = "".join(sign if sign.isprintable() else " " for sign in lines[number - 1].strip()[:_SHOWN])
        yield f"    {shown}"


def _fix(each: Explanation) -> Iterator[str]:
    if each.usage is not None:
        yield f"  Here: write {each.usage}"
    elif each.suggestion is not None:
        yield f"  Here: write {each.suggestion}"


def _lesson(each: Explanation) -> Iterator[str]:
    for title, text in (("What", each.what), ("Why", each.why), ("AVAP", each.way)):
        yield textwrap.fill(f"{title}: {text}", _WIDTH, initial_indent="  ", subsequent_indent="    ")
    yield "  Instead of:"
    yield textwrap.indent(_shortened(each.instead_of), "      ")
    yield "  write:"
    yield textwrap.indent(each.example, "      ")


def _shortened(code: str) -> str:
    printable = code.replace("\0", "\N{SYMBOL FOR NULL}")
    return "\n".join(line if len(line) <= _WIDTH else f"{line[:40]}…" for line in printable.splitlines())
