"""Shared by the tests of the language: the shipped vocabularies, and one line per expected fault."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from core.avap import Vocabulary, check
from core.model.syntax import Dialect, ParseResult, Validity

FOLDER = Path(__file__).parents[1] / "configs" / "languages" / "avap"


@cache
def vocabulary(name: str = "lrm-2026.04") -> Vocabulary:
    return Vocabulary.from_mapping(yaml.safe_load((FOLDER / f"{name}.yaml").read_text("utf-8")))


def judge(code: str, dialect: Dialect = Dialect.STRICT, words: str = "lrm-2026.04") -> ParseResult:
    return check(code, vocabulary(words), dialect)


def faults(code: str, dialect: Dialect = Dialect.STRICT) -> list[str]:
    """Each diagnostic as `line:column category`."""
    return [f"{found.line}:{found.column} {found.category}" for found in judge(code, dialect).diagnostics]


def assert_valid(code: str, dialect: Dialect = Dialect.STRICT, words: str = "lrm-2026.04") -> ParseResult:
    result = judge(code, dialect, words)
    assert result.verdict is Validity.VALID, "\n".join(result.trace)
    return result
