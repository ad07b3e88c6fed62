"""Vectors on disk by content: one SQLite file that many processes share and that survives any kill.

It is a cache: what cannot be read is embedded again, what cannot be written is embedded again next time, and a file
that is damaged is set aside. Each row carries a checksum, so that a damaged vector is never used.
"""

from __future__ import annotations

import logging
import sqlite3
import weakref
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_log = logging.getLogger(__name__)

_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL, crc INTEGER NOT NULL)"
_BATCH = 500
_WAIT_S = 30.0
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class VectorCache:
    """Opened at first use. Call it from one thread at a time."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._open: sqlite3.Connection | None = None
        self._closing: weakref.finalize[[], VectorCache] | None = None
        self._complained = False

    def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The vectors that are there and undamaged."""
        try:
            return dict(self._rows(keys))
        except (sqlite3.Error, OSError) as error:
            self._without(error)
            return {}

    def put(self, vectors: Mapping[str, bytes]) -> None:
        """Keep `vectors`: all of them, or after a kill none."""
        rows = [(key, vector, _crc(key, vector)) for key, vector in vectors.items()]
        try:
            connection = self._connection()
            with connection:
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
        except (sqlite3.Error, OSError) as error:
            self._without(error)

    def _rows(self, keys: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        for start in range(0, len(keys), _BATCH):
            batch = keys[start : start + _BATCH]
            marks = ",".join("?" * len(batch))
            query = f"SELECT key, vector, crc FROM vectors WHERE key IN ({marks})"  # noqa: S608  marks only
            for key, vector, crc in self._connection().execute(query, batch):
                if isinstance(vector, bytes) and crc == _crc(key, vector):
                    yield key, vector

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self._file, timeout=_WAIT_S, check_same_thread=False)
            self._open, self._closing = connection, weakref.finalize(self, connection.close)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_SCHEMA)
        return self._open

    def _without(self, error: sqlite3.Error | OSError) -> None:
        if self._closing is not None:
            self._closing()
        self._open = self._closing = None
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
            self._set_aside()
        if not self._complained:
            _log.warning("embeddings are not cached in %s: %s", self._file, error)
            self._complained = True

    def _set_aside(self) -> None:
        with suppress(OSError):
            self._file.replace(self._file.with_suffix(".damaged"))
            for tail in ("-wal", "-shm"):
                self._file.with_name(self._file.name + tail).unlink(missing_ok=True)


def _crc(key: str, vector: bytes) -> int:
    return zlib.crc32(vector, zlib.crc32(key.encode()))
