"""What a rehearsal says it did on purpose, so that a gate can be measured against it."""

from __future__ import annotations

from core.model.frozen import Frozen
from core.model.specs import Fault


class InjectedFault(Frozen):
    """One reply that the rehearsal model spoiled: one line of its truth file, which the evaluation never reads."""

    message_id: str
    """Of the spoiled reply, as in `Completion.message_id`; the same request always gives the same id."""
    fault: Fault
    detail: str
    """What was put in: a language (`Go`), an invented command (`getSHA256`), a structure (`while`)."""
    code: str
    """The spoiled block as it was sent, without its fence."""
