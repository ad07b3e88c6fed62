"""The tagged sections of a prompt, and why no text inside one can end it.

Answers, passages and questions come from models and documents that may hold our tags by chance or by intent. A tag of
ours inside a text, opening or closing, loses its meaning by a backslash after `<`; everything else stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from core.model.sample import Passage

TAGS = (
    "answer",
    "code",
    "context",
    "description",
    "example",
    "examples",
    "passage",
    "question",
    "reference",
    "route",
    "statement",
    "statements",
    "task",
)
"""Every tag that a prompt of ours may hold."""

_NAME = f"(?:{'|'.join(TAGS)})"
_TAG = re.compile(rf"<(?=/?{_NAME}\b|\s*/?\s*{_NAME}(?:\s[^<>]*)?/?\s*>)", re.IGNORECASE)
"""The `<` of a tag: spelled as we do, finished or not, or in any spelling that a lenient reader would take for one."""


def section(tag: str, text: str, **attributes: str) -> str:
    """`text` between an opening and a closing `tag`, with every tag of ours inside it disarmed."""
    return _wrap(tag, _TAG.sub(r"<\\", text), attributes)


def group(tag: str, sections: Iterable[str], **attributes: str) -> str:
    """Finished sections, one a line, between an opening and a closing `tag`."""
    return _wrap(tag, "\n" + "\n".join(sections) + "\n", attributes)


def context(passages: Iterable[Passage]) -> str:
    """The retrieved passages, named P1, P2, ... in rank order."""
    named = enumerate(passages, start=1)
    return group("context", (section("passage", p.text, id=f"P{i}", source=p.source or p.id) for i, p in named))


def statement_list(statements: Iterable[str]) -> str:
    """Statements, numbered from 1."""
    return group("statements", (section("statement", text, id=str(i)) for i, text in enumerate(statements, start=1)))


def _wrap(tag: str, content: str, attributes: dict[str, str]) -> str:
    if tag not in TAGS:
        raise ValueError(f"<{tag}> is not among the tags of a prompt: {', '.join(TAGS)}")
    quoted = "".join(f' {name}="{escape(" ".join(value.split()))}"' for name, value in attributes.items())
    return f"<{tag}{quoted}>{content}</{tag}>"
