"""Many calls to an actor in few of Ray's: what a process asks within a moment goes together, and so do the answers.

A call through Ray costs either side about a millisecond of processor time, as much as all else that a call to a
language model needs. So the calls of one process to one actor travel in bundles: a bundle brings new calls, and comes
back with whatever answers are ready by then, to these or to earlier calls.

An actor that died and was started again knows nothing of earlier bundles. It says which life it is in, and what it does
not know any more is sent again. An answer is kept until it is known to have arrived.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import secrets
from dataclasses import dataclass, field
from typing import Any

from core.cluster.answers import answered
from core.cluster.packing import packed, unpacked
from core.errors import DependencyDown

GATHER_S = 0.01
"""How long the first of a bundle waits for others, while other calls are under way anyway."""
PARK_S = 2.0
"""How long a bundle waits for an answer at most, so that an actor that is gone is noticed."""


@dataclass(frozen=True)
class Call:
    """One method of the actor, which takes and returns bytes."""

    method: str
    arguments: tuple[bytes, ...]


@dataclass(frozen=True)
class Bundle:
    """What one process has to say to an actor."""

    sender: str
    calls: dict[int, Call]
    received: tuple[int, ...]
    """Calls whose answers have arrived."""
    dropped: tuple[int, ...]
    """Calls that nobody waits for any more."""


@dataclass(frozen=True)
class Answer:
    """What a method returned, or the error that it raised, packed."""

    result: bytes = b""
    error: bytes | None = None


@dataclass(frozen=True)
class Answers:
    """What comes back."""

    life: str
    """Of the actor; another one knows nothing of earlier bundles."""
    by_call: dict[int, Answer]


class Caller:
    """The calls of this process, on one event loop, to one actor."""

    def __init__(self, actor: Any, *, down: type[DependencyDown], who: str) -> None:
        """`down` is raised where the actor is gone for good."""
        self._actor = actor
        self._down = down
        self._who = who
        self._name = secrets.token_hex(8)
        self._numbers = itertools.count()
        self._open: dict[int, tuple[Call, asyncio.Future[bytes]]] = {}
        self._unsent: list[int] = []
        self._received: list[int] = []
        self._dropped: list[int] = []
        self._life = ""
        self._due: asyncio.Handle | None = None
        self._at_actor = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def call(self, method: str, *arguments: bytes) -> bytes:
        """What the actor's `method` returns or raises. Cancelling the wait cancels it there."""
        number = next(self._numbers)
        outcome: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._open[number] = Call(method, arguments), outcome
        self._unsent.append(number)
        self._soon()
        try:
            return await outcome
        except asyncio.CancelledError:
            self._dropped.append(number)
            self._soon()
            raise
        finally:
            del self._open[number]

    def _soon(self) -> None:
        """Send what there is: a call that is alone at once, else with what comes in the next moment."""
        if self._due is None:
            loop = asyncio.get_running_loop()
            self._due = loop.call_soon(self._send) if len(self._open) < 2 else loop.call_later(GATHER_S, self._send)

    def _send(self) -> None:
        self._due = None
        calls = {number: self._open[number][0] for number in self._unsent if number in self._open}
        bundle = Bundle(self._name, calls, tuple(self._received), tuple(self._dropped))
        self._unsent, self._received, self._dropped = [], [], []
        self._at_actor += 1
        self._tasks.add(task := asyncio.ensure_future(self._exchanged(bundle)))
        task.add_done_callback(self._tasks.discard)

    async def _exchanged(self, bundle: Bundle) -> None:
        try:
            call = self._actor.exchange.remote(packed(bundle))
            [answers] = unpacked(await answered(self._actor, call, down=self._down, who=self._who))
        except Exception as error:  # noqa: BLE001 - it is theirs who asked
            self._fail(error)
        else:
            self._take(bundle, answers)
        finally:
            self._at_actor -= 1
        if self._unsent or (self._waits and not self._at_actor):
            self._soon()

    @property
    def _waits(self) -> bool:
        return any(not outcome.done() for _, outcome in self._open.values())

    def _fail(self, error: Exception) -> None:
        for _, outcome in self._open.values():
            if not outcome.done():
                outcome.set_exception(error)

    def _take(self, bundle: Bundle, answers: Answers) -> None:
        if self._life and answers.life != self._life:
            known = {*bundle.calls, *self._unsent}
            self._unsent += [number for number in self._open if number not in known]
        self._life = answers.life
        for number, answer in answers.by_call.items():
            self._received.append(number)
            if number not in self._open or (outcome := self._open[number][1]).done():
                continue
            if answer.error is None:
                outcome.set_result(answer.result)
            else:
                outcome.set_exception(unpacked(answer.error)[0])


_callers: dict[tuple[Any, asyncio.AbstractEventLoop], Caller] = {}


def caller_of(actor: Any, *, down: type[DependencyDown], who: str) -> Caller:
    """The one of this process and event loop for `actor`."""
    key = actor._actor_id, asyncio.get_running_loop()  # noqa: SLF001 - the only name of a handle that stays the same
    if key not in _callers:
        for other in [other for other in _callers if other[1].is_closed()]:
            del _callers[other]
        _callers[key] = Caller(actor, down=down, who=who)
    return _callers[key]


@dataclass(eq=False)
class _Sender:
    """What an actor has to do for one process."""

    under_way: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    ready: dict[int, Answer] = field(default_factory=dict)
    """Until they are known to have arrived."""
    stirred: asyncio.Event = field(default_factory=asyncio.Event)
    turn: int = 0
    """Bundles so far."""


class Answering:
    """The other side: what an actor's `exchange` is made of."""

    def __init__(self, host: Any) -> None:
        """Calls are methods of `host`."""
        self._host = host
        self._life = secrets.token_hex(8)
        self._senders: dict[str, _Sender] = {}

    async def exchange(self, content: bytes) -> bytes:
        """Begin the calls of the packed bundle; the packed answers that are ready for its sender by then, or soon."""
        [bundle] = unpacked(content)
        sender = self._senders.setdefault(bundle.sender, _Sender())
        self._begin(sender, bundle)
        sender.turn += 1
        sender.stirred.set()  # an earlier bundle goes back without anything: this one stays instead
        return packed(Answers(self._life, await self._answers(sender, sender.turn)))

    def _begin(self, sender: _Sender, bundle: Bundle) -> None:
        for number in bundle.received:
            sender.ready.pop(number, None)
        for number in bundle.dropped:
            if number in sender.under_way:
                sender.under_way[number].cancel()
        for number, call in bundle.calls.items():
            if number not in sender.under_way and number not in sender.ready:
                sender.under_way[number] = asyncio.ensure_future(self._do(sender, number, call))

    async def _do(self, sender: _Sender, number: int, call: Call) -> None:
        try:
            sender.ready[number] = Answer(await getattr(self._host, call.method)(*call.arguments))
        except Exception as error:  # noqa: BLE001 - it is raised again where the call was made
            sender.ready[number] = Answer(error=_packed(error))
        finally:
            del sender.under_way[number]
            sender.stirred.set()

    async def _answers(self, sender: _Sender, turn: int) -> dict[int, Answer]:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PARK_S):
                while not sender.ready and sender.under_way and sender.turn == turn:
                    sender.stirred.clear()
                    await sender.stirred.wait()
                if sender.under_way and sender.turn == turn:
                    await asyncio.wait(sender.under_way.values(), timeout=GATHER_S)
        return dict(sender.ready) if sender.turn == turn else {}


def _packed(error: Exception) -> bytes:
    try:
        return packed(error)
    except Exception:  # noqa: BLE001 - whatever it is that keeps it from travelling
        return packed(RuntimeError(f"{type(error).__name__}: {error}"))
