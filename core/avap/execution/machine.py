"""The machine: frames of variables and a loop over instructions. It never recurses, however deep a program does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.avap.execution.conversions import whole
from core.avap.execution.failures import ErrorKind, Failure, Limit, LimitReached, Uncaught
from core.avap.execution.values import Module, Routine, Value, from_json
from core.avap.execution.world import LAST_ERROR, RESERVED, STATUS, Task, World
from core.avap.vocabulary import BUILTINS

Instruction = Callable[["Machine"], None]
"""One step of a compiled program. Raises Failure and LimitReached."""
Code = Sequence[Instruction]


@dataclass(slots=True)
class Label:
    """A place in code, known once the code is laid out."""

    position: int = -1


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """A declared function, ready to run."""

    name: str
    parameters: tuple[str, ...]
    code: Code


@dataclass(frozen=True, slots=True)
class CompiledProgram:
    """A whole program, ready to run."""

    code: Code
    functions: Mapping[str, CompiledFunction]


@dataclass(frozen=True, slots=True)
class Guard:
    """An open `try()`: where its handler is, and how much stood on the stacks."""

    handler: Label
    values: int
    scopes: int


@dataclass(slots=True)
class Frame:
    """A function at work, or the program itself."""

    code: Code
    variables: dict[str, Value]
    task: str | None = None
    """The id under which `go` keeps what the function gives."""
    started_ms: float = 0
    at: int = 0
    line: int = 0
    stack: list[Any] = field(default_factory=list)
    """Operands, and the iterators of open loops."""
    scopes: list[dict[str, Value]] = field(default_factory=list)
    """The names of open comprehensions."""
    guards: list[Guard] = field(default_factory=list)


class Machine:
    """Runs one program in one world."""

    def __init__(self, program: CompiledProgram, world: World) -> None:
        self.world = world
        self.functions = program.functions
        self.lines: dict[int, None] = {}
        """Lines reached, in the order of their first execution."""
        self.trace: list[int] = []
        self.frames = [Frame(program.code, world.globals)]

    @property
    def frame(self) -> Frame:
        """The innermost frame."""
        return self.frames[-1]

    def run(self) -> None:
        """Run until every frame has ended. Raises Uncaught and LimitReached."""
        frames, meter = self.frames, self.world.meter
        while frames:
            frame = frames[-1]
            if frame.at >= len(frame.code):
                frames.pop()
                continue
            instruction = frame.code[frame.at]
            frame.at += 1
            meter.work(1)
            try:
                instruction(self)
            except Failure as failure:
                self._unwind(failure)
            except (TypeError, ValueError, ArithmeticError, LookupError) as error:
                self._unwind(Failure(f"the operation failed: {error}"))
            except (RecursionError, MemoryError):
                raise LimitReached(Limit.MEMORY, "a value is too large or too deeply nested") from None

    def enter(self, name: str, arguments: Sequence[Value], task: str | None = None) -> None:
        """Begin the declared function `name`. Raises Failure for a wrong number of arguments, and LimitReached."""
        function = self.functions[name]
        if len(arguments) != len(function.parameters):
            wanted = len(function.parameters)
            raise Failure(f"function '{name}' takes {wanted} arguments, not {len(arguments)}", ErrorKind.TYPE)
        self.world.meter.check_depth(len(self.frames))
        variables = dict(zip(function.parameters, arguments, strict=True))
        line = self.frame.line
        self.frames.append(Frame(function.code, variables, task, self.world.replies.elapsed_ms, line=line))

    def leave(self, value: Value) -> None:
        """End the innermost function with `value`."""
        frame = self.frames.pop()
        self.frame.stack.append(value if frame.task is None else self._finish(frame, value, None))

    def reach(self, line: int) -> None:
        """Note that a statement begins."""
        self.frame.line = line
        self.world.line = line
        self.lines[line] = None
        if len(self.trace) < self.world.limits.trace:
            self.trace.append(line)

    def load(self, name: str) -> Value:
        """The value of `name` as an expression sees it. Raises Failure."""
        frame = self.frame
        for scope in reversed(frame.scopes):
            if name in scope:
                return scope[name]
        if name in frame.variables:
            return frame.variables[name]
        if frame.variables is self.world.globals or name in RESERVED:
            return self.load_global(name)
        return self._named(name, "; the global is read through $" if name in self.world.globals else "")

    def load_global(self, name: str) -> Value:
        """The value of the global `name`: a variable, else a parameter of the request. Raises Failure."""
        if name in self.world.globals:
            return self.world.globals[name]
        if name in self.world.inputs.parameters:
            return from_json(self.world.inputs.parameters[name])
        if name == STATUS:
            return 200
        return self._named(name, "")

    def load_slot(self, path: Sequence[str]) -> Value:
        """The value of a template's slot: what the name means here, else the global, and its keys. Raises Failure."""
        name = path[0]
        known = name in self.frame.variables or any(name in scope for scope in self.frame.scopes)
        value = self.load(name) if known else self.load_global(name)
        for key in path[1:]:
            if not isinstance(value, dict) or key not in value:
                raise Failure(f"'{'.'.join(path)}' is not there: no key '{key}'")
            value = value[key]
        return value

    def is_assigned(self, name: str) -> bool:
        """Whether `name` is a variable here."""
        scope = self.world.globals if name in RESERVED else self.frame.variables
        return name in scope

    def store(self, name: str, value: Value) -> None:
        """Assign `name`. Raises Failure for a `_status` that is none."""
        if name == STATUS:
            value = whole(value, STATUS)
            if not 100 <= value <= 599:
                raise Failure(f"{STATUS} is a number from 100 to 599, not {value}")
        scope = self.world.globals if name in RESERVED else self.frame.variables
        scope[name] = value

    def _named(self, name: str, hint: str) -> Value:
        if name in self.functions:
            return Routine(name)
        if name in self.world.modules:
            return Module(name)
        kind = "function" if name in BUILTINS else "variable"
        raise Failure(f"{kind} '{name}' has no value here{hint}", ErrorKind.NAME)

    def _unwind(self, failure: Failure) -> None:
        """Go on at the innermost handler, or after the `go` whose function has failed. Raises Uncaught."""
        line = self.frame.line
        while self.frames:
            frame = self.frame
            if frame.guards:
                self._handle(frame, frame.guards.pop(), failure)
                return
            self.frames.pop()
            if frame.task is not None:
                self.frame.stack.append(self._finish(frame, None, failure))
                return
        raise Uncaught(failure, line)

    def _handle(self, frame: Frame, guard: Guard, failure: Failure) -> None:
        del frame.stack[guard.values :]
        del frame.scopes[guard.scopes :]
        frame.at = guard.handler.position
        self.world.globals[LAST_ERROR] = failure.text

    def _finish(self, frame: Frame, value: Value, failure: Failure | None) -> str:
        assert frame.task is not None
        elapsed = self.world.replies.elapsed_ms - frame.started_ms
        self.world.tasks[frame.task] = Task(value, failure, elapsed)
        return frame.task
