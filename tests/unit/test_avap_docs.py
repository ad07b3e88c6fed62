"""Every example of docs/avap.md does what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from avap_language import assert_valid, judge, vocabulary

from core.model.syntax import Category, Dialect, Validity

PAGE = (Path(__file__).parents[2] / "docs" / "avap.md").read_text("utf-8")
FENCE = re.compile(r"^```(avap[\w-]*)(?: (\w+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = FENCE.findall(PAGE)


def blocks(kind: str) -> list[tuple[str, str]]:
    return [(category, code) for found, category, code in BLOCKS if found == kind]


def test_the_page_has_examples_of_every_kind() -> None:
    assert {kind for kind, _, _ in BLOCKS} == {"avap", "avap-invalid", "avap-lenient"}
    assert {category for category, _ in blocks("avap-invalid")} == set(Category)


@pytest.mark.parametrize(("_", "code"), blocks("avap"))
def test_valid(_: str, code: str) -> None:
    assert_valid(code)


@pytest.mark.parametrize(("category", "code"), blocks("avap-invalid"))
def test_invalid(category: str, code: str) -> None:
    result = judge(code)
    assert [found.category for found in result.diagnostics] == [category], result.trace


@pytest.mark.parametrize(("_", "code"), blocks("avap-lenient"))
def test_lenient(_: str, code: str) -> None:
    assert_valid(code, Dialect.LENIENT)
    assert judge(code).verdict is Validity.INVALID


def test_every_command_is_on_the_page() -> None:
    missing = [name for name in vocabulary().commands if f"{name}(" not in PAGE]
    assert not missing
