"""Pipeline `avap_samples@1`: annotated programs, one passage each, however long."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from core.adapters.ingest.documents import Document
from core.model.sample import Passage
from core.model.specs import ChunkingSpec

_MARK = "///"
_TITLE = "title:"


def sample(document: Document, chunking: ChunkingSpec) -> Iterator[Passage]:  # noqa: ARG001  a program is never cut
    """The passage of a program whose leading `///` lines are `title: ...` and an explanation.

    Its id is the document's name, its text title, explanation and fenced code, its code the program without the
    leading lines. Raises ConfigError with file and line for a missing title or explanation, and for no code.
    """
    lines = document.lines
    comment = [line.strip().removeprefix(_MARK).strip() for line in takewhile(_is_comment, lines)]
    if not comment or not comment[0].lower().startswith(_TITLE):
        raise document.fault(1, "the sample has no title", "start it with `/// title: What it shows`")
    title = comment[0][len(_TITLE) :].strip()
    explanation = "\n".join(comment[1:]).strip()
    code = "\n".join(lines[len(comment) :]).strip("\n").rstrip()
    if not title or not explanation:
        raise document.fault(1, "the sample has no title or no explanation", "add `///` lines that say what it shows")
    if not code.strip():
        raise document.fault(len(lines), "the sample has no code", "write the program below its `///` lines")
    yield Passage(
        id=document.name,
        text=f"{title}\n\n{explanation}\n\n```avap\n{code}\n```",
        source=f"{document.name}: {title}",
        code=code,
        metadata={"section": document.name, "title": title},
    )


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(_MARK)
