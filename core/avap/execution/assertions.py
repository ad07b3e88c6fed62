"""Assertions: boolean AVAP expressions over the variables that a finished program has assigned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from core.avap.diagnostics import Mistake
from core.avap.execution.compiling import compile_expression
from core.avap.execution.failures import LimitReached, Uncaught
from core.avap.execution.limits import Meter
from core.avap.execution.machine import Code, Frame
from core.avap.execution.running import Run
from core.avap.execution.values import Value
from core.avap.execution.world import STATUS
from core.avap.expressions import END, end_token, read_expression
from core.avap.tokens import tokens_of_expression
from core.avap.tree import Global, Name, Node, Number, Slot, String, children
from core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Assertion:
    """One assertion, ready to be asked."""

    text: str
    names: frozenset[str]
    """Every name it mentions."""
    constants: tuple[Value, ...]
    """Every number and text it mentions."""
    code: Code


def read_assertion(text: str) -> Assertion:
    """The assertion that `text` writes, in the grammar of a mode-2 `if`. Raises ConfigError when it is none."""
    tokens = tokens_of_expression(text, 1, 1)
    if not tokens:
        raise ConfigError("an assertion is empty", remedy="write a boolean expression")
    tokens.append(end_token(tokens))
    try:
        expression, index = read_expression(tokens, 0, [])
    except Mistake as mistake:
        raise _malformed(text, mistake.fault.message) from mistake
    if tokens[index].kind != END:
        raise _malformed(text, f"'{tokens[index].text}' has no place here")
    nodes = list(_nodes(expression))
    names = frozenset(filter(None, map(_name_of, nodes)))
    constants = tuple(node.value for node in nodes if isinstance(node, (Number, String)))
    return Assertion(text, names, constants, compile_expression(expression))


def holds(assertion: Assertion, run: Run) -> bool | None:
    """Whether the assertion is True over the variables of `run`; None when it has no boolean value there."""
    machine = run.machine
    machine.world.meter = Meter(machine.world.limits)
    frame = Frame(assertion.code, machine.world.globals)
    machine.frames[:] = [frame]
    try:
        machine.run()
    except (Uncaught, LimitReached):
        return None
    value = frame.stack.pop()
    return value if isinstance(value, bool) else None


def without_parameters(names: frozenset[str], run: Run) -> Run:
    """`run`, where `names` are no longer read from the request: a mutant that does not assign them has none."""
    world = run.machine.world
    left = {name: value for name, value in world.inputs.parameters.items() if name not in names}
    world.inputs = world.inputs.model_copy(update={"parameters": left})
    return run


def varies(assertion: Assertion, run: Run) -> bool:
    """Whether some other value of a variable that it names makes the assertion False: no constant does that."""
    variables = run.machine.world.globals
    original = dict(variables)
    try:
        for name in sorted(assertion.names & {*variables, STATUS}):
            near = _others(original.get(name, 200), _LEVELS)
            for variables[name] in (*assertion.constants, *near):
                if holds(assertion, run) is False:
                    return True
            variables.update(original)
        return False
    finally:
        variables.clear()
        variables.update(original)


_LEVELS: Final = 3
_PARTS: Final = 8


def _others(value: Value, levels: int) -> Iterator[Value]:
    """Values of the same type near `value`, then ones of other types."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value + 1, value - 1, -value, 0, 1_000_003)
    elif isinstance(value, str):
        yield from (value + "x", value[:-1], "", "x" * (len(value) or 1), str(len(value) + 7))
    elif isinstance(value, (list, tuple)):
        yield from _other_sequences(value, levels)
    elif isinstance(value, dict):
        yield from _other_dicts(value, levels)
    yield from (None, "another value", -1, True, False, [], {})


def _other_sequences(value: list[Value] | tuple[Value, ...], levels: int) -> Iterator[Value]:
    kind = type(value)
    yield from (kind(value[:-1]), kind([*value, None]), kind(value[::-1]))
    for index, item in enumerate(value[:_PARTS] if levels else ()):
        for other in _others(item, levels - 1):
            yield kind([*value[:index], other, *value[index + 1 :]])


def _other_dicts(value: dict[bool | int | float | str | None, Value], levels: int) -> Iterator[Value]:
    yield {**value, "another key": None}
    for key in list(value)[:_PARTS] if levels else ():
        yield {other: item for other, item in value.items() if other != key}
        for item in _others(value[key], levels - 1):
            yield {**value, key: item}


def _malformed(text: str, message: str) -> ConfigError:
    return ConfigError(f"the assertion '{text[:80]}' is no expression: {message}", remedy="correct the assertion")


def _name_of(node: Node) -> str | None:
    if isinstance(node, (Name, Global)):
        return node.id.partition(".")[0]
    return node.path[0] if isinstance(node, Slot) else None


def _nodes(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        item = waiting.pop()
        yield item
        waiting.extend(children(item))
