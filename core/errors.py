"""Every error Assay raises on purpose, named by the boundary that was crossed.

    AssayError                        3   anything below; an uncaught one ends a run as incomplete
    |-- ConfigError                   2   what the user wrote cannot be run: file, path in it, remedy
    |   |-- IndexMismatch             2   an index on disk is not the one the config describes
    |   |-- PreflightRefused          2   a model or parameter the provider would refuse
    |   `-- Incomparable              2   results that may not be compared
    |-- GateFailed                    1   the run finished and a gate said no
    |-- RunIncomplete                 3   some samples are missing; `assay resume` goes on
    |-- BudgetExhausted               4   the next call would exceed the cap; it was not sent
    |-- DependencyDown                5   something outside did not answer in time
    |   |-- ParserUnavailable         5
    |   |-- LlmUnavailable            5
    |   |-- EmbedderUnavailable       5
    |   |-- IndexUnavailable          5
    |   `-- EvaluationAbortedError    5   the gate could not be asked, so nothing may be judged
    |-- ParserRefused                 3   the parser answered that it will not take this request
    |-- LlmRefused                    3   the provider answered 4xx: repeating cannot help
    |-- WorkerLost                    3   whoever ran a cell is gone; what it had not handed over is to be run again
    |-- RecordingMissing              3   a replay asked for a reply that was never recorded
    `-- StoreError                    3   the results root cannot be written or read back

The number is the process exit code. Each error takes one message plus keyword attributes with defaults, so that it
survives pickling with its type (an actor, a worker process) and can be rebuilt from its message alone.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """What the process tells its caller."""

    OK = 0
    GATE_FAILED = 1
    CONFIG = 2
    INCOMPLETE = 3
    BUDGET = 4
    DEPENDENCY_DOWN = 5


class AssayError(Exception):
    """Root of the tree. `remedy` is the one thing the reader can do about it, in the imperative."""

    exit_code: ClassVar[ExitCode] = ExitCode.INCOMPLETE

    def __init__(self, message: str = "", *, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class ConfigError(AssayError):
    """A configuration that cannot be run; `path` is dotted, as in `suites.0.retrieval.mode`."""

    exit_code = ExitCode.CONFIG

    def __init__(self, message: str = "", *, file: str = "", path: str = "", line: int = 0, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.file = file
        self.path = path
        self.line = line


class IndexMismatch(ConfigError):
    """The manifest beside an index differs from what the config asks for."""


class PreflightRefused(ConfigError):
    """Found before the first call: a retired or undated model, or a parameter that the API refuses."""


class Incomparable(ConfigError):
    """Two results differ in something that makes their difference meaningless."""


class GateFailed(AssayError):
    """A finished run missed a gate."""

    exit_code = ExitCode.GATE_FAILED


class RunIncomplete(AssayError):
    """Samples are missing; `run_dir` says where to resume."""

    def __init__(self, message: str = "", *, run_dir: str = "", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.run_dir = run_dir


class BudgetExhausted(AssayError):
    """The cap would be passed by the next call, which was therefore not sent."""

    exit_code = ExitCode.BUDGET


class DependencyDown(AssayError):
    """Something outside did not answer within its deadline."""

    exit_code = ExitCode.DEPENDENCY_DOWN

    def __init__(self, message: str = "", *, endpoint: str = "", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.endpoint = endpoint


class ParserUnavailable(DependencyDown):
    """The AVAP parser was unreachable or slower than its deadline: no evidence either way."""


class LlmUnavailable(DependencyDown):
    """The model's server did not give a usable reply before the deadline, after retries."""


class EmbedderUnavailable(DependencyDown):
    """The embedding model could not be loaded or asked."""


class IndexUnavailable(DependencyDown):
    """The index could not be opened or searched."""


class EvaluationAbortedError(DependencyDown):
    """The syntactic gate could not be asked, so the run stopped instead of judging without it."""


class ParserRefused(AssayError):
    """The parser is alive and declined: unknown vocabulary, a message over its limits, a version that changed."""


class LlmRefused(AssayError):
    """The provider refused the request itself (`status`): sending it again cannot help."""

    def __init__(self, message: str = "", *, status: int = 0, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.status = status


class WorkerLost(AssayError):
    """The process or machine that ran a cell ended before the cell did; no fault of the cell."""


class RecordingMissing(AssayError):
    """Replay found no recording under `key`."""

    def __init__(self, message: str = "", *, key: str = "", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.key = key


class StoreError(AssayError):
    """The results root could not be written or does not read back as what was written."""

    def __init__(self, message: str = "", *, file: str = "", line: int = 0, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.file = file
        self.line = line
