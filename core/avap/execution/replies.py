"""The replies of a world that is not asked: what the test inputs give for requests and connectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from urllib.parse import urlencode

from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.inputs import CannedReply, Inputs
from core.avap.execution.values import Value, from_json, plain


class Replies:
    """The canned replies of one run, and the time that waiting for them would have taken."""

    def __init__(self, inputs: Inputs) -> None:
        self._http = inputs.http
        self._connectors = inputs.connectors
        self._given: Counter[tuple[str, str]] = Counter()
        self.elapsed_ms: float = 0

    def request(self, method: str, url: str, query: Value, timeout_ms: float | None) -> Value:
        """The body of the reply to a request.

        Raises Failure when no reply is given for it, when it takes longer than `timeout_ms`, and for a status from 400.
        """
        full = _with_query(url, query)
        reply = self._reply(method, url, full)
        if timeout_ms is not None and reply.delay_ms > timeout_ms:
            self.elapsed_ms += timeout_ms
            raise Failure(f"{method} {full}: no reply within {timeout_ms:g} ms", ErrorKind.REQUEST)
        self.elapsed_ms += reply.delay_ms
        if reply.status >= 400:
            raise Failure(f"{method} {full}: status {reply.status}", ErrorKind.REQUEST)
        return from_json(reply.body)

    def call(self, name: str, method: str) -> Value:
        """What `method` of the connector or module `name` answers. Raises Failure when no reply is given for it."""
        known = self._connectors.get(name, {})
        if method not in known:
            raise Failure(f"no reply is given for '{method}' of '{name}' (__connectors__)", ErrorKind.REQUEST)
        return from_json(known[method])

    def knows(self, name: str, method: str) -> bool:
        """Whether `call` would answer."""
        return method in self._connectors.get(name, {})

    def _reply(self, method: str, url: str, full: str) -> CannedReply:
        fitting = [reply for reply in self._http if reply.method in {None, method} and reply.url in {url, full}]
        if not fitting:
            raise Failure(f"no reply is given for {method} {full} (__http__)", ErrorKind.REQUEST)
        place = self._given[method, full]
        self._given[method, full] += 1
        return fitting[min(place, len(fitting) - 1)]


def _with_query(url: str, query: Value) -> str:
    """The whole address; the query is a text, a dict or nothing. Raises Failure."""
    if query is None or query in ("", {}):
        return url
    if isinstance(query, Mapping):
        pairs = {str(key): plain(value) for key, value in query.items()}
        query = urlencode(pairs, doseq=True, errors="surrogatepass")
    if not isinstance(query, str):
        raise Failure("the query string of a request is a text or a dict", ErrorKind.TYPE)
    return f"{url}{'&' if '?' in url else '?'}{query}"
