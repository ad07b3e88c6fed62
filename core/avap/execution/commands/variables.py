"""Variables, parameters, tasks, connectors and endpoints: manual sections I, II, IV and V."""

from __future__ import annotations

from core.avap.execution.commands.registry import command
from core.avap.execution.conversions import number
from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.formatting import text_of
from core.avap.execution.values import Connector, Routine, Value, from_json, kind_of
from core.avap.execution.world import Endpoint, World


@command("addVar")
def add_var(_: World, value: Value) -> Value:
    """The value itself."""
    return value


@command("addParam", names=("parameter",))
def add_param(world: World, parameter: str) -> Value:
    """The request parameter, or None when the request has none of that name."""
    return from_json(world.inputs.parameters.get(parameter))


@command("getQueryParamList", names=("parameter",))
def get_query_param_list(world: World, parameter: str | None = None) -> Value:
    """All values of one request parameter, or of all parameters in their order."""
    given = world.inputs.parameters
    found = list(given.values()) if parameter is None else [given[parameter]] if parameter in given else []
    return [from_json(item) for value in found for item in (value if isinstance(value, list) else [value])]


@command("gather", variables=("id",))
def gather(world: World, id: Value, timeout_ms: Value = None) -> Value:  # noqa: A002  the vocabulary's word
    """What the task gave; None when it would have taken longer than the timeout. Raises its failure."""
    task = world.tasks.get(id) if isinstance(id, str) else None
    if task is None:
        raise Failure("gather needs an id that go has given")
    if timeout_ms is not None and task.elapsed_ms > number(timeout_ms, "the timeout of gather"):
        return None
    if task.failure is not None:
        raise Failure(task.failure.text, task.failure.kind)
    return task.value


@command("avapConnector")
def avap_connector(world: World, token: Value) -> Value:
    """An opened connector."""
    return Connector(text_of(token, world.meter))


@command("registerEndpoint", names=("handler", "output"))
def register_endpoint(  # noqa: PLR0913, PLR0917  the six arguments of the command
    world: World, path: Value, method: Value, middleware: Value, description: Value, handler: str, output: str
) -> Value:
    """Note an endpoint; requests reach it when the program has come to its end."""
    del description
    functions = _functions(middleware)
    url, verb = text_of(path, world.meter), text_of(method, world.meter).upper()
    world.endpoints.append(Endpoint(world.line, url, verb, functions, handler, output))
    return None


def _functions(middleware: Value) -> tuple[str, ...]:
    """The names of the functions in a list of middleware. Raises Failure."""
    if middleware is None or middleware == "":
        return ()
    if not isinstance(middleware, (list, tuple)):
        raise Failure(f"the middleware of an endpoint is a list, not {kind_of(middleware)}", ErrorKind.TYPE)
    names = [item.name if isinstance(item, Routine) else item for item in middleware]
    if not all(isinstance(name, str) for name in names):
        raise Failure("the middleware of an endpoint is a list of functions", ErrorKind.TYPE)
    return tuple(map(str, names))
