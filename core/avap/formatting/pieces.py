"""What a statement is printed from: a flat run of texts and of brackets that may be broken over lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Open(NamedTuple):
    """An opening bracket, after which a line may end."""

    text: str
    forced: bool = False
    """Whether the line must end here, since the author ended it here too."""
    own: tuple[str, ...] = ()
    """Comments that stand on lines of their own before the first item."""


class Split(NamedTuple):
    """The comma between two items, after which a line may end."""

    trailing: tuple[str, ...] = ()
    """Comments at the end of the line of the item before."""
    own: tuple[str, ...] = ()


class Close(NamedTuple):
    """A closing bracket."""

    text: str
    trailing: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


Piece = str | Open | Split | Close


def flat(pieces: Sequence[Piece]) -> str:
    """`pieces` on one line, comments of broken brackets left out."""
    return "".join(", " if isinstance(piece, Split) else text_of(piece) for piece in pieces)


def text_of(piece: Piece) -> str:
    """The signs that a piece always brings, wherever lines end."""
    if isinstance(piece, str):
        return piece
    return "," if isinstance(piece, Split) else piece.text
