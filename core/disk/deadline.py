"""No wait without an end: work on storage that may hang is given up at a deadline."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread, local
from typing import Any, TypeVar

from core.errors import ConfigError, StoreError

VARIABLE = "ASSAY_RESULTS_DEADLINE_S"
DEFAULT_S = 60.0
Result = TypeVar("Result")
_given_up: list[Callable[[], bool]] = []


class _Bounded(local):
    """Whether this thread works under a deadline already."""

    is_so = False


_bounded = _Bounded()


def be_bounded() -> None:
    """All that this thread does from now on has a deadline that somebody else watches."""
    _bounded.is_so = True


def within(work: Callable[[], Result], file: object) -> Result:
    """What `work` returns or raises; StoreError when it is not through after $ASSAY_RESULTS_DEADLINE_S seconds.

    A thread inside a system call cannot be stopped, only left behind: what it was writing may become durable later,
    whole or torn, and was never acknowledged. Work that is part of such work has the same deadline.
    """
    if _bounded.is_so:
        return work()
    outcome: Future[Result] = Future()
    try:
        hand = _idle.pop()
    except IndexError:
        hand = _Hand()
    hand.tasks.put((outcome, work))
    limit = deadline_s()
    try:
        return outcome.result(limit)
    except TimeoutError:
        if outcome.done():  # the work itself timed out, or was through just now
            return outcome.result()
        given_up(outcome.done)
        raise too_late(file, limit) from None


def left_behind() -> bool:
    """Whether work that was given up is still under way in this process, so that it may yet write."""
    return not all(is_done() for is_done in _given_up)


def given_up(is_done: Callable[[], bool]) -> None:
    """Remember work that was left behind, and how to see that it has ended."""
    _given_up.append(is_done)


def too_late(file: object, limit_s: float) -> StoreError:
    """The error of work that was not through at its deadline."""
    return StoreError(
        f"{file}: the storage did not answer within {limit_s:g} s",
        file=str(file),
        remedy=f"see whether its mount or server is alive, then `assay resume`; {VARIABLE} sets the patience",
    )


def deadline_s() -> float:
    """How long storage may take for one operation. Raises ConfigError for what is no positive number."""
    text = os.environ.get(VARIABLE) or str(DEFAULT_S)
    try:
        limit = float(text)
    except ValueError:
        limit = 0.0
    if not 0 < limit < float("inf"):
        raise ConfigError(f"{VARIABLE}={text!r} is no number of seconds", path=VARIABLE, remedy="set it to, say, 60")
    return limit


class _Hand:
    """A thread that does one piece of work after another; one that hangs in its work is never given more."""

    def __init__(self) -> None:
        self.tasks: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        # A daemon, because the interpreter waits for every other thread before it ends, and would hang on this one.
        Thread(target=self._work, name="disk", daemon=True).start()

    def _work(self) -> None:
        be_bounded()
        while True:
            outcome, work = self.tasks.get()
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 - it is raised again where the outcome is awaited
                _idle.append(self)
                outcome.set_exception(error)
            else:
                _idle.append(self)
                outcome.set_result(result)
            del outcome, work


_idle: list[_Hand] = []
"""Between two pieces of work. To start a thread for each would take longer than most of them do."""
os.register_at_fork(after_in_child=_idle.clear)
