"""`assay` typed inside this process, with the toy experiment among those that are registered."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from experiments.__main__ import main


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, read."""
        return json.loads(self.out)


class Terminal:
    """A working directory with `configs/it.yaml`, four cells of three words each."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capsys = capsys
        (root / "configs" / "trouble").mkdir(parents=True)
        (root / "configs" / "words.txt").write_text("one two three")
        (root / "configs" / "it.yaml").write_text(
            "experiment: toy\nname: it\nruntime: {pool: inline}\nsuites: [{name: a}, {name: b, factor: 2}]\n"
        )

    def type(self, *words: str) -> Said:
        """Exit code and output of `assay WORDS`."""
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        captured = self._capsys.readouterr()
        return Said(int(ended.value.code or 0), captured.out, captured.err)

    def trouble(self, kind: str, text: str = "") -> None:
        """Make something go wrong, as toy_lab knows it."""
        (self.root / "configs" / "trouble" / kind).write_text(text)

    def heal(self) -> None:
        """End all troubles."""
        for file in (self.root / "configs" / "trouble").iterdir():
            file.unlink()

    def folder(self, results: str = "results") -> Path:
        """The one run below `results` that was not set aside."""
        [found] = [path for path in (self.root / results / "toy").iterdir() if ".before-" not in path.name]
        return found
