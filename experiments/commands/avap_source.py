"""Programs as a command line names them: files, or `-` for standard input."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote

import typer

from core.errors import ConfigError
from core.model.specs import LanguageSpec
from core.model.syntax import Dialect

STDIN: Final = Path("-")
VOCABULARY: Final = LanguageSpec().vocabulary

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Programs; - reads standard input.")]
VocabularyId = Annotated[
    str, typer.Option("--vocabulary", metavar="ID", help="Which commands exist: a file in configs/languages/avap.")
]
DialectName = Annotated[
    Dialect, typer.Option("--dialect", help="How arguments are read; lenient also takes bare text and empty arguments.")
]


def shown_name(file: Path) -> str:
    """What a message calls the file."""
    return "<stdin>" if file == STDIN else typer.format_filename(file)


def raw_program(file: Path) -> bytes:
    """The bytes of the program. Raises OSError."""
    return typer.get_binary_stream("stdin").read() if file == STDIN else file.read_bytes()


def readable(files: Iterable[Path], unreadable: list[str]) -> Iterator[tuple[Path, bytes]]:
    """Each file that can be read, with its bytes; the others are added to `unreadable`, with the reason."""
    for file in files:
        try:
            raw = raw_program(file)
        except OSError as error:
            unreadable.append(f"{shown_name(file)} ({error.strerror})")
        else:
            yield file, raw


def uri_of(file: Path) -> str:
    """A reference to the file: a `file:` URI for an absolute path, else a relative one."""
    if file == STDIN:
        return "stdin"
    return file.as_uri() if file.is_absolute() else quote(os.fsencode(file.as_posix()))


def refuse_unreadable(unreadable: list[str]) -> None:
    """Raises ConfigError naming each of `unreadable`, if any."""
    if unreadable:
        raise ConfigError(f"cannot read {', '.join(unreadable)}", remedy="name files that exist and may be read")
