"""Values on their way between the processes of one run, as bytes, which Ray passes on as they are.

Left to itself Ray takes every value apart in Python, so that functions and classes of a script can travel too; what
travels between cells and actors are values of classes that both sides import, and a call costs a third of it this way.
"""

from __future__ import annotations

import pickle  # noqa: TID251 - never kept: between two processes of one run, where Ray itself would pickle
from typing import Any


def packed(*values: object) -> bytes:
    """`values` for unpacked()."""
    return pickle.dumps(values, pickle.HIGHEST_PROTOCOL)


def unpacked(content: bytes) -> Any:
    """The tuple of values in `content`."""
    return pickle.loads(content)  # noqa: S301 - written by packed() in a process of the same run
