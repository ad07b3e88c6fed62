"""Explanations: every lesson's two programs do as it says, and every fault finds a lesson."""

from __future__ import annotations

import pytest
from avap_language import assert_valid, judge, vocabulary

from core.avap.explaining import CATEGORY_HELP, Lesson, explain
from core.avap.explaining.explain import LESSONS, lesson_about, lessons_of
from core.model.syntax import Category

each = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)


@each
@pytest.mark.parametrize("words", ["lrm-2026.04", "definitions-2026.03"])
def test_every_example_is_valid(lesson: Lesson, words: str) -> None:
    assert_valid(lesson.example, words=words)


@each
def test_every_mistake_is_what_its_lesson_is_about(lesson: Lesson) -> None:
    faults = judge(lesson.instead_of).diagnostics
    assert lesson.category in {fault.category for fault in faults}
    assert not lesson.matches or lesson.id in {lesson_about(fault).id for fault in faults}


@each
def test_every_text_is_a_sentence(lesson: Lesson) -> None:
    for text in (lesson.what, lesson.why, lesson.way):
        assert text[0].isupper()
        assert text.endswith(".")


def test_ids_are_unique_and_the_last_of_a_category_fits_all_of_it() -> None:
    assert len({lesson.id for lesson in LESSONS}) == len(LESSONS)
    assert set(CATEGORY_HELP) == set(Category)
    for category in Category:
        *special, general = lessons_of(category)
        assert not general.matches
        assert all(lesson.matches for lesson in special)


def test_an_explanation_tells_how_the_suggested_command_is_written() -> None:
    result = judge("getSHA256(a, b)\nx = 1\nfor i in x:\n")
    unknown, foreign = explain(result, vocabulary())
    assert (unknown.line, unknown.column, unknown.lesson) == (1, 1, "unknown-command")
    assert (unknown.suggestion, unknown.usage) == ("encodeSHA256", "encodeSHA256(value, target)")
    assert (foreign.line, foreign.lesson, foreign.usage) == (3, "foreign-loop", None)
    assert explain(judge("x = 1"), vocabulary()) == ()
