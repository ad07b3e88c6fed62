"""The tables of one run: SQLite in memory, where nothing but tables can be reached and no statement runs on."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from core.avap.execution.draws import Draws
from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.limits import Meter
from core.avap.execution.values import Value, plain

_PROGRESS: Final = 200
"""SQLite opcodes between two looks at the meter; each counts as a step."""
_MAX_PAGES: Final = 4096
_MAX_SQL: Final = 16_384
_MAX_ROW: Final = 8192
"""Bytes of a row or text; with the steps it bounds what a sort can hold in memory."""
_ALLOWED: Final = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_DELETE,
        sqlite3.SQLITE_CREATE_TABLE,
        sqlite3.SQLITE_CREATE_INDEX,
        sqlite3.SQLITE_CREATE_VIEW,
        sqlite3.SQLITE_DROP_TABLE,
        sqlite3.SQLITE_DROP_INDEX,
        sqlite3.SQLITE_DROP_VIEW,
        sqlite3.SQLITE_ALTER_TABLE,
        sqlite3.SQLITE_REINDEX,
        sqlite3.SQLITE_TRANSACTION,
        sqlite3.SQLITE_RECURSIVE,
    }
)
_FUNCTIONS: Final = frozenset(
    """abs avg coalesce count current_date current_time current_timestamp date datetime dense_rank first_value
    group_concat ifnull iif instr julianday lag last_insert_rowid last_value lead length like lower ltrim max min
    nullif random rank replace round row_number rtrim strftime substr substring sum time total trim typeof
    unixepoch upper changes""".split()  # noqa: SIM905  a table to read
)
_TIMES: Final = ("date", "time", "datetime", "julianday", "unixepoch")
_LOCAL: Final = frozenset({"localtime", "utc"})
_NAME: Final = re.compile(r"[^\W\d]\w*")
_WRITES: Final = re.compile(r"\s*(?:insert|update|delete|replace|create|drop|alter)\b", re.IGNORECASE)
_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_LENGTH: _MAX_ROW,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: _MAX_SQL,
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
}


class Database:
    """Tables that live as long as one run. Close it."""

    def __init__(self, now: datetime, draws: Draws, meter: Meter) -> None:
        self._meter = meter
        self._exhausted = False
        self._connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
        self._connection.execute("PRAGMA temp_store = MEMORY")
        self._connection.execute(f"PRAGMA max_page_count = {_MAX_PAGES}")
        self._clock = _Clock(now)
        self._inject(draws)
        for limit, value in _LIMITS.items():
            self._connection.setlimit(limit, value)
        self._connection.set_authorizer(_authorise)
        self._connection.set_progress_handler(self._progress, _PROGRESS)

    def close(self) -> None:
        """Forget everything."""
        self._connection.close()
        self._clock.close()

    def has_table(self, table: str) -> bool:
        """Whether `table` exists."""
        query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND lower(name) = lower(?)"
        return bool(self.rows(query, (table,)))

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Value]:
        """The rows that `sql` gives, each a dict of column -> value. Raises Failure and LimitReached."""
        try:
            cursor = self._connection.execute(sql, tuple(map(_stored, values)))
            names = [column[0] for column in cursor.description or ()]
            return [self._meter.made(dict(zip(names, map(_loaded, row), strict=True))) for row in cursor]
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            if self._exhausted:
                self._meter.work(0)
            raise Failure(f"SQL: {error}", ErrorKind.TABLE) from None

    def written(self, sql: str, values: Sequence[Value] = ()) -> str:
        """`"True"` when `sql` was carried out, `"False"` when the tables did not allow it. Raises as `rows` does."""
        try:
            self.rows(sql, values)
        except Failure as failure:
            if "not authorized" in failure.text or "prohibited" in failure.text:
                raise
            return "False"
        return "True"

    def direct(self, sql: str) -> Value:
        """The rows of a query, or how a change went. Raises as `rows` does."""
        return self.written(sql) if _WRITES.match(sql) else self.rows(sql)

    def _progress(self) -> int:
        self._meter.steps -= _PROGRESS
        self._exhausted = self._meter.steps < 0
        return int(self._exhausted)

    def _inject(self, draws: Draws) -> None:
        """Replace what would ask the machine for the time or for chance."""
        connection, clock = self._connection, self._clock
        for name in _TIMES:
            connection.create_function(name, -1, clock.function(name, 0))
        connection.create_function("strftime", -1, clock.function("strftime", 1))
        for name in ("date", "time", "timestamp"):
            function = clock.function(name.replace("timestamp", "datetime"), 0)
            connection.create_function(f"current_{name}", 0, function)
        connection.create_function("random", 0, lambda: draws.below(2**63))


class _Clock:
    """SQLite's own date functions, asked on a connection of their own with `now` put in."""

    def __init__(self, now: datetime) -> None:
        self._now = now.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "seconds")
        self._connection = sqlite3.connect(":memory:")

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()

    def function(self, name: str, leading: int) -> Any:
        """The date function `name`, whose moment stands after `leading` other arguments."""

        def at(*arguments: Any) -> Any:
            given = [*arguments, "now"] if len(arguments) == leading else list(arguments)
            given = [self._now if item == "now" else item for item in given]
            if any(str(item).lower() in _LOCAL for item in given):
                raise ValueError("the time zone of the machine is not known")
            return self._connection.execute(f"SELECT {name}({','.join('?' * len(given))})", given).fetchone()[0]

        return at


def checked_name(name: str, what: str) -> str:
    """`name` in the quotes of SQL. Raises Failure when it is no plain name."""
    if not _NAME.fullmatch(name):
        raise Failure(f"'{name[:60]}' is no name of a {what}", ErrorKind.TABLE)
    return f'"{name}"'


def _authorise(action: int, first: str | None, second: str | None, _database: str | None, _trigger: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_OK if (second or "").lower() in _FUNCTIONS else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_READ and (first or "").lower().startswith("pragma_"):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _stored(value: Value) -> Any:
    """A value as a column holds it: containers as their text."""
    return value if value is None or isinstance(value, (int, float, str)) else str(plain(value))


def _loaded(value: Any) -> Value:
    """What a column holds as a value; AVAP has no bytes. Raises ValueError for an infinite number."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("the result is too large for a decimal number")
    return value.hex() if isinstance(value, bytes) else value
