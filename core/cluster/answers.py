"""From what Ray raises to what Assay's callers expect: a remote error is itself again, a lost actor is a dependency."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

import ray  # noqa: TID251 - this package is the edge where Ray is known
from ray.exceptions import RayError, RayTaskError  # noqa: TID251

from core.errors import DependencyDown

Answer = TypeVar("Answer")

RESTARTS = 8
"""Lives of an actor beyond its first. Calls that were in it when it died are made again, by Ray."""
PLACE_DEADLINE_S = 900.0
"""For a process to find a place and start: a cluster that starts from no machine needs minutes."""
SILENCE_S = 60.0
"""A call may take its time, but after so long its host is asked whether it is there,"""
ALIVE_DEADLINE_S = 120.0
"""and must say so within so long: that a process is stopped or stuck, Ray does not notice."""


class Silent(Exception):
    """A process that Ray believes to be alive does not answer."""


async def placed(host: Any, *, down: type[DependencyDown], who: str) -> None:
    """Wait until the actor `host` has started. Raises `down` when it finds no place."""
    try:
        async with asyncio.timeout(PLACE_DEADLINE_S):
            await host.ready.remote()
    except RayError as error:
        raise _gone(error, down, who) from error
    except TimeoutError as error:
        raise down(
            f"Ray gave {who} no place in {PLACE_DEADLINE_S:g} s",
            endpoint=who,
            remedy="`ray status` says what it waits for; an embedder needs runtime.ray.gpus_per_embedder of a GPU",
        ) from error


async def answered(host: Any, call: Any, *, down: type[DependencyDown], who: str) -> Any:
    """The result of the remote `call` to the actor `host`. Raises what it raised, or `down` when `who` is gone for
    good or does not answer.

    Cancelling the wait cancels the call.
    """
    try:
        return await heard(host, call)
    except asyncio.CancelledError:
        ray.cancel(call)
        raise
    except RayTaskError as error:
        raise cause_of(error) from error
    except (RayError, Silent) as error:
        raise _gone(error, down, who) from error


async def heard(host: Any, awaited: Any) -> Any:
    """The result of `awaited`, at which `host` works as long as it likes.

    Raises what `awaited` raises, and Silent or RayError when it takes long and `host` is not there.
    """
    reply = asyncio.ensure_future(awaited)
    reply.add_done_callback(_retrieved)
    try:
        while not (await asyncio.wait({reply}, timeout=SILENCE_S))[0]:
            await _alive(host)
        return reply.result()
    finally:
        reply.cancel()


async def _alive(host: Any) -> None:
    try:
        async with asyncio.timeout(ALIVE_DEADLINE_S):
            await host.ready.remote()
    except TimeoutError:
        raise Silent(f"its process did not answer within {ALIVE_DEADLINE_S:g} s") from None


def _retrieved(reply: asyncio.Future[Any]) -> None:
    """An error that comes after nobody waits any more is nobody's."""
    if not reply.cancelled():
        reply.exception()


def cause_of(error: RayTaskError) -> Exception:
    """The error as it was raised on the other side, with its type and attributes."""
    cause = error.cause
    while isinstance(cause, RayTaskError):
        cause = cause.cause
    return cause if isinstance(cause, Exception) else error


def _gone(error: Exception, down: type[DependencyDown], who: str) -> DependencyDown:
    return down(
        f"{who} is gone and did not come back: {_brief(error)}",
        endpoint=who,
        remedy="see Ray's logs for why it ended (memory, most often), then resume the run",
    )


def _brief(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
