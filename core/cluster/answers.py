"""From what Ray raises to what Assay's callers expect: a remote error is itself again, a lost actor is a dependency."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

import ray  # noqa: TID251 - this package is the edge where Ray is known
from ray.exceptions import RayError, RayTaskError, TaskCancelledError  # noqa: TID251

from core.errors import DependencyDown

Answer = TypeVar("Answer")

RESTARTS = 8
"""Lives of an actor beyond its first. Calls that were in it when it died are made again, by Ray."""


async def answered(call: Any, *, down: type[DependencyDown], who: str) -> Any:
    """The result of the remote `call`. Raises what it raised, or `down` when `who` is gone for good.

    Cancelling the wait cancels the call.
    """
    try:
        return await call
    except asyncio.CancelledError:
        ray.cancel(call)
        raise
    except RayTaskError as error:
        raise cause_of(error) from error
    except RayError as error:
        raise down(
            f"{who} is gone and did not come back: {_brief(error)}",
            endpoint=who,
            remedy="see Ray's logs for why it ended (memory, most often), then resume the run",
        ) from error


def cause_of(error: RayTaskError) -> Exception:
    """The error as it was raised on the other side, with its type and attributes."""
    cause = error.cause
    while isinstance(cause, RayTaskError):
        cause = cause.cause
    return cause if isinstance(cause, Exception) else error


def is_cancelled(error: BaseException) -> bool:
    """Whether `error` is the end of a call that was cancelled."""
    return isinstance(error, TaskCancelledError)


def _brief(error: RayError) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
