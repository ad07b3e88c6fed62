"""What differs between vocabularies, and what it can do to verdicts."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from core.adapters.languages import load_vocabulary, read_vocabulary
from core.avap import Vocabulary
from core.avap.vocabulary_diff import Difference, Effect, diff_vocabularies

LRM = read_vocabulary("lrm-2026.04")


def changed(change: Callable[[dict[str, Any]], object]) -> Vocabulary:
    data: dict[str, Any] = deepcopy(dict(LRM.content))
    change(data)
    return Vocabulary.from_mapping(data)


def test_the_two_that_ship() -> None:
    found = diff_vocabularies(LRM.vocabulary, load_vocabulary("definitions-2026.03"))
    both = ("getTimeStamp", "variableFromJSON")
    assert (found.commands, found.node_types) == (Difference(added=both), Difference(added=both))
    assert found.hallucinations == Difference(removed=both)
    assert (found.effect, found.changed) == (Effect.WIDENS, ())
    back = diff_vocabularies(load_vocabulary("definitions-2026.03"), LRM.vocabulary)
    assert (back.commands, back.effect) == (Difference(removed=both), Effect.NARROWS)


def test_a_vocabulary_does_not_differ_from_itself() -> None:
    found = diff_vocabularies(LRM.vocabulary, changed(lambda data: None))
    assert (found.effect, found.changed, found.commands) == (Effect.NONE, (), Difference())
    assert found.before == found.after


def first_parameter(data: dict[str, Any]) -> dict[str, Any]:
    parameter: dict[str, Any] = data["commands"]["encodeSHA256"]["parameters"][0]
    return parameter


@pytest.mark.parametrize(
    ("change", "effect"),
    [
        (lambda data: first_parameter(data).update(name="anything"), Effect.NONE),
        (lambda data: first_parameter(data).update(kind="variable"), Effect.BOTH),
        (lambda data: data["commands"]["encodeSHA256"].update(aliases=["sha256"]), Effect.WIDENS),
        (lambda data: data["commands"].pop("encodeMD5"), Effect.NARROWS),
        (lambda data: data.update(description="another text"), Effect.NONE),
    ],
)
def test_the_effect_is_on_what_may_be_written(change: Callable[[dict[str, Any]], object], effect: Effect) -> None:
    assert diff_vocabularies(LRM.vocabulary, changed(change)).effect is effect


def test_a_changed_command_is_shown_on_both_sides() -> None:
    found = diff_vocabularies(LRM.vocabulary, changed(lambda data: first_parameter(data).update(optional=True)))
    (command,) = found.changed
    assert command.name == "encodeSHA256"
    assert command.before != command.after
    assert any("[" in form for form in command.after)
