"""Asks the judge model for a structured reply, once more if the first is unusable, and never makes up a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.checks.instruction import Instruction
from core.checks.replies import ReplyFault, ReplyItem
from core.errors import LlmRefused
from core.model.judged import Call, UnscoredReason
from core.model.prompt import Completion, Prompt, Role, StopReason, Turn
from core.model.specs import ModelSpec
from core.ports import Llm

_OF_THE_RUN = frozenset({401, 402, 403, 404})
"""Credentials, payment, permission, model: no sample's fault, and every other sample would be refused alike."""


def concerns_one_sample(error: LlmRefused) -> bool:
    """Whether a refusal says something of this request alone, so that the run can go on without it."""
    return error.status not in _OF_THE_RUN


@dataclass(frozen=True)
class Reply:
    """What came of asking: `items`, or the reason why there are none; and the calls it took."""

    items: tuple[ReplyItem, ...] = ()
    reason: UnscoredReason | None = None
    detail: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Judge:
    """The judge model as one run uses it. `repeat` numbers the run, so that runs do not share replies."""

    llm: Llm
    model: ModelSpec
    repeat: int

    async def ask(
        self,
        instruction: Instruction,
        *sections: str,
        expected: Sequence[str] | None = None,
        repeat: int | None = None,
    ) -> Reply:
        """The judge's items for `expected` ids; `repeat` replaces the run's number.

        A reply that is malformed, cut off or a refusal is asked for once more, saying what was wrong.
        Raises LlmUnavailable, BudgetExhausted, and LlmRefused where it would refuse every sample.
        """
        prompt = instruction.prompt(self.model, *sections, repeat=self.repeat if repeat is None else repeat)
        first, completion = await self._attempt(instruction, prompt, expected)
        if first.reason is None or completion is None:
            return first
        second, _ = await self._attempt(instruction, _once_more(prompt, completion, first.detail), expected)
        return Reply(second.items, second.reason, second.detail, first.calls + second.calls)

    async def _attempt(
        self, instruction: Instruction, prompt: Prompt, expected: Sequence[str] | None
    ) -> tuple[Reply, Completion | None]:
        try:
            completion = await self.llm.complete(prompt)
        except LlmRefused as error:
            if not concerns_one_sample(error):
                raise
            return Reply(reason=UnscoredReason.REFUSED, detail=f"{instruction.name}: {error}"), None
        return _read(instruction, completion, expected), completion


def call_of(prompt: str, role: str, completion: Completion) -> Call:
    """The trace that a reply leaves in a row."""
    return Call(
        prompt=prompt,
        role=role,
        model=completion.model,
        key=completion.key,
        message_id=completion.message_id,
        stop=completion.stop,
        usage=completion.usage,
        cost_usd=completion.cost_usd,
    )


def _read(instruction: Instruction, completion: Completion, expected: Sequence[str] | None) -> Reply:
    calls = (call_of(instruction.name, "judge", completion),)
    if completion.stop is StopReason.REFUSAL:
        return Reply((), UnscoredReason.DECLINED, f"{instruction.name}: the judge declined", calls)
    if completion.stop is StopReason.MAX_TOKENS:
        return Reply((), UnscoredReason.TRUNCATED, f"{instruction.name}: the reply was cut off", calls)
    assert instruction.shape is not None, "judging instructions ask for structured replies"
    try:
        return Reply(instruction.shape.read(completion.text, expected), calls=calls)
    except ReplyFault as fault:
        return Reply((), UnscoredReason.MALFORMED, f"{instruction.name}: {fault}", calls)


def _once_more(prompt: Prompt, completion: Completion, fault: str) -> Prompt:
    """The same request with the unusable reply and what was wrong with it."""
    complaint = f"That reply could not be used ({fault}). Send the whole JSON object again, complete and brief."
    turns = (
        Turn(role=Role.ASSISTANT, text=completion.text.strip() or "(no text)"),
        Turn(role=Role.USER, text=complaint),
    )
    return prompt.model_copy(update={"turns": prompt.turns + turns})
