"""The Llm port over any wire: recorded, budgeted, bounded, and repeated until a deadline."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass

from core.adapters.llm.prices import Tariff
from core.adapters.llm.reply import Reply
from core.adapters.llm.request import Request
from core.adapters.llm.wire import Wire
from core.adapters.record import Recordings
from core.adapters.recording import Recording
from core.errors import ConfigError, LlmRefused, LlmUnavailable
from core.model.prompt import Completion, Prompt, Usage
from core.policy.ledger import NOTHING, Budget, Claim, Sent, Spend, hold
from core.policy.limiter import Limiter, Slot
from core.policy.retry import Backoff, Charge, Failure, is_transient
from core.ports import Clock

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Means:
    """What callers share: one recorder, the budget of the whole run, the limits of their provider, one clock."""

    recordings: Recordings
    ledger: Budget
    limiter: Limiter
    clock: Clock


class Caller:
    """core.ports.Llm. `deadline_s` bounds one call with all its attempts and pauses, from when it gets its slot."""

    def __init__(self, model: str, role: str, wire: Wire, tariff: Tariff, means: Means, *, deadline_s: float) -> None:
        self._model = model
        self._role = role
        self._wire = wire
        self._tariff = tariff
        self._means = means
        self._deadline_s = deadline_s
        self._backoff = Backoff()

    async def complete(self, prompt: Prompt) -> Completion:
        """Reply to `prompt`, from its recording when there is one.

        Raises as core.ports.Llm; StoreError; ConfigError for a prompt made for another model, whose price is not this
        caller's.
        """
        if prompt.model != self._model:
            raise ConfigError(
                f"prompt {prompt.name} is for {prompt.model}, this caller is {self._model}'s",
                remedy="make the prompt with the model of the role that it is sent to",
            )
        request = self._wire.request(prompt)
        completion = await self._means.recordings.obtain(request.key, lambda: self._asking(request))
        if completion.replayed:
            self._means.limiter.replayed()
        return completion

    @contextlib.asynccontextmanager
    async def _asking(self, request: Request) -> AsyncIterator[Recording]:
        """The reply; its slot is held until the context is left, which is when the reply is recorded."""
        # Puts the body together, too: no work that could be done before is done in a place that others wait for.
        worst = self._tariff.worst(request.most_input_tokens, request.max_tokens)
        async with self._means.limiter.slot() as slot:
            yield self._recording(request, await self._persist(request, worst, slot))

    async def _persist(self, request: Request, worst: Spend, slot: Slot) -> Reply:
        clock = self._means.clock
        end = clock.monotonic() + self._deadline_s
        for attempt in itertools.count():
            if not await slot.turn(end):
                asked = Failure("it asks all calls to wait", wait_s=self._means.limiter.asked_s)
                raise self._given_up(asked, attempts=attempt)
            outcome = await self._attempt(request, worst, slot, end)
            if isinstance(outcome, Reply):
                return outcome
            seed = int(request.key[:15], 16)
            pause = self._backoff.pause(outcome, attempt=attempt, seed=seed, remaining_s=end - clock.monotonic())
            if pause is None:
                raise self._given_up(outcome, attempts=attempt + 1)
            _log.info("%s %s: %s; again in %.1f s", request.name, request.key[:12], outcome.reason, pause)
            await clock.sleep(pause)
        raise AssertionError("unreachable: the loop ends by returning or raising")

    async def _attempt(self, request: Request, worst: Spend, slot: Slot, end: float) -> Reply | Failure:
        """One attempt within the budget and the time left; a lost reply is charged in full, since it may be billed."""
        async with hold(self._means.ledger, self._claim(request, worst)) as held:
            left_s = end - self._means.clock.monotonic()
            outcome = await self._send(request, slot, min(left_s, self._deadline_s * self._wire.patience))
            if isinstance(outcome, Reply):
                held.settle(self._spend(outcome.usage))
            elif outcome.charge is Charge.NONE:
                held.settle(NOTHING)
        return outcome

    def _claim(self, request: Request, worst: Spend) -> Claim:
        return Claim(
            worst=worst,
            address=self._means.recordings.address(request.key),
            role=self._role,
            model=self._model,
            owner=self._means.limiter.name,
            sent=Sent.BEFORE if self._wire.sent_before(request) else Sent.NOT_YET,
        )

    async def _send(self, request: Request, slot: Slot, left_s: float) -> Reply | Failure:
        if left_s <= 0:
            return Failure("the deadline passed before it could be sent")
        attempt = slot.send()
        outcome = await self._sent(request, left_s)
        if isinstance(outcome, Reply):
            attempt.answered(outcome.usage, outcome.quotas)
        else:
            attempt.failed(outcome.status, outcome.wait_s, outcome.quotas)
        return outcome

    async def _sent(self, request: Request, left_s: float) -> Reply | Failure:
        try:
            async with asyncio.timeout(left_s):
                return await self._wire.send(request, timeout_s=left_s, now=self._means.clock.now())
        except TimeoutError:
            return Failure(f"no whole reply in {left_s:.1f} s", charge=Charge.POSSIBLE)

    def _spend(self, usage: Usage) -> Spend:
        return Spend.of(usage, self._tariff.cost(usage))

    def _given_up(self, last: Failure, *, attempts: int) -> LlmRefused | LlmUnavailable:
        if 400 <= last.status < 500 and not is_transient(last.status):
            return LlmRefused(
                f"{self._wire.endpoint} refused the request ({last.status}): {last.reason}",
                status=last.status,
                remedy=_REMEDIES.get(last.status, "change the request: repeating it cannot help"),
            )
        return LlmUnavailable(
            f"no usable reply from {self._wire.endpoint} within {self._deadline_s:g} s, {attempts} attempts made; "
            f"the last: {last.reason}{_asked_to_wait(last)}",
            endpoint=self._wire.endpoint,
            remedy="see that the server is up and within its limits, then resume the run",
        )

    def _recording(self, request: Request, reply: Reply) -> Recording:
        return Recording(
            key=request.key,
            name=request.name,
            model=request.body["model"],
            sdk=request.surface.sdk,
            api_version=request.surface.api_version,
            repeat=request.repeat,
            request_sha256=request.body_sha256,
            request=dict(request.body),
            text=reply.text,
            stop=reply.stop,
            usage=reply.usage,
            served_model=reply.served_model,
            message_id=reply.message_id,
            cost_usd=float(self._tariff.cost(reply.usage)),
            prices=self._tariff.version,
            role=self._role,
        )


_REMEDIES = {
    401: "set the provider's API key",
    403: "use a key that may call this model",
    404: "check the model's name and the server's URL",
    413: "send less: fewer or shorter passages",
}


def _asked_to_wait(failure: Failure) -> str:
    return f" (it asks to wait {failure.wait_s:g} s)" if failure.wait_s else ""
