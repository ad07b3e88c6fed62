"""Frames between the parser server and its worker processes: four bytes of length, one of kind, then the body.

Towards the worker the kind is a Method, back it is a Status; replies come in the order of the requests. The first
frame either way is the Setup, as JSON, and its acknowledgement.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_HEAD = struct.Struct(">IB")
SETUP = 0
"""Kind of the first frame."""


class Frame(NamedTuple):
    """One message."""

    kind: int
    body: bytes


def encoded(kind: int, body: bytes) -> bytes:
    """The bytes of a frame."""
    return _HEAD.pack(len(body), kind) + body


class Assembler:
    """Puts frames together from bytes as they come."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that `data` completes."""
        self._bytes += data
        start = 0
        while len(self._bytes) - start >= _HEAD.size:
            length, kind = _HEAD.unpack_from(self._bytes, start)
            end = start + _HEAD.size + length
            if len(self._bytes) < end:
                break
            yield Frame(kind, bytes(self._bytes[start + _HEAD.size : end]))
            start = end
        del self._bytes[:start]
