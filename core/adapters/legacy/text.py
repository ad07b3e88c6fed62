"""JSON of unknown origin, taken only where it means one thing: every refusal names file and line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.errors import ConfigError

LARGEST = 64 * 2**20
"""Bytes of a file that is still read: an evaluation of 10,000 entries takes a tenth of it."""
LONGEST_NUMBER = 300
DEEPEST = 100
"""Levels of objects and lists."""
BOMS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"\x1f\x8b": "compressed with gzip"}
FLATTEN = "export it again, flatter"
UTF8_BOM = b"\xef\xbb\xbf"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|-?(?:Infinity|[0-9][0-9.eE+-]*)|[A-Za-z]+')


def read_file(file: Path) -> bytes:
    """The bytes of `file`. Raises ConfigError for what cannot be read or is larger than LARGEST."""
    try:
        size = file.stat().st_size
        if size > LARGEST:
            raise _fault(file, 0, f"has {size:,} bytes, more than the {LARGEST:,} that are read",
                         "split it by evaluation, or drop passages and whole contexts from it")  # fmt: skip
        return file.read_bytes()
    except OSError as error:
        raise _fault(file, 0, f"cannot be read: {error.strerror}", "check the path") from error


def parsed(content: bytes, file: Path) -> Any:
    """The JSON value in `content`, of plain types; `file` is for messages.

    Raises ConfigError for what is not UTF-8 or not JSON, for a key that is there twice, for NaN and infinities, for
    numbers beyond what a float holds, and for half a character.
    """
    text = _decoded(content, file)
    try:
        value = json.loads(text, parse_int=_integer)
    except json.JSONDecodeError as error:
        raise _fault(file, error.lineno, f"not JSON: {error.msg}, column {error.colno}", _mending(error)) from error
    except RecursionError as error:
        raise _fault(file, 0, "is nested too deeply to be an evaluation", FLATTEN) from error
    for what, position, remedy in _suspects(text):
        raise _fault(file, text.count("\n", 0, position) + 1, what, remedy)
    return value


def _decoded(content: bytes, file: Path) -> str:
    kind = BOMS.get(content[:2])
    if kind is not None:
        raise _fault(file, 1, f"is {kind}, not plain UTF-8", "convert it, and keep the original elsewhere")
    try:
        return content.removeprefix(UTF8_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _fault(file, line, f"not UTF-8: byte {error.object[error.start]:#04x}",
                     "convert it, as with `iconv -f WINDOWS-1252 -t UTF-8`") from error  # fmt: skip


def _integer(text: str) -> int | float:
    """Python refuses integers of thousands of digits without saying where; these are found by their length below."""
    return int(text) if len(text) <= LONGEST_NUMBER else math.inf


def _mending(error: json.JSONDecodeError) -> str:
    if error.msg == "Extra data":
        return "one file holds one JSON value: put JSON lines into a list"
    return "mend it, or export it again; a file cut off while being written cannot be taken"


def _suspects(text: str) -> Iterator[tuple[str, int, str]]:
    """What is JSON to Python and means nothing certain, with its position, in a text known to be well-formed."""
    keys: list[set[str] | None] = []
    expects_key = False
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in "{[":
            keys.append(set() if token == "{" else None)
            expects_key = token == "{"
            if len(keys) > DEEPEST:
                yield "is nested too deeply to be an evaluation", found.start(), FLATTEN
        elif token in "}]":
            keys.pop()
            expects_key = False
        elif token == ",":
            expects_key = keys[-1] is not None
        elif token[0] == '"':
            yield from _in_text(token, found.start(), keys[-1] if expects_key and keys else None)
            expects_key = False
        elif token != ":":
            yield from _in_number(token, found.start())


def _in_text(token: str, position: int, known: set[str] | None) -> Iterator[tuple[str, int, str]]:
    value: str = json.loads(token)
    if "\\u" in token and not _is_whole(value):
        yield f"half of a character stands alone in {token[:40]}", position, "export it again with whole characters"
    if known is not None:
        if value in known:
            yield f"the key {token[:60]} is there twice in one object", position, "remove the one that is not meant"
        known.add(value)


def _in_number(token: str, position: int) -> Iterator[tuple[str, int, str]]:
    if token in {"true", "false", "null"}:
        return
    if token in {"NaN", "Infinity", "-Infinity"}:
        yield f"{token} is no number of JSON", position, "write null where a metric could not be computed"
    elif len(token) > LONGEST_NUMBER or not math.isfinite(float(token)):
        yield f"the number {token[:40]} is beyond what can be held", position, "write the number that is meant"


def _is_whole(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _fault(file: Path, line: int, what: str, remedy: str) -> ConfigError:
    at = f"{file}:{line}" if line else str(file)
    return ConfigError(f"{at}: {what}", file=str(file), line=line, remedy=remedy)
