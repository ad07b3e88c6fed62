"""One request to one reply: which task, which answer, spoiled or not, cut where the request says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from core.model.calibration import InjectedFault
from core.model.frozen import canonical_json, digest_of
from core.model.specs import Fault, LeakSpec
from core.serving.rehearsal import answering, judging, protocol, recalling, schema, spoiling
from core.serving.rehearsal.answering import NO_LEAKS, Answer
from core.serving.rehearsal.delivery import Reply
from core.serving.rehearsal.draws import Draws
from core.serving.rehearsal.protocol import CHARS_PER_TOKEN, Request
from core.serving.rehearsal.reading import KEPT, Reading, Task, read
from core.serving.rehearsal.schema import Shape
from core.serving.rehearsal.spoiling import Spoiled

GREETING = (
    "This is the rehearsal model: it answers from the context of Assay's prompts, and judges by shared words. "
    "This request names no task that it knows, so there is nothing to rehearse."
)

JUDGEMENTS: Mapping[Task, Callable[[Reading, int], dict[str, Any]]] = {
    Task.STATEMENTS: lambda reading, _: judging.statements(reading),
    Task.SUPPORT: lambda reading, _: judging.support(reading),
    Task.QUESTIONS: judging.questions,
    Task.ATTRIBUTION: lambda reading, _: judging.attribution(reading),
    Task.USEFULNESS: lambda reading, _: judging.usefulness(reading),
}


@dataclass(frozen=True)
class Composed:
    """A reply, and what was done to it on purpose."""

    reply: Reply
    fault: InjectedFault | None = None


def compose(request: Request, shares: Mapping[Fault, float], leaks: LeakSpec = NO_LEAKS) -> Composed:
    """The reply to `request`: a pure function of the request's identity, its text, the fault shares and the leaks."""
    message_id = _message_id(request, shares, leaks)
    reading = read(request.system, request.user)
    draws = Draws(request.identity)
    if request.shape is None and reading.task is Task.ANSWER:
        return _answer(request, answering.answer(reading, draws, leaks), draws, message_id, shares)
    if request.shape is None and reading.task is Task.UNAIDED:
        recalled = recalling.recall(reading, draws, leaks)
        if recalled.guess is not None:
            return _spoiled(request, recalled.answer, recalled.guess, message_id)
        return _answer(request, recalled.answer, draws, message_id, shares)
    return Composed(_reply(request, message_id, _text(request, reading, draws)))


def _message_id(request: Request, shares: Mapping[Fault, float], leaks: LeakSpec) -> str:
    """Names the reply by all that it depends on: suites with other faults ask the same and are answered otherwise."""
    written = f'["{request.identity}",{_behaviour(tuple(shares.items()), leaks)}'
    return f"msg_{digest_of(written)[:24]}"


@lru_cache(maxsize=64)
def _behaviour(shares: tuple[tuple[Fault, float], ...], leaks: LeakSpec) -> str:
    """What canonical JSON of [identity, shares, leaks] ends with: the same for all that one server says."""
    return canonical_json([dict(shares), leaks])[1:]


def _text(request: Request, reading: Reading, draws: Draws) -> str:
    if reading.task in JUDGEMENTS:
        turn = draws.below(judging.TURNS, "wording") if reading.task is Task.QUESTIONS else 0
        return _judgement(reading, turn, request.shape)
    if request.shape is not None:
        return orjson.dumps(schema.minimal(request.shape.schema)).decode()
    return answering.reformulate(reading) if reading.task is Task.REFORMULATE else GREETING


@lru_cache(maxsize=KEPT)
def _judgement(reading: Reading, turn: int, shape: Shape | None) -> str:
    """A verdict as JSON. Cached: repetitions of a question are judged alike, but for the turn."""
    found = JUDGEMENTS[reading.task](reading, turn)
    return orjson.dumps(schema.shaped(found, shape.schema) if shape else found).decode()


def _answer(request: Request, answer: Answer, draws: Draws, message_id: str, shares: Mapping[Fault, float]) -> Composed:
    """`answer`, spoiled by draw if it holds code."""
    fault = spoiling.fault_for(draws, shares) if answer.code else None
    if fault is None:
        return Composed(_reply(request, message_id, answer.markdown(answer.code)))
    return _spoiled(request, answer, spoiling.spoil(answer.code, fault, draws), message_id)


def _spoiled(request: Request, answer: Answer, spoiled: Spoiled, message_id: str) -> Composed:
    """`answer` with spoiled code in it; one that would be cut off is left as it is."""
    reply = _reply(request, message_id, answer.markdown(spoiled.code))
    if reply.stop_reason != "end_turn":
        return Composed(_reply(request, message_id, answer.markdown(answer.code)))
    fault = InjectedFault(message_id=message_id, fault=spoiled.fault, detail=spoiled.detail, code=spoiled.code)
    return Composed(reply, fault)


def _reply(request: Request, message_id: str, text: str) -> Reply:
    text, reason, stop = _ended(text, request)
    return Reply(
        message_id=message_id, model=request.model, text=text, stop_reason=reason, stop_sequence=stop,
        input_tokens=request.input_tokens, output_tokens=protocol.tokens(text),
    )  # fmt: skip


def _ended(text: str, request: Request) -> tuple[str, str, str | None]:
    """The text as far as it goes, why it ends there, and the stop sequence met, if any."""
    found = min(((text.find(stop), stop) for stop in request.stop_sequences if stop in text), default=(len(text), None))
    limit = request.max_tokens * CHARS_PER_TOKEN
    if found[0] > limit:
        return text[:limit], "max_tokens", None
    return text[: found[0]], "stop_sequence" if found[1] else "end_turn", found[1]
