"""Running AVAP programs in a world that is given to them: no file, no network, no clock, no chance. Pure."""

from core.avap.execution.failures import ErrorKind, Limit
from core.avap.execution.inputs import CannedReply, Inputs, Request, load_json
from core.avap.execution.limits import Limits
from core.avap.execution.outcome import Execution, RunError
from core.avap.execution.running import execute
from core.avap.execution.statements import NotExecutable

__all__ = [
    "CannedReply",
    "ErrorKind",
    "Execution",
    "Inputs",
    "Limit",
    "Limits",
    "NotExecutable",
    "Request",
    "RunError",
    "execute",
    "load_json",
]
