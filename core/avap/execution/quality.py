"""How good the assertions of a program are: whether they hold, say something, and would notice a mistake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from core.avap.execution.assertions import Assertion, holds, read_assertion, varies, without_parameters
from core.avap.execution.compiling import compile_program
from core.avap.execution.inputs import Inputs
from core.avap.execution.limits import Limits
from core.avap.execution.machine import CompiledProgram
from core.avap.execution.mutation import MAX_MUTANTS, Mutant, mutants
from core.avap.execution.running import Run, finished
from core.avap.parser import Parsed
from core.errors import ConfigError
from core.model.frozen import Frozen
from core.model.syntax import Validity

TEST_QUALITY: Final = "test_quality@1"
_PATIENCE: Final = 10
"""How many times the steps of the program a mutant may take before it counts as hanging."""


class AssertionQuality(Frozen):
    """What is known of one assertion; it counts when all four hold."""

    text: str
    passes: bool = False
    """True under every test input."""
    names_assigned: bool = False
    """It names a variable that the program assigns."""
    varies: bool = False
    """It is no constant: some other value of a variable makes it False."""
    killed: str | None = None
    """The first mutant, `line: change`, under which it does not hold; None when it notices none."""
    reason: str | None = None
    """Why it could not be asked at all."""

    @property
    def counts(self) -> bool:
        """Whether it adds to the score."""
        return self.passes and self.names_assigned and self.varies and self.killed is not None


class Quality(Frozen):
    """The quality of a list of assertions."""

    metric: str = TEST_QUALITY
    score: float
    """Assertions that count / all, from 0 to 1; 0 without any, and when the program does not parse or run."""
    assertions: tuple[AssertionQuality, ...]
    mutants: int
    """How many mutants there were to notice."""


@dataclass(slots=True)
class _Judged:
    assertion: Assertion
    passes: bool = True
    names_assigned: bool = False
    varies: bool = False
    killed: str | None = None

    def look_at(self, run: Run) -> None:
        self.passes = self.passes and run.error is None and holds(self.assertion, run) is True
        self.names_assigned = self.names_assigned or bool(self.assertion.names & set(run.machine.world.globals))
        self.varies = self.varies or varies(self.assertion, run)

    def result(self) -> AssertionQuality:
        return AssertionQuality(
            text=self.assertion.text,
            passes=self.passes,
            names_assigned=self.names_assigned,
            varies=self.varies,
            killed=self.killed,
        )


def quality(
    parsed: Parsed,
    assertions: Sequence[str],
    inputs: Sequence[Inputs],
    limits: Limits | None = None,
    most_mutants: int = MAX_MUTANTS,
) -> Quality:
    """The quality of `assertions` over all `inputs`; without any the program runs once on nothing."""
    read = [_read(text) for text in assertions]
    judged = [item for item in read if isinstance(item, _Judged)]
    changes: tuple[Mutant, ...] = ()
    if parsed.result.verdict is Validity.VALID:
        changes = mutants(parsed.tree, most_mutants)
        _judge(parsed, judged, changes, (inputs or (Inputs(),), limits or Limits()))
    else:
        for item in judged:
            item.passes = False
    results = tuple(item.result() if isinstance(item, _Judged) else item for item in read)
    score = sum(item.counts for item in results) / len(results) if results else 0
    return Quality(score=score, assertions=results, mutants=len(changes))


def _read(text: str) -> _Judged | AssertionQuality:
    try:
        return _Judged(read_assertion(text))
    except ConfigError as error:
        return AssertionQuality(text=text, reason=str(error))


def _judge(
    parsed: Parsed, judged: Sequence[_Judged], changes: Sequence[Mutant], given: tuple[Sequence[Inputs], Limits]
) -> None:
    inputs, limits = given
    steps, assigned = 0, set[str]()
    for run in _runs(compile_program(parsed.tree, parsed.result.dialect), inputs, limits):
        steps = max(steps, limits.steps - run.machine.world.meter.steps)
        assigned.update(run.machine.world.globals)
        for item in judged:
            item.look_at(run)
    patience = limits.model_copy(update={"steps": min(limits.steps, _PATIENCE * steps + 1000)})
    waiting = [item for item in judged if item.passes]
    for mutant in changes:
        if not waiting:
            return
        changed = compile_program(parsed.tree, parsed.result.dialect, mutant.exchange)
        runs = (without_parameters(frozenset(assigned), run) for run in _runs(changed, inputs, patience))
        _notice(mutant, waiting, runs)
        waiting = [item for item in waiting if item.killed is None]


def _notice(mutant: Mutant, waiting: Sequence[_Judged], runs: Iterator[Run]) -> None:
    for run in runs:
        for item in waiting:
            if item.killed is None and holds(item.assertion, run) is not True:
                item.killed = f"line {mutant.line}: {mutant.change}"


def _runs(program: CompiledProgram, inputs: Sequence[Inputs], limits: Limits) -> Iterator[Run]:
    """A run for each of the inputs, its variables there as long as it is looked at."""
    for given in inputs:
        with ExitStack() as stack:
            yield stack.enter_context(finished(program, given, limits))
