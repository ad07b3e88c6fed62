"""Finds the code blocks of an answer and says of each whether the parser must see it.

Read as CommonMark, with raw HTML switched off so that no tag can hide a fence: nested in lists and quotes, tilde
fences, fences left open, fences indented so far that a renderer shows them as text, fences inside a Markdown block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.model.judged import Block, BlockKind
from core.model.sample import QueryType

AVAP_LABEL = "avap"

_WRAPPERS = frozenset({"", "md", "markdown"})
"""Labels of blocks that may quote a whole answer, fences included."""

_LABEL = re.compile(r"[\w+#-]+")
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable(["inline"])


def code_blocks(answer: str, route: QueryType) -> tuple[Block, ...]:
    """Every code block of `answer` in order, none of them parsed yet.

    A block labelled avap, in any case and with any further words, is CODE; one without label is CODE in an answer of
    route CODE_GENERATION. A block labelled as another language is FOREIGN: it does not pretend to be AVAP, so the gate
    does not judge it, and the row shows it.
    """
    return tuple(_blocks(answer, route, first_line=1))


def _blocks(text: str, route: QueryType, *, first_line: int) -> Iterator[Block]:
    for token in _MARKDOWN.parse(text):
        if token.type not in {"fence", "code_block"} or token.map is None:
            continue
        label = _label(token.info)
        line = first_line + token.map[0]
        if label in _WRAPPERS:
            inside = tuple(_blocks(token.content, route, first_line=line + (token.type == "fence")))
            quoted = tuple(block for block in inside if block.kind is not BlockKind.INDENTED)
            if quoted:
                yield from quoted
                continue
        yield Block(kind=_kind(token, label, route), label=label, line=line, closed=_closed(token), code=token.content)


def _label(info: str) -> str:
    """The language of an info string: `AVAP title=x`, `{.avap}` and `language-avap` all say avap."""
    word = _LABEL.search(info)
    return word.group().lower().removeprefix("language-") if word else ""


def _kind(token: Token, label: str, route: QueryType) -> BlockKind:
    if token.type == "code_block":
        return BlockKind.INDENTED
    if not token.content.strip():
        return BlockKind.EMPTY
    if label == AVAP_LABEL:
        return BlockKind.CODE
    if label:
        return BlockKind.FOREIGN
    return BlockKind.CODE if route is QueryType.CODE_GENERATION else BlockKind.UNLABELLED


def _closed(token: Token) -> bool:
    """Whether the block's source has a line more than its opening fence and content: the closing fence."""
    if token.type == "code_block" or token.map is None:
        return True
    start, end = token.map
    content_lines = token.content.count("\n") + (not token.content.endswith("\n") and token.content != "")
    return end - start - 1 > content_lines
