"""Many calls to an actor in few: every call gets its own answer, whatever is lost on the way."""

import asyncio
import itertools
from collections import Counter
from typing import Any

import pytest

from core.cluster.bundles import Answering, Caller
from core.errors import LlmRefused, LlmUnavailable
from core.model.frozen import seed_for


async def a_turn() -> None:
    """Let everybody else go on once."""
    turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(turn.set_result, None)
    await turn


class Host:
    """What stands behind the actor: answers after so many turns of the loop, and remembers who asked."""

    def __init__(self) -> None:
        self.asked: Counter[bytes] = Counter()
        self.cancelled: list[bytes] = []

    async def echo(self, text: bytes, turns: bytes) -> bytes:
        self.asked[text] += 1
        try:
            for _ in range(int(turns)):
                await a_turn()
        except asyncio.CancelledError:
            self.cancelled.append(text)
            raise
        return b"re: " + text

    async def refuse(self, text: bytes) -> bytes:
        raise LlmRefused(text.decode(), status=413, remedy="send less")

    async def blush(self) -> bytes:
        class Private(Exception):
            """Cannot travel."""

        raise Private("of no importance")

    async def never(self) -> bytes:
        await asyncio.Event().wait()
        raise AssertionError


class Actor:
    """An actor as Ray shows it, which may die and come back, or lose what it answered."""

    _ids = itertools.count()

    def __init__(self) -> None:
        self._actor_id = next(self._ids)
        self.host = Host()
        self.exchanges = 0
        self.lives = 1
        self.dies_at: set[int] = set()
        self.loses_at: set[int] = set()
        self.is_gone = False
        self._answering = Answering(self.host)
        self.exchange = self.ready = self

    def remote(self, *content: bytes) -> Any:
        return asyncio.ensure_future(self._exchanged(*content))

    async def _exchanged(self, content: bytes) -> bytes:
        """As Ray does it: a call whose actor died, or whose answer was lost, is made again with the same content."""
        if self.is_gone:
            raise LlmUnavailable("gone for good", endpoint="LlmActor")
        self.exchanges += 1
        number = self.exchanges
        if number in self.dies_at:
            self._answering = Answering(self.host)
            self.lives += 1
        answer = await self._answering.exchange(content)
        if number in self.loses_at:
            return await self._exchanged(content)
        return answer


@pytest.fixture
def actor() -> Actor:
    return Actor()


def caller(actor: Actor) -> Caller:
    return Caller(actor, down=LlmUnavailable, who="LlmActor")


async def echoes(calls: Caller, count: int, *, longest: int = 200) -> None:
    """So many calls of different lengths, side by side; each must get its own answer."""
    lengths = [seed_for(count, number) % longest for number in range(count)]
    texts = [f"{number}".encode() for number in range(count)]
    answers = await asyncio.gather(
        *(calls.call("echo", text, f"{length}".encode()) for text, length in zip(texts, lengths, strict=True))
    )
    assert answers == [b"re: " + text for text in texts]


async def test_every_call_is_made_once_and_gets_its_own_answer(actor: Actor) -> None:
    await echoes(caller(actor), 300)
    assert set(actor.host.asked.values()) == {1}


async def test_calls_of_a_moment_go_together(actor: Actor) -> None:
    await echoes(caller(actor), 300)
    assert actor.exchanges < 30


async def test_a_call_that_is_alone_is_sent_at_once(actor: Actor) -> None:
    calls = caller(actor)
    for number in range(3):
        await calls.call("echo", f"{number}".encode(), b"0")
        assert actor.exchanges == number + 1


async def test_processes_do_not_get_each_others_answers(actor: Actor) -> None:
    await asyncio.gather(*(echoes(caller(actor), count) for count in (20, 30, 40)))


@pytest.mark.parametrize("at", [1, 2, 3, 5])
async def test_what_a_dead_actor_took_along_is_asked_again(actor: Actor, at: int) -> None:
    actor.dies_at = {at, at + 1}
    calls = caller(actor)
    for _ in range(3):
        await echoes(calls, 40, longest=4000)
    assert actor.lives == 3


@pytest.mark.parametrize("at", [1, 2, 4])
async def test_a_lost_answer_is_given_again(actor: Actor, at: int) -> None:
    actor.loses_at = {at}
    await echoes(caller(actor), 40)
    assert set(actor.host.asked.values()) == {1}


async def test_an_error_is_itself_on_the_other_side(actor: Actor) -> None:
    calls = caller(actor)
    ended = await asyncio.gather(
        calls.call("refuse", b"too long"), calls.call("echo", b"x", b"5"), calls.call("blush"), return_exceptions=True
    )
    assert isinstance(ended[0], LlmRefused)
    assert (ended[0].status, ended[0].remedy) == (413, "send less")
    assert ended[1] == b"re: x"
    assert isinstance(ended[2], RuntimeError)
    assert "Private: of no importance" in str(ended[2])


async def test_a_cancelled_call_is_cancelled_there_and_no_other(actor: Actor) -> None:
    calls = caller(actor)
    lost = asyncio.ensure_future(calls.call("echo", b"lost", b"1000000000"))
    kept = asyncio.ensure_future(calls.call("echo", b"kept", b"2000"))
    while len(actor.host.asked) < 2:
        await a_turn()
    lost.cancel()
    assert await kept == b"re: kept"
    while not actor.host.cancelled:
        await a_turn()
    assert actor.host.cancelled == [b"lost"]


async def test_who_waits_when_the_actor_is_gone_for_good_is_told(actor: Actor) -> None:
    calls = caller(actor)
    waiting = [asyncio.ensure_future(calls.call("never")) for _ in range(2)]
    await calls.call("echo", b"x", b"0")
    actor.is_gone = True
    waiting.append(asyncio.ensure_future(calls.call("echo", b"y", b"0")))
    for ended in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(ended, LlmUnavailable)
