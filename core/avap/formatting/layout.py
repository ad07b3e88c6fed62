"""Where the lines of one statement end: a bracket stays on its line when it fits, else each item gets a line.

Follows the fitting rule of D. Oppen, "Prettyprinting" (1980), over a flat run of pieces, so that deep brackets need no
stack of Python's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.avap.formatting.pieces import Close, Open, Piece, Split, text_of

INDENT: Final = "    "


def lay_out(pieces: Sequence[Piece], depth: int, width: int) -> list[str]:
    """The lines of a statement at block depth `depth`, in at most `width` columns where that can be done.

    A comment of several lines comes as one element that holds line ends.
    """
    sheet = _Sheet(depth)
    broken: list[bool] = []
    breaks = _Breaks(pieces)
    for place, piece in enumerate(pieces):
        if isinstance(piece, str):
            sheet.write(piece)
        elif isinstance(piece, Open):
            must = place in breaks.forced
            broken.append(must or ((not broken or broken[-1]) and sheet.column + breaks.needs(place) > width))
            sheet.write(piece.text)
            if broken[-1]:
                sheet.depth += 1
                sheet.end_line((), piece.own)
        elif isinstance(piece, Split):
            sheet.write("," if broken[-1] else ", ")
            if broken[-1]:
                sheet.end_line(piece.trailing, piece.own)
        else:
            if broken.pop():
                sheet.end_line(piece.trailing, piece.own, step=-1)
            sheet.write(piece.text)
    return sheet.finished()


class _Breaks:
    """Which brackets must be broken, and how much room each needs to stay whole."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.forced: set[int] = set()
        """Places of the opening brackets that cannot stay on one line."""
        self._closers: dict[int, int] = {}
        self._before = [0]
        for piece in pieces:
            self._before.append(self._before[-1] + len(text_of(piece)) + isinstance(piece, Split))
        self._pair(pieces)
        self._tail = self._tails(pieces)

    def needs(self, place: int) -> int:
        """Columns of the bracket opened at `place`, with what follows it up to where a line may end."""
        after = self._closers[place] + 1
        return self._before[after] - self._before[place] + self._tail[after]

    def _pair(self, pieces: Sequence[Piece]) -> None:
        opened: list[int] = []
        for place, piece in enumerate(pieces):
            if isinstance(piece, str):
                continue
            if isinstance(piece, Open):
                opened.append(place)
                if piece.forced or piece.own:
                    self.forced.add(place)
                continue
            if piece.trailing or piece.own:
                self.forced.add(opened[-1])
            if isinstance(piece, Close):
                opener = opened.pop()
                self._closers[opener] = place
                if opened and opener in self.forced:
                    self.forced.add(opened[-1])

    @staticmethod
    def _tails(pieces: Sequence[Piece]) -> list[int]:
        """For each place the columns up to the next one where a line may end."""
        tails = [0] * (len(pieces) + 1)
        for place in range(len(pieces) - 1, -1, -1):
            piece = pieces[place]
            if isinstance(piece, Close):
                continue
            tails[place] = len(text_of(piece)) + (tails[place + 1] if isinstance(piece, str) else 0)
        return tails


class _Sheet:
    """Lines as they are written."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self._lines: list[str] = []
        self._line = [INDENT * depth]
        self.column = len(self._line[0])

    def write(self, text: str) -> None:
        self._line.append(text)
        self.column += len(text)

    def end_line(self, trailing: Sequence[str], own: Sequence[str], step: int = 0) -> None:
        """End the line after `trailing`, give each of `own` a line, and begin one at a depth changed by `step`."""
        line = " ".join(["".join(self._line), *trailing])
        if line.strip():
            self._lines.append(line)
        self._lines.extend(INDENT * self.depth + comment for comment in own)
        self.depth += step
        self._line = [INDENT * self.depth]
        self.column = len(self._line[0])

    def finished(self) -> list[str]:
        return [*self._lines, "".join(self._line)]
