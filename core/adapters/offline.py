"""A promise kept by the interpreter: from now on this process reaches nobody."""

from __future__ import annotations

import ipaddress
import socket
import sys
from enum import StrEnum
from typing import Any

from core.errors import AssayError

_EVENTS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})


class Reach(StrEnum):
    """How far a process may reach."""

    NOWHERE = "nowhere"
    LOOPBACK = "loopback"
    """This machine alone: workers of one's own are reached over it."""


_shut: set[Reach] = set()
"""What this process was told already: a hook stays, and a second one would only be asked as well."""


class NetworkRefused(AssayError):
    """Something tried to reach a network that was shut off."""


def shut_off(reach: Reach) -> None:
    """Refuse every connection beyond `reach`, for the rest of this process's life: it cannot be taken back.

    Python's audit events see every socket that Python opens (PEP 578), whichever library opens it.
    """
    if reach in _shut:
        return
    _shut.add(reach)

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _EVENTS and not _within(reach, arguments[0], arguments[1]):
            raise NetworkRefused(
                f"a replay tried to reach {arguments[1]}", remedy="report this: a replay sends nothing"
            )

    sys.addaudithook(refuse)


def _within(reach: Reach, used: socket.socket, address: Any) -> bool:
    if used.family not in (socket.AF_INET, socket.AF_INET6):
        return True  # the pipes of this process
    if reach is Reach.NOWHERE or not isinstance(address, tuple):
        return False
    try:
        return ipaddress.ip_address(address[0]).is_loopback
    except ValueError:
        return False
