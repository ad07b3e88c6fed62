"""The sections of a prompt: a task named in the system text, tagged sections in the user's turns."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache

from core.checks.sections import TAGS

KEPT = 2048
"""Prompts of which is kept what was read in them: most come again, with another repetition."""


class Task(StrEnum):
    """What a prompt asks for."""

    REFORMULATE = "reformulate"
    ANSWER = "answer"
    UNAIDED = "answer.unaided"
    """To answer without documentation."""
    STATEMENTS = "judge.statements"
    SUPPORT = "judge.support"
    QUESTIONS = "judge.questions"
    ATTRIBUTION = "judge.attribution"
    USEFULNESS = "judge.usefulness"
    OTHER = "other"
    """No task line, or one that is not known: answered in general terms."""


@dataclass(frozen=True)
class Section:
    """One tagged piece of a prompt, as it stands there: see `restored` for tags inside its text."""

    tag: str
    text: str
    attributes: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def restored(self) -> str:
        """The text as it was before its tags were disarmed."""
        return restored(self.text)


@dataclass(frozen=True, eq=False)
class Reading:
    """A prompt taken apart. Absent sections are empty.

    Compared by identity: `read` gives one object for one prompt, so that what was found out about it can be kept.
    """

    task: Task
    sections: tuple[Section, ...]

    def one(self, tag: str) -> Section:
        """The first section called `tag`, or an empty one."""
        return next((section for section in self.sections if section.tag == tag), Section(tag, ""))

    def items(self, tag: str, item: str) -> tuple[Section, ...]:
        """The `item` sections inside the first section called `tag`."""
        return _inside(self.one(tag).text, item)


OUTER = ("route", "context", "examples", "question", "answer", "reference", "statements")
_TASKS = {task.value: task for task in Task}
_TASK = re.compile(r"<task>\s*([\w.]+)\s*</task>")
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_DISARMED = re.compile(rf"<\\(?=\s*/?\s*(?:{'|'.join(TAGS)})\b)", re.IGNORECASE)


def read(system: str, user: str) -> Reading:
    """Take a prompt apart; never fails, since any text is a legal prompt."""
    named = _TASK.search(system)
    return _read(_TASKS.get(named.group(1), Task.OTHER) if named else Task.OTHER, user)


@lru_cache(maxsize=KEPT)
def _read(task: Task, user: str) -> Reading:
    return Reading(task, tuple(_sections(user, _opening(*OUTER))))


@lru_cache(maxsize=512)
def _inside(text: str, item: str) -> tuple[Section, ...]:
    """Cached: many prompts are about the same passages and examples."""
    return tuple(_sections(text, _opening(item)))


@lru_cache(maxsize=64)
def _opening(*tags: str) -> re.Pattern[str]:
    return re.compile(rf"<({'|'.join(tags)})((?:\s+[\w-]+=\"[^\"]*\")*)\s*>")


def _sections(text: str, opening: re.Pattern[str]) -> list[Section]:
    """In order; one that is not closed is none, and what stands in it is looked at by itself."""
    found, place = [], 0
    while match := opening.search(text, place):
        tag, attributes = match.groups()
        end = text.find(closing := f"</{tag}>", match.end())
        if end < 0:
            place = match.start() + 1
            continue
        named = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(attributes)}
        found.append(Section(tag, text[match.end() : end], named))
        place = end + len(closing)
    return found


def restored(text: str) -> str:
    """`text` with the tags that core.checks.sections disarmed written plainly again, without blank lines around it."""
    return _DISARMED.sub("<", text).strip("\n")
