"""Tables: manual section V. Fields are a text with commas, or a list of names."""

from __future__ import annotations

import re
from typing import Final

from core.avap.execution.commands.registry import command
from core.avap.execution.database import checked_name
from core.avap.execution.failures import ErrorKind, Failure
from core.avap.execution.formatting import text_of
from core.avap.execution.values import Value, kind_of
from core.avap.execution.world import World

_MAX_FIELDS: Final = 2000
_COMMA: Final = re.compile(r",(?![^()]*\))")
_TYPE: Final = re.compile(r"[\w ]*(?:\([0-9, ]*\))?[\w ]*")


@command("ormCheckTable")
def orm_check_table(world: World, table: Value) -> Value:
    """`"True"` when the table exists, else `"False"`."""
    return str(world.database.has_table(text_of(table, world.meter)))


@command("ormCreateTable")
def orm_create_table(world: World, fields: Value, field_types: Value, table: Value) -> Value:
    """Make a table: `"True"`, or `"False"` when there is one of that name."""
    names, types = _list(fields, "fields"), _list(field_types, "field types")
    if len(names) != len(types):
        raise Failure(f"{len(names)} fields have {len(types)} types", ErrorKind.TABLE)
    if not all(_TYPE.fullmatch(item) for item in types):
        raise Failure(f"'{field_types}' are no field types", ErrorKind.TABLE)
    columns = ", ".join(f"{checked_name(name, 'field')} {item}" for name, item in zip(names, types, strict=True))
    return world.database.written(f"CREATE TABLE {_table(world, table)} ({columns})")


@command("ormAccessSelect")
def orm_access_select(world: World, fields: Value, table: Value, selector: Value = None) -> Value:
    """The rows that fit the selector, or all: a list of dicts."""
    columns = ", ".join(_list(fields, "fields")) or "*"
    sql = f"SELECT {columns} FROM {_table(world, table)}{_where(world, selector)}"  # noqa: S608
    return world.database.rows(sql)


@command("ormAccessInsert", variables=("values",))
def orm_access_insert(world: World, fields: Value, values: Value, table: Value) -> Value:
    """Add a row: `"True"`, or `"False"` when the table did not take it."""
    names = _list(fields, "fields")
    columns = ", ".join(checked_name(name, "field") for name in names)
    sql = f"INSERT INTO {_table(world, table)} ({columns}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608
    return world.database.written(sql, _row(names, values))


@command("ormAccessUpdate", variables=("values",))
def orm_access_update(world: World, fields: Value, values: Value, table: Value, selector: Value) -> Value:
    """Change the rows that fit the selector: `"True"`, or `"False"` when the table did not take it."""
    names = _list(fields, "fields")
    columns = ", ".join(f"{checked_name(name, 'field')} = ?" for name in names)
    sql = f"UPDATE {_table(world, table)} SET {columns}{_where(world, selector)}"  # noqa: S608
    return world.database.written(sql, _row(names, values))


@command("ormDirect")
def orm_direct(world: World, sql: Value) -> Value:
    """The rows of a query; of a change `"True"` or `"False"`."""
    return world.database.direct(text_of(sql, world.meter))


def _table(world: World, table: Value) -> str:
    return checked_name(text_of(table, world.meter).strip(), "table")


def _where(world: World, selector: Value) -> str:
    """The condition of a statement, as the program has it: the tables are the program's own too."""
    text = "" if selector is None else text_of(selector, world.meter).strip()
    return f" WHERE {text}" if text else ""


def _list(value: Value, what: str) -> list[str]:
    if isinstance(value, str) and len(value) > _MAX_FIELDS:
        raise Failure(f"{what} are longer than {_MAX_FIELDS} signs", ErrorKind.TABLE)
    if isinstance(value, str):
        return [part.strip() for part in _COMMA.split(value) if part.strip()]
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return [str(item).strip() for item in value]
    raise Failure(f"{what} are a text with commas, not {kind_of(value)}", ErrorKind.TYPE)


def _row(names: list[str], values: Value) -> list[Value]:
    """The values in the order of the fields: of a list, of a dict by its keys, or the one value of the one field."""
    if isinstance(values, dict):
        missing = [name for name in names if name not in values]
        if missing:
            raise Failure(f"the values have no '{missing[0]}'", ErrorKind.TABLE)
        return [values[name] for name in names]
    row: list[Value] = list(values) if isinstance(values, (list, tuple)) else [values]
    if len(row) != len(names):
        raise Failure(f"{len(names)} fields have {len(row)} values", ErrorKind.TABLE)
    return row
