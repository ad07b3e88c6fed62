"""A document as ingestion reads it, and the one way its faults are reported."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.errors import ConfigError


@dataclass(frozen=True)
class Document:
    """A text file of a corpus."""

    file: Path
    name: str
    """Path below the corpus, with `/`, without suffix: the first part of every id cut from it."""
    text: str
    """Line ends as `\\n`, none at the end."""

    @property
    def lines(self) -> list[str]:
        """The lines of the text, as an editor counts them: U+2028 and its like end none."""
        return self.text.split("\n")

    def fault(self, line: int, what: str, remedy: str) -> ConfigError:
        """The error to raise for a fault at `line` (from 1)."""
        return ConfigError(f"{self.file}:{line}: {what}", file=str(self.file), line=line, remedy=remedy)


def read_document(file: Path, corpus: Path) -> Document:
    """Read `file`, which lies below `corpus`. Raises ConfigError when it is unreadable, empty or not UTF-8."""
    name = file.relative_to(corpus).with_suffix("").as_posix()
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}", file=str(file)) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise Document(file, name, "").fault(line, f"not UTF-8: {error.reason}", "save it as UTF-8") from error
    document = Document(file, name, text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n"))
    if not document.text.strip():
        raise document.fault(1, "the file is empty", "write something, or delete it")
    return document
