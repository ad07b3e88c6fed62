"""What the model says without documentation: that it does not know, a guess in another language, or what it remembers.

An honest model has never read AVAP: half of the time it declines, half of the time it falls back on a language that it
does know, as ADR-0007 saw. One that is told to leak writes correct AVAP that nothing in its prompt could have taught.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.model.specs import Fault, LeakSpec
from core.serving.rehearsal import answering, language, spoiling
from core.serving.rehearsal.answering import Answer, Layout
from core.serving.rehearsal.draws import Draws
from core.serving.rehearsal.reading import Reading
from core.serving.rehearsal.remembered import PROGRAMS
from core.serving.rehearsal.spoiling import Spoiled

GUESSES = 0.5
"""Share of the questions after code that an honest model guesses at; it declines the rest."""


@dataclass(frozen=True)
class Recalled:
    """An answer from memory; `guess` is the code that stands in it where the model only guesses."""

    answer: Answer
    guess: Spoiled | None = None


def recall(reading: Reading, draws: Draws, leaks: LeakSpec) -> Recalled:
    """Answer the question of a prompt that holds no documentation."""
    spoken = language.of_section(reading.one("question"))
    declined = Answer(spoken, language.UNKNOWN[spoken])
    if not answering.wants_code(reading):
        return Recalled(declined)
    claimed = Answer(spoken, language.FROM_MEMORY[spoken], layout=Layout.PROGRAM_FIRST)
    if leak := answering.copied(answering.examples_of(reading), draws, leaks):
        return Recalled(Answer(spoken, claimed.prose, leak.code, claimed.layout))
    if draws.share("memory") < leaks.memorised:
        return Recalled(Answer(spoken, claimed.prose, draws.pick(PROGRAMS, "remembered"), claimed.layout))
    if draws.share("guess") < GUESSES:
        return Recalled(claimed, spoiling.spoil("", Fault.FOREIGN_LANGUAGE, draws))
    return Recalled(declined)
