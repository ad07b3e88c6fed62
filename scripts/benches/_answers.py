"""Answers of made-up models under the four arms of the leakage audit, with a leak or without, from a seed.

A model without a leak is made hard to acquit: it adapts the examples it is shown, some manuals hold programs that the
few-shot pool holds too, references share set phrases, and a few guesses are right by luck.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.checks.blocks import code_blocks
from core.measure.leakage.copies import Sources, sources
from core.measure.leakage.table import table
from core.model.judged import BlockKind, FewShots
from core.model.leakage import Arm, AuditedRow, AuditSpec
from core.model.prompt import StopReason
from core.model.record import FewShotStatus
from core.model.sample import Example, GoldenQuestion, Passage, QueryType
from core.model.syntax import Category, ParseResult, Validity

QUESTIONS, RUNS, POOL, SHOWN = 50, 5, 60, 5
TWICE = 0.1
"""Share of the manuals' programs that the pool holds too."""
REWORDED = 0.3
"""Share of the tokens that an adaptation changes."""
LUCKY = 0.01
"""Share of the answers without help that are correct AVAP by luck."""
VALID = 0.9
"""Share of the answers with documents whose code is valid."""
COMMANDS = ("addParam", "addResult", "addVar", "encodeSHA256", "getDateTime", "ormDirect", "randomString", "startLoop")
PHRASE = ["a", "program", "in", "this", "language", "is", "a", "list", "of", "statements", "one", "on", "each", "line"]
HIT = ParseResult(verdict=Validity.VALID, parser_version="1")
MISS = ParseResult(verdict=Validity.INVALID, category=Category.FOREIGN_KEYWORD, parser_version="1")


@dataclass(frozen=True)
class Habits:
    """What a model does, as shares of its answers. All but the last are leaks."""

    few_shot_copy: float = 0.0
    memorised_syntax: float = 0.0
    memorised_answers: float = 0.0
    adapts: float = 0.5
    """Starts from an example and rewords it."""


@dataclass(frozen=True)
class _Subject:
    """One question with all that belongs to it."""

    question: GoldenQuestion
    passages: tuple[Passage, ...]
    manual: list[str]
    """The tokens of the program in its passages."""
    examples: tuple[Passage, ...]


class Model:
    """Answers drawn from one seed."""

    def __init__(self, seed: int, habits: Habits) -> None:
        self._draws = np.random.default_rng(seed)
        self._habits = habits
        self._pool = [Passage(id=f"FS-{n:03}", text="", code=" ".join(self._program())) for n in range(POOL)]
        self._subjects = [self._subject(number) for number in range(QUESTIONS)]

    def sources(self, spec: AuditSpec = AuditSpec()) -> Sources:  # noqa: B008  frozen
        """All answers, ready to be tested."""
        rows = [self._row(s, arm, run) for s in self._subjects for arm in Arm for run in range(1, RUNS + 1)]
        pool = [Example(id=p.id, language="en", description="", code=p.code, constructs=()) for p in self._pool]
        return sources(table(rows, [s.question for s in self._subjects], RUNS), pool, spec)

    def _subject(self, number: int) -> _Subject:
        manual = self._program()
        examples = [self._pool[n] for n in self._draws.choice(POOL, SHOWN, replace=False)]
        if self._happens(TWICE):
            manual = examples[0].code.split()
        prose = [self._words(14) for _ in range(8)]
        reference = [*PHRASE, *prose[0], *self._words(20)]
        question = GoldenQuestion(
            id=f"Q-{number:02}",
            type=QueryType.CODE_GENERATION if number % 2 else QueryType.RETRIEVAL,
            language="en",
            question=" ".join(self._words(9)),
            ground_truth=" ".join(reference),
        )
        passages = tuple(Passage(id=f"P-{n}", text=" ".join(words)) for n, words in enumerate(prose))
        return _Subject(question, (*passages, Passage(id="P-code", text=" ".join(manual))), manual, tuple(examples))

    def _row(self, subject: _Subject, arm: Arm, run: int) -> AuditedRow:
        prose, code, valid, unprompted = self._answered(subject, arm)
        text = " ".join(prose) + (f"\n\n```avap\n{' '.join(code)}\n```" if code else "")
        result = HIT if valid else MISS
        blocks = tuple(
            block.model_copy(update={"result": result}) if block.kind is BlockKind.CODE else block
            for block in code_blocks(text, subject.question.type)
        )
        return AuditedRow(
            id=subject.question.id, suite="made-up", arm=arm, run=run, type=subject.question.type, language="en",
            question=subject.question.question, reference=subject.question.ground_truth, query="",
            passages=subject.passages if arm.has_documents else (),
            examples=subject.examples if arm.has_examples else (),
            few_shots=FewShots(status=FewShotStatus.OK, k_configured=SHOWN), answer=text, answer_stop=StopReason.END,
            message_id="", blocks=blocks, syntax=result.verdict if blocks else None, category=result.category,
            unprompted=COMMANDS[:1] if unprompted and valid and blocks else (), calls=(), elapsed_s=0.0,
        )  # fmt: skip

    def _answered(self, subject: _Subject, arm: Arm) -> tuple[list[str], list[str], bool, bool]:
        """Prose, code, whether the code is valid, and whether it is right without the prompt's help."""
        wanted = subject.question.type is QueryType.CODE_GENERATION
        prose = self._prose(subject, arm)
        if not wanted:
            return prose, [], True, False
        if arm.has_examples and self._happens(self._habits.few_shot_copy):
            return prose, subject.examples[0].code.split(), True, False
        if arm.has_examples and self._happens(self._habits.adapts):
            return prose, self._reworded(subject.examples[0].code.split()), self._happens(VALID), False
        if arm.has_documents:
            return prose, self._reworded(subject.manual, share=0.05), self._happens(VALID), False
        if self._happens(self._habits.memorised_syntax) or self._happens(LUCKY):
            return prose, self._program(), True, True
        return prose, self._program() if self._happens(0.5) else [], False, False

    def _prose(self, subject: _Subject, arm: Arm) -> list[str]:
        if arm.has_documents:
            return [word for n in self._draws.choice(8, 3) for word in subject.passages[n].text.split()]
        if self._happens(self._habits.memorised_answers):
            return subject.question.ground_truth.split()
        return [*(PHRASE if self._happens(0.3) else ()), *self._words(25)]

    def _program(self) -> list[str]:
        return [token for line in self._lines(int(self._draws.integers(3, 12))) for token in line]

    def _lines(self, count: int) -> Iterator[list[str]]:
        for _ in range(count):
            yield [str(self._draws.choice(COMMANDS)), "(", self._name(), ",", self._name(), ")"]

    def _reworded(self, code: Sequence[str], share: float = REWORDED) -> list[str]:
        return [self._name() if token.isalnum() and self._happens(share) else token for token in code]

    def _words(self, count: int) -> list[str]:
        # Zipf's law: a few words are everywhere, most are rare.
        return [f"w{min(int(rank), 3000)}" for rank in self._draws.zipf(1.3, count)]

    def _name(self) -> str:
        return f"v{int(self._draws.integers(0, 40))}"

    def _happens(self, share: float) -> bool:
        return bool(self._draws.random() < share)
