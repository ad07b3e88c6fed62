"""Markdown to sentences, sentences to words, words to stems that English and Spanish texts share."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from core.serving.rehearsal.glossary import ENGLISH_SYNONYMS, SPANISH_TO_ENGLISH, STOP_WORDS

_WORD = re.compile(r"[^\W\d]\w*|\d+(?:\.\d+)?")
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}\s+(.*?)(?:\s*\{#[\w-]+\})?\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+>]|\d+[.)]|/{3})\s+")
_TABLE_RULE = re.compile(r"^[\s|:+-]+$")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!p\. ej\.)\s+(?=[^\sa-z])")
_NAME = re.compile(r".[A-Z]")
_CAMEL = re.compile(r"[a-z0-9][A-Z]")
_SUFFIXES = (
    "amientos", "imientos", "aciones", "amiento", "imiento", "acion", "iendo", "mente", "ando", "ados", "adas", "idos",
    "idas", "ings", "ing", "edly", "ado", "ada", "ido", "ida", "ed", "es", "ly", "ar", "er", "ir", "s", "e", "o", "a",
)  # fmt: skip
SHORTEST_STEM = 3


@dataclass(frozen=True)
class Sentence:
    """A sentence as it was written, and its content words as stems."""

    text: str
    stems: frozenset[str]


@dataclass(frozen=True)
class Document:
    """A Markdown text taken apart."""

    title_stems: frozenset[str]
    """Of all its headings."""
    sentences: tuple[Sentence, ...]
    programs: tuple[str, ...]
    """The complete ```avap blocks, verbatim, without their fences."""
    stems: frozenset[str]
    """Of everything: titles, prose and code."""
    words: frozenset[str]
    """Every word of the text as it is written, for matching names exactly."""


def plain(word: str) -> str:
    """`word` in lower case without accents."""
    decomposed = unicodedata.normalize("NFKD", word)
    return "".join(char for char in decomposed if not unicodedata.combining(char)).lower()


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a word; empty for a stop word. A name in camel case or with `_` is its own stem."""
    bare = plain(word)
    if bare in STOP_WORDS or (len(bare) == 1 and not bare.isdigit()):
        return ""
    if "_" in word or any(char.isdigit() for char in word) or _CAMEL.search(word):
        return bare
    cut = _cut(bare)
    return _shared().get(cut, cut)


def _cut(bare: str) -> str:
    for suffix in _SUFFIXES:
        if bare.endswith(suffix) and len(bare) - len(suffix) >= SHORTEST_STEM and not bare.endswith("ss"):
            return bare[: -len(suffix)]
    return bare


@lru_cache(maxsize=1)
def _shared() -> dict[str, str]:
    same = ENGLISH_SYNONYMS | SPANISH_TO_ENGLISH
    counted = {_cut(word): _cut(other) for word, other in same.items()}
    return {word: counted.get(other, other) for word, other in counted.items()}


def words(text: str) -> list[str]:
    """The words of a text, in order, as written."""
    return _WORD.findall(text)


@lru_cache(maxsize=4096)
def stems(text: str) -> frozenset[str]:
    """The stems of the content words of a text. Cached: claims and questions come many times as well."""
    return frozenset(filter(None, map(stem, words(text))))


def names(text: str) -> frozenset[str]:
    """The stems of the words that are names by their capitals, as `TCP` and `WebSocket`."""
    return frozenset(filter(None, (stem(word) for word in words(text) if _NAME.search(word))))


@lru_cache(maxsize=8192)
def document(text: str) -> Document:
    """Take a Markdown text apart. Cached: the same passages come with many questions."""
    blocks = _FENCE.findall(text)
    prose = _FENCE.sub("\n\n", text)
    return Document(
        title_stems=stems(" ".join(match.group(1) for line in prose.splitlines() if (match := _HEADING.match(line)))),
        sentences=tuple(Sentence(s, stems(s)) for s in sentences(prose)),
        programs=tuple(code.rstrip("\n") for label, code in blocks if label == "avap" and code.strip()),
        stems=stems(text),
        words=frozenset(words(text)),
    )


def blocks(markdown: str) -> list[str]:
    """The fenced blocks of a Markdown text, whatever their label, without their fences."""
    return [code for _, code in _FENCE.findall(markdown)]


def without_code(text: str) -> str:
    """The prose of a Markdown text."""
    return _FENCE.sub("\n\n", text)


def sentences(prose: str) -> list[str]:
    """The sentences of Markdown prose without fences; headings and lines that only lead in (`...:`) are left out."""
    found = [s.strip() for paragraph in _paragraphs(prose) for s in _SENTENCE_END.split(paragraph)]
    return [s for s in found if len(words(s)) >= 3 and not s.endswith(":")]


def _paragraphs(prose: str) -> list[str]:
    paragraphs: list[list[str]] = [[]]
    for line in prose.splitlines():
        if not line.strip() or _HEADING.match(line) or _TABLE_RULE.match(line):
            paragraphs.append([])
        elif line.lstrip().startswith("|"):
            paragraphs.extend([[_table_row(line)], []])
        elif _ITEM.match(line) and not line.lstrip().startswith("///"):
            paragraphs.append([_ITEM.sub("", line)])
        else:
            paragraphs[-1].append(_ITEM.sub("", line).strip())
    return [" ".join(lines) for lines in paragraphs if lines]


def _table_row(line: str) -> str:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return f"{cells[0]}: {'; '.join(filter(None, cells[1:]))}." if len(cells) > 1 else cells[0]
