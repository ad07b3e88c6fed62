"""Exact nearest neighbours by cosine, over vectors in a memory-mapped file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from core.errors import IndexUnavailable

if TYPE_CHECKING:
    from core.ports import Matrix

DECIMALS = 6
"""Cosines are rounded: beyond that, single precision depends on a row's place in the file and on the processor."""


def write_vectors(file: Path, vectors: Matrix) -> None:
    """Write `vectors`, shape (passages, dimensions), as unit vectors in numpy's own format."""
    with file.open("wb") as out:
        numpy.save(out, unit(vectors), allow_pickle=False)


def unit(vectors: Matrix) -> Matrix:
    """`vectors` with every row divided by its length; a zero row stays zero."""
    lengths = numpy.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Matrix = (vectors / numpy.where(lengths > 0, lengths, 1)).astype(numpy.float32)
    return scaled


class Vectors:
    """The rows of a file of unit vectors. Raises OSError or ValueError when it is not one."""

    def __init__(self, file: Path) -> None:
        self._rows: Matrix = numpy.load(file, mmap_mode="r", allow_pickle=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and dimensions."""
        return self._rows.shape

    def nearest(self, vector: Matrix, depth: int) -> list[tuple[int, float]]:
        """The `depth` rows with the highest cosine and that cosine, best first, equal ones by row."""
        return nearest(self._rows, vector, depth)


def nearest(rows: Matrix, vector: Matrix, depth: int) -> list[tuple[int, float]]:
    """As Vectors.nearest, over unit vectors in memory. Raises IndexUnavailable for a vector of another length."""
    if vector.shape != rows.shape[1:]:
        raise IndexUnavailable(
            f"the query has {vector.shape[-1]} dimensions, the index {rows.shape[-1]}",
            remedy="search with the embedder that the index was built with",
        )
    cosines = numpy.round(numpy.asarray(rows @ unit(vector), dtype=numpy.float64), DECIMALS)
    if depth < len(cosines):
        bar = numpy.partition(cosines, len(cosines) - depth)[len(cosines) - depth]
        places = numpy.flatnonzero(cosines >= bar)
    else:
        places = numpy.arange(len(cosines))
    best = places[numpy.lexsort((places, -cosines[places]))][:depth]
    return [(int(place), float(cosines[place])) for place in best]
