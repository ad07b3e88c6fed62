"""Requests to other services: manual section VI. Replies are those that the test inputs give."""

from __future__ import annotations

from core.avap.execution.commands.registry import command
from core.avap.execution.conversions import number
from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.values import Value, kind_of
from core.avap.execution.world import World


@command("RequestGet")
def request_get(world: World, url: Value, query: Value, headers: Value, timeout_ms: Value = None) -> Value:
    """The body of the reply to a GET request."""
    return _ask(world, "GET", (url, query, headers), timeout_ms)


@command("RequestPost")
def request_post(
    world: World, url: Value, query: Value, headers: Value, body: Value, timeout_ms: Value = None
) -> Value:
    """The body of the reply to a POST request; what was sent changes nothing."""
    del body
    return _ask(world, "POST", (url, query, headers), timeout_ms)


def _ask(world: World, method: str, request: tuple[Value, Value, Value], timeout_ms: Value) -> Value:
    url, query, headers = request
    if not isinstance(url, str):
        raise Failure(f"the address of a request is a text, not {kind_of(url)}", ErrorKind.TYPE)
    if not isinstance(headers, (dict, str)) and headers is not None:
        raise Failure(f"the headers of a request are a dict, not {kind_of(headers)}", ErrorKind.TYPE)
    limit = None if timeout_ms is None or timeout_ms == "" else number(timeout_ms, "the timeout of a request")
    return world.replies.request(method, url, query, limit)
