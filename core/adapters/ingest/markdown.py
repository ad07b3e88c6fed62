"""Pipeline `avap_markdown@1`: reference prose, one section for each heading with an anchor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from core.adapters.ingest.chunks import FENCE, chunks_of, closes
from core.adapters.ingest.documents import Document
from core.measure.ranking import CHUNK_MARK
from core.model.sample import Passage
from core.model.specs import ChunkingSpec

_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*(?:\{#([^}]*)\}\s*)?$")
_ANCHOR = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_SECTION_LEVEL = 2


@dataclass(frozen=True)
class _Section:
    anchor: str
    title: str
    line: int
    body: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.body).strip()


def sections(document: Document, chunking: ChunkingSpec) -> Iterator[Passage]:
    """The passages of a Markdown document.

    A heading `## Title {#anchor}` of any level starts a section with the id `<document>#<anchor>`; deeper headings
    without an anchor belong to the section they stand in. `# Title` names the document; text under it has the
    document's own id. Each passage's text starts with the titles of document and section.
    Raises ConfigError with file and line for a second-level heading without an anchor, an anchor used twice or not
    made of letters, digits, `_`, `.` and `-`, a section without text, and a fence that is never closed.
    """
    title, found = _split(document)
    if not found:
        raise document.fault(1, "no section", "start sections with `## Title {#anchor}`")
    _refuse_duplicates(document, found)
    for section in found:
        if not section.text:
            raise document.fault(section.line, f"section {section.title!r} is empty", "write its text, or remove it")
        yield from _passages(document, title, section, chunking)


def _split(document: Document) -> tuple[str, list[_Section]]:
    title, found = "", [_Section("", "", 1)]
    fence, fence_line = "", 0
    for number, line in enumerate(document.lines, start=1):
        mark, heading = FENCE.match(line), _HEADING.match(line)
        if fence:
            fence = "" if closes(line, fence) else fence
        elif mark:
            fence, fence_line = mark[1], number
        elif heading and heading[3] is not None:
            found.append(_Section(_anchor(document, number, heading[3]), heading[2], number))
            continue
        elif heading and len(heading[1]) == 1 and not title:
            title = heading[2]
            continue
        elif heading and len(heading[1]) <= _SECTION_LEVEL:
            raise document.fault(number, f"heading {heading[2]!r} has no anchor", "end it with `{#an-anchor}`")
        found[-1].body.append(line)
    if fence:
        raise document.fault(fence_line, "this fence is never closed", f"close it with a line `{fence}`")
    return title, found if found[0].text else found[1:]


def _anchor(document: Document, line: int, anchor: str) -> str:
    if not _ANCHOR.fullmatch(anchor):
        raise document.fault(line, f"anchor {anchor!r} is not usable", "use letters, digits, `_`, `.` and `-`")
    return anchor


def _refuse_duplicates(document: Document, found: list[_Section]) -> None:
    lines: dict[str, int] = {}
    for section in found:
        if section.anchor in lines:
            raise document.fault(
                section.line,
                f"anchor {section.anchor!r} is already used in line {lines[section.anchor]}",
                "give each section an anchor of its own",
            )
        lines[section.anchor] = section.line


def _passages(document: Document, title: str, section: _Section, chunking: ChunkingSpec) -> Iterator[Passage]:
    id = f"{document.name}#{section.anchor}" if section.anchor else document.name  # noqa: A001  the port's word
    heading = ": ".join(part for part in (title, section.title) if part)
    for number, chunk in enumerate(chunks_of(section.text, chunking), start=1):
        yield Passage(
            id=id if number == 1 else f"{id}{CHUNK_MARK}{number}",
            text=f"{heading}\n\n{chunk}" if heading else chunk,
            source=f"{document.name}: {section.title}" if section.title else document.name,
            metadata={"section": id, "title": heading},
        )
