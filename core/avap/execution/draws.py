"""Random choices that a seed decides: the same on every machine."""

from __future__ import annotations

import hashlib
import string
from typing import Final

from core.avap.execution.failures import Failure
from core.avap.execution.patterns import Take, compiled

DEFAULT_CLASS: Final = string.ascii_letters + string.digits
_PRINTABLE: Final = "".join(map(chr, range(32, 127)))


class Draws:
    """A stream of numbers from a seed: sha256 of the seed and a counter."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._drawn = 0

    def below(self, count: int) -> int:
        """A number from 0 to `count` - 1; the bias of 256 bits modulo `count` is nothing."""
        self._drawn += 1
        digest = hashlib.sha256(f"{self._seed}:{self._drawn}".encode()).digest()
        return int.from_bytes(digest, "big") % count

    def text(self, signs: str, length: int) -> str:
        """`length` of `signs`, each as likely as another."""
        return "".join(signs[self.below(len(signs))] for _ in range(length))


def signs_of(pattern: str) -> str:
    """The printable ASCII signs that the classes of `pattern` hold: `[A-Z0-9]`, `\\d`, or the signs themselves.

    Raises Failure when there are none.
    """
    tests = [step.test for step in compiled(pattern) if isinstance(step, Take)]
    signs = "".join(sign for sign in _PRINTABLE if any(test(sign) for test in tests))
    if not signs:
        raise Failure("the pattern of a random text names no printable sign")
    return signs
