"""Seeded choices: every one is a pure function of the request and of the name of the choice."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class Draws:
    """All the randomness of one reply; `identity` is a digest of seed, request body and repeat."""

    identity: str

    def share(self, *path: str | int) -> float:
        """A number in [0, 1), uniform over requests, for the choice called `path`."""
        key = "\x1f".join((self.identity, *map(str, path)))
        return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=7).digest(), "big") / 2**56

    def below(self, limit: int, *path: str | int) -> int:
        """A whole number in [0, limit)."""
        return int(self.share(*path) * limit)

    def pick(self, choices: Sequence[Choice], *path: str | int) -> Choice:
        """One of `choices`, which must not be empty."""
        return choices[self.below(len(choices), *path)]
