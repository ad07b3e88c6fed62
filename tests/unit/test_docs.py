"""The documentation speaks of files that exist and of commands that can be typed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
OURS = ("core/", "experiments/", "configs/", "docs/", "scripts/", "tests/")
PLANNED = {"core/cluster", "core/synthesis", "core/flows/synthesise"}
"""Rooms that the architecture keeps free."""


def paths(page: Path) -> Iterator[str]:
    """What is quoted as a path of the repository."""
    for quoted in re.findall(r"`([^`\s]+)`", page.read_text("utf-8")):
        if quoted.startswith(OURS) and not re.search(r"[*<>{}$]|\.\.\.", quoted):
            yield quoted


def commands(page: Path) -> Iterator[list[str]]:
    """What is quoted as an `assay` command, or shown after a prompt."""
    text = page.read_text("utf-8")
    shown = re.findall(r"^\s*(?:\$ )?(?:[A-Z_]+=\S+ )*(assay [a-z][^`\n|]*)", text, re.MULTILINE)
    for line in (*shown, *re.findall(r"`(assay [a-z][^`\n]*)`", text)):
        yield shlex.split(line.partition(" #")[0])[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_exists(page: Path) -> None:
    missing = [path for path in paths(page) if not any((ROOT / name).exists() for name in (path, f"{path}.py"))]
    assert set(missing) <= PLANNED


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not missing


def asked_for() -> list[tuple[str, ...]]:
    """Every command of the documentation once: its words before options and arguments."""
    found = set()
    for page in PAGES:
        for words in commands(page):
            options = [word.partition("=")[0] for word in words if word.startswith("--")]
            plain = [word for word in words[:2] if re.fullmatch(r"[a-z-]+", word) and not word.startswith("-")]
            found.add((*plain, *sorted(set(options))))
    return sorted(found)


@pytest.mark.parametrize("words", asked_for(), ids=" ".join)
def test_every_command_and_option_is_known(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    names = [word for word in words if not word.startswith("--")]
    with pytest.raises(SystemExit) as ended:
        main([*names, "--help"])
    shown = capsys.readouterr().out
    assert ended.value.code == 0
    assert "No such command" not in shown
    for option in words[len(names) :]:
        assert option in shown or option == "--debug"
