"""How much the parser service gives to one request and to all of them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from core.model.frozen import Frozen
from core.model.specs import Positive, Seconds


class Limits(Frozen):
    """Bounds of a server. A call beyond one ends with RESOURCE_EXHAUSTED."""

    workers: Annotated[int, Field(ge=0)] = 2
    """Processes that judge; 0 judges in the server itself, for a single client that is trusted."""
    calls: Positive = 256
    """Calls admitted at once, waiting ones included; the next gets a hint when to come back."""
    seconds: Seconds = 5.0
    """For one request in its worker, which is then killed. Twice what a client waits, and five times what any program
    of the longest kind takes: reaching it is a fault, not a load."""
    memory_mb: Annotated[int, Field(ge=128)] = 512
    """MiB of address space of a worker."""
