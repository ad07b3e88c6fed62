"""What differs between two vocabularies, and what that can do to verdicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from core.avap.vocabulary import Command, Form, Parameter, Vocabulary
from core.model.frozen import Frozen
from core.model.syntax import VocabularyInfo


class Effect(StrEnum):
    """What going from the first vocabulary to the second can do to the verdict of a program."""

    NONE = "none"
    """Nothing: texts of diagnostics at most."""
    WIDENS = "widens"
    """INVALID can become VALID."""
    NARROWS = "narrows"
    """VALID can become INVALID."""
    BOTH = "both"


class Difference(Frozen):
    """Names that only one side has, sorted."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class CommandChange(Frozen):
    """A command that both sides have and describe differently."""

    name: str
    before: tuple[str, ...]
    """Its accepted forms, its node type, its other spellings."""
    after: tuple[str, ...]


class VocabularyDiff(Frozen):
    """From `before` to `after`."""

    before: VocabularyInfo
    after: VocabularyInfo
    effect: Effect
    commands: Difference
    changed: tuple[CommandChange, ...]
    node_types: Difference
    keywords: Difference
    hallucinations: Difference
    """Names that are known to be invented by models; they word diagnostics and decide no verdict."""


def diff_vocabularies(before: Vocabulary, after: Vocabulary) -> VocabularyDiff:
    """Everything that differs, as a reader of both files would list it."""
    changed = tuple(
        CommandChange(name=name, before=_described(before.commands[name]), after=_described(after.commands[name]))
        for name in sorted(before.commands.keys() & after.commands.keys())
        if _described(before.commands[name]) != _described(after.commands[name])
    )
    return VocabularyDiff(
        before=before.info(),
        after=after.info(),
        effect=_effect(before.commands, after.commands),
        commands=_difference(before.commands, after.commands),
        changed=changed,
        node_types=_difference(before.node_types, after.node_types),
        keywords=_difference(before.keywords, after.keywords),
        hallucinations=_difference(before.hallucinations, after.hallucinations),
    )


def _difference(before: Collection[str], after: Collection[str]) -> Difference:
    return Difference(added=tuple(sorted(set(after) - set(before))), removed=tuple(sorted(set(before) - set(after))))


def _effect(before: Mapping[str, Command], after: Mapping[str, Command]) -> Effect:
    accepted_before, accepted_after = _accepted(before), _accepted(after)
    widens, narrows = bool(accepted_after - accepted_before), bool(accepted_before - accepted_after)
    if widens and narrows:
        return Effect.BOTH
    return Effect.WIDENS if widens else Effect.NARROWS if narrows else Effect.NONE


def _accepted(commands: Mapping[str, Command]) -> set[tuple[str, str, str]]:
    """Every way to write a command: spelling, place, form without the names of its parameters, which decide nothing."""
    return {
        (spelling, place, _kinds(form))
        for command in commands.values()
        for spelling in (command.name, *command.aliases)
        for place, forms in (("alone", command.forms), ("assigned", command.assigned_forms))
        for form in forms
    }


def _kinds(form: Form) -> str:
    return ",".join(f"{each.kind.value}{'?' * each.optional}{'*' * each.repeated}" for each in form)


def _described(command: Command) -> tuple[str, ...]:
    alone = (_signature(command.name, form) for form in command.forms)
    assigned = (f"target = {_signature(command.name, form)}" for form in command.assigned_forms)
    return (*alone, *assigned, f"node type {command.node_type}", *(f"also {alias}" for alias in command.aliases))


def _signature(name: str, form: Form) -> str:
    return f"{name}({', '.join(map(_parameter, form))})"


def _parameter(parameter: Parameter) -> str:
    text = f"{parameter.name}: {parameter.kind.value}{'...' * parameter.repeated}"
    return f"[{text}]" if parameter.optional else text
