"""One run from its first statement to the reply: the program, then the requests to the endpoints it registered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from core.avap import tree
from core.avap.execution.compiling import compile_program, statement_lines
from core.avap.execution.failures import ErrorKind, Limit, LimitReached, Uncaught
from core.avap.execution.inputs import Inputs
from core.avap.execution.instructions.calls import CallName
from core.avap.execution.instructions.control import Publish, Store
from core.avap.execution.instructions.operands import Push
from core.avap.execution.limits import Limits, Meter
from core.avap.execution.machine import CompiledProgram, Frame, Machine
from core.avap.execution.outcome import Execution, RunError
from core.avap.execution.values import Value, plain
from core.avap.execution.world import STATUS, Endpoint, World
from core.model.syntax import Dialect

_FAILED = 500


@dataclass(frozen=True, slots=True)
class Run:
    """A machine that has come to its end, its variables still at hand."""

    machine: Machine
    error: RunError | None
    limit: Limit | None

    def outcome(self, statements: frozenset[int]) -> Execution:
        """What is told of the run; `statements` are the lines that count."""
        world = self.machine.world
        variables, end = _told(world)
        error, limit = self.error, self.limit
        if end is not None and error is None:
            error, limit = RunError(line=world.line, text=end.text, kind=ErrorKind.LIMIT), end.limit
        status = world.globals.get(STATUS, 200)
        assert isinstance(status, int)
        return Execution(
            variables=variables,
            results={name: plain(value) for name, value in world.results.items()},
            status=status if error is None else _FAILED,
            error=error,
            limit=limit,
            executed_lines=tuple(sorted(self.machine.lines)),
            statement_lines=tuple(sorted(statements)),
            trace=tuple(self.machine.trace),
        )


def execute(
    program: tree.Program,
    inputs: Inputs | None = None,
    limits: Limits | None = None,
    *,
    dialect: Dialect = Dialect.STRICT,
) -> Execution:
    """Run the tree of a VALID program. Whatever the program does, this returns; equal arguments give equal outcomes.

    `dialect` is the one it was parsed in: where `lenient`, a bare word without a value stands for itself.
    Raises NotExecutable for the tree of an INVALID program.
    """
    compiled = compile_program(program, dialect)
    with finished(compiled, inputs or Inputs(), limits or Limits()) as run:
        return run.outcome(statement_lines(program))


@contextmanager
def finished(program: CompiledProgram, inputs: Inputs, limits: Limits) -> Iterator[Run]:
    """Run `program` to its end; its world lasts as long as the context."""
    world = World(inputs, limits)
    try:
        yield _run(Machine(program, world))
    finally:
        world.close()


def _told(world: World) -> tuple[dict[str, Any], LimitReached | None]:
    """The global variables as JSON, as many as the output may hold."""
    meter, told = Meter(world.limits), {}
    try:
        for name, value in world.globals.items():
            meter.publish(value)
            told[name] = plain(value)
    except LimitReached as end:
        return told, end
    return told, None


def _run(machine: Machine) -> Run:
    try:
        machine.run()
        for endpoint in _asked(machine.world):
            _serve(machine, endpoint)
    except Uncaught as end:
        return Run(machine, RunError(line=end.line, text=end.failure.text, kind=end.failure.kind), None)
    except LimitReached as end:
        line = machine.frames[-1].line if machine.frames else machine.world.line
        return Run(machine, RunError(line=line, text=end.text, kind=ErrorKind.LIMIT), end.limit)
    return Run(machine, None, None)


def _asked(world: World) -> tuple[Endpoint, ...]:
    """The endpoints that the request is for: those that it names, else each once."""
    request = world.inputs.request
    if request is None:
        return tuple(world.endpoints)
    fitting = tuple(
        endpoint
        for endpoint in world.endpoints
        if (endpoint.path, endpoint.method) == (request.path, request.method.upper())
    )
    if not fitting and world.endpoints:
        world.globals[STATUS] = 404
    return fitting


def _serve(machine: Machine, endpoint: Endpoint) -> None:
    """Call the middleware, then the handler, and publish what it gives as the output.

    A middleware that gives False refuses the request: the handler is not called and the output is None.
    """
    refused = any(_answer(machine, name, endpoint) is False for name in endpoint.middleware)
    value = None if refused else _answer(machine, endpoint.handler, endpoint)
    reply = (Push(value), Store(endpoint.output), Publish(endpoint.output))
    machine.frames.append(Frame(reply, machine.world.globals, line=endpoint.line))
    machine.run()


def _answer(machine: Machine, name: str, endpoint: Endpoint) -> Value:
    """What the function `name` gives; its parameters take the request parameters of the same names."""
    function = machine.functions.get(name)
    given = machine.world.inputs.parameters
    arguments = [given.get(parameter) for parameter in function.parameters] if function else []
    base = Frame((CallName(name, len(arguments)),), machine.world.globals, line=endpoint.line, stack=arguments)
    machine.frames.append(base)
    machine.run()
    value: Value = base.stack.pop()
    return value
