"""Messages of Execute to and from the model of runs, for the server and for clients alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.adapters.parser.wire import to_response
from core.adapters.proto.avap.parser.v1 import parser_pb2 as wire
from core.model.syntax import ParseResult

if TYPE_CHECKING:
    from core.avap.execution import Execution, Inputs, Limits, RunError

_BOUNDS = ("steps", "depth", "memory", "output")
_MAX_TRACE = 10_000


def to_inputs(request: wire.ExecuteRequest) -> Inputs:
    """The world that `request` gives its program. Raises ConfigError."""
    from core.avap.execution import Inputs

    return Inputs.from_json(request.inputs) if request.inputs else Inputs()


def to_limits(request: wire.ExecuteRequest) -> Limits:
    """The bounds of a run: those of the server, or the narrower ones that `request` asks for."""
    from core.avap.execution import Limits

    own, asked = Limits(), request.limits
    narrowed = {name: min(getattr(asked, name) or getattr(own, name), getattr(own, name)) for name in _BOUNDS}
    return Limits(**narrowed, trace=min(asked.trace, _MAX_TRACE))


def to_execute_response(parsed: ParseResult, vocabulary_sha256: str, ran: Execution | None) -> wire.ExecuteResponse:
    """The reply that says what was judged and, unless it was INVALID, how the run went."""
    return wire.ExecuteResponse(
        parse=to_response(parsed, vocabulary_sha256), execution=None if ran is None else _to_execution(ran)
    )


def from_execution(reply: wire.Execution) -> Execution:
    """The run that `reply` describes. Raises ValueError for a word that this version does not know."""
    from core.avap.execution import ErrorKind, Execution, Limit, RunError

    error = reply.error if reply.HasField("error") else None
    return Execution(
        variables=json.loads(reply.variables),
        results=json.loads(reply.results),
        status=reply.status,
        error=None if error is None else RunError(line=error.line, text=error.text, kind=ErrorKind(error.kind)),
        limit=Limit(reply.limit) if reply.limit else None,
        executed_lines=tuple(reply.executed_lines),
        statement_lines=tuple(reply.statement_lines),
        trace=tuple(reply.trace),
    )


def _to_execution(ran: Execution) -> wire.Execution:
    return wire.Execution(
        variables=_json(ran.variables),
        results=_json(ran.results),
        status=ran.status,
        error=None if ran.error is None else _to_error(ran.error),
        limit="" if ran.limit is None else ran.limit.value,
        executed_lines=ran.executed_lines,
        statement_lines=ran.statement_lines,
        trace=ran.trace,
    )


def _to_error(error: RunError) -> wire.ExecuteError:
    # A program can make half characters, which UTF-8 does not have.
    text = error.text.encode("utf-8", "replace").decode("utf-8")
    return wire.ExecuteError(line=error.line, text=text, kind=error.kind.value)


def _json(values: Mapping[str, Any]) -> str:
    # Escapes keep half characters, which UTF-8 does not have.
    return json.dumps(values, allow_nan=False)
