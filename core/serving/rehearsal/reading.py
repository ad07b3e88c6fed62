"""The sections of a prompt: a task named in the system text, tagged sections in the last user turn."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Task(StrEnum):
    """What a prompt asks for."""

    REFORMULATE = "reformulate"
    ANSWER = "answer"
    STATEMENTS = "judge.statements"
    SUPPORT = "judge.support"
    QUESTIONS = "judge.questions"
    ATTRIBUTION = "judge.attribution"
    USEFULNESS = "judge.usefulness"
    OTHER = "other"
    """No task line, or one that is not known: answered in general terms."""


@dataclass(frozen=True)
class Section:
    """One tagged piece of a prompt, its text as the caller had it before tags were neutralised."""

    tag: str
    text: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """A prompt taken apart. Absent sections are empty."""

    task: Task
    sections: tuple[Section, ...]
    text: str
    """The whole of the last user turn."""

    def one(self, tag: str) -> Section:
        """The first section called `tag`, or an empty one."""
        return next((section for section in self.sections if section.tag == tag), Section(tag, ""))

    def items(self, tag: str, item: str) -> tuple[Section, ...]:
        """The `item` sections inside the first section called `tag`."""
        return tuple(_sections(self.one(tag).text, (item,)))


OUTER = ("route", "context", "examples", "question", "answer", "reference", "statements")
_TASK = re.compile(r"<task>\s*([\w.]+)\s*</task>")
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_NEUTRALISED = re.compile(r"<\\+/")


def read(system: str, user: str) -> Reading:
    """Take a prompt apart; never fails, since any text is a legal prompt."""
    named = _TASK.search(system)
    known = {task.value: task for task in Task}
    return Reading(
        task=known.get(named.group(1), Task.OTHER) if named else Task.OTHER,
        sections=tuple(_sections(user, OUTER)),
        text=user,
    )


def _sections(text: str, tags: tuple[str, ...]) -> list[Section]:
    pattern = re.compile(rf"<({'|'.join(tags)})((?:\s+[\w-]+=\"[^\"]*\")*)\s*>(.*?)</\1>", re.DOTALL)
    return [
        Section(
            tag=match.group(1),
            text=match.group(3),
            attributes={name: html.unescape(value) for name, value in _ATTRIBUTE.findall(match.group(2))},
        )
        for match in pattern.finditer(text)
    ]


def restored(text: str) -> str:
    """`text` with neutralised closing tags (`<\\/`) written plainly again, trimmed of blank lines around it."""
    return _NEUTRALISED.sub("</", text).strip("\n")
