"""No wait without an end: work on storage that may hang is given up at a deadline."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import Any, TypeVar

from core.errors import ConfigError, StoreError

VARIABLE = "ASSAY_RESULTS_DEADLINE_S"
DEFAULT_S = 60.0
Result = TypeVar("Result")
_given_up: list[Future[Any]] = []


def within(work: Callable[[], Result], file: object) -> Result:
    """What `work` returns or raises; StoreError when it is not through after $ASSAY_RESULTS_DEADLINE_S seconds.

    A thread inside a system call cannot be stopped, only left behind: what it was writing may become durable later,
    whole or torn, and was never acknowledged.
    """
    outcome: Future[Result] = Future()
    # A daemon, because the interpreter waits for every other thread before it ends, and would hang on this one.
    Thread(target=_settle, args=(outcome, work), name="disk", daemon=True).start()
    limit = deadline_s()
    if not wait([outcome], limit).done:
        _given_up.append(outcome)
        raise StoreError(
            f"{file}: the storage did not answer within {limit:g} s",
            file=str(file),
            remedy=f"see whether its mount or server is alive, then `assay resume`; {VARIABLE} sets the patience",
        )
    return outcome.result()


def left_behind() -> bool:
    """Whether work that was given up is still under way in this process, so that it may yet write."""
    return not all(outcome.done() for outcome in _given_up)


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


def _settle(outcome: Future[Result], work: Callable[[], Result]) -> None:
    try:
        outcome.set_result(work())
    except BaseException as error:  # noqa: BLE001 - it is raised again where the outcome is awaited
        outcome.set_exception(error)
