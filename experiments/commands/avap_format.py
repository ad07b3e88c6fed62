"""`assay avap fmt`: programs in canonical form."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.errors import ConfigError, ExitCode
from core.model.syntax import Dialect
from experiments.commands.avap_source import (
    STDIN,
    VOCABULARY,
    DialectName,
    Files,
    VocabularyId,
    readable,
    refuse_unreadable,
    shown_name,
)

if TYPE_CHECKING:
    from core.avap import Vocabulary


class _Aim(Enum):
    PRINT = "print the canonical text"
    CHECK = "name the files that are not canonical"
    WRITE = "rewrite the files"


def fmt(
    files: Files,
    check: Annotated[bool, typer.Option("--check", help="Only name the files that would change.")] = False,
    write: Annotated[bool, typer.Option("--write", "-w", help="Rewrite the files in place.")] = False,
    vocabulary: VocabularyId = VOCABULARY,
    dialect: DialectName = Dialect.STRICT,
) -> None:
    """Bring AVAP programs into canonical form.

    One statement a line, blocks indented by four columns, spacing
    settled, lines ended by LF. Comments stay, and so does the meaning.
    Without an option the text goes to standard output.

    Exit code: 0 done, and with --check nothing would change; 1 a program
    is not valid and was left alone, or would change; 2 a file cannot be
    read.

    Example: assay avap fmt --write orders.avap login.avap
    """
    # Imported here, so that `assay --help` stays quick.
    from core.adapters.languages import load_vocabulary

    aim = _aim(files, check=check, write=write)
    table = load_vocabulary(vocabulary)
    unreadable: list[str] = []
    passed = True
    for file, raw in readable(files, unreadable):
        text = _canonical(file, raw, table, dialect)
        passed = text is not None and _deliver(file, raw, text, aim) and passed
    refuse_unreadable(unreadable)
    if not passed:
        raise typer.Exit(ExitCode.GATE_FAILED)


def _aim(files: list[Path], *, check: bool, write: bool) -> _Aim:
    if check and write:
        raise ConfigError("--check and --write exclude each other", remedy="leave one of them out")
    if write and STDIN in files:
        raise ConfigError("standard input cannot be rewritten", remedy="leave --write out: the text is printed")
    return _Aim.CHECK if check else _Aim.WRITE if write else _Aim.PRINT


def _canonical(file: Path, raw: bytes, vocabulary: Vocabulary, dialect: Dialect) -> bytes | None:
    """The canonical text; None for a program that is not valid, whose trace is shown."""
    from core.adapters.avap_file import check_bytes
    from core.avap.formatting import format_program

    result = check_bytes(raw, vocabulary, dialect)
    if result.diagnostics:
        typer.echo("\n".join([f"{shown_name(file)}: not valid, left as it is", *result.trace]), err=True)
        return None
    text = format_program(raw.decode("utf-8"), vocabulary, dialect).text
    assert text is not None
    return text.encode("utf-8")


def _deliver(file: Path, raw: bytes, text: bytes, aim: _Aim) -> bool:
    """Do what was asked with the canonical text; False when the file had to be canonical and is not."""
    if aim is _Aim.PRINT:
        typer.echo(text, nl=False)
        return True
    if text == raw:
        return True
    if aim is _Aim.WRITE:
        _rewrite(file, text)
    typer.echo(shown_name(file))
    return aim is _Aim.WRITE


def _rewrite(file: Path, content: bytes) -> None:
    """Replace what `file` holds, and what a link leads to rather than the link; permissions stay."""
    from core import disk

    real = file.resolve()
    mode = real.stat().st_mode
    disk.replace(real, content)
    real.chmod(mode)
