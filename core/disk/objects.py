"""Whole objects on an object store, through fsspec: each is put in one request, or in parts that appear at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from core.disk.deadline import within
from core.disk.refusals import is_conflict, is_taken, lacks_bucket, no_bucket, told
from core.errors import AssayError, StoreError

Result = TypeVar("Result")
BATCH = 200
"""Objects read at a time, so that a folder of many does not have to fit into memory."""
CONFLICTS = 4
"""How often a conditional put that met another one under way is sent again."""


def put(file: Path, content: bytes) -> None:
    """Make `content` the whole of the object `file`. Raises StoreError, ConfigError."""
    try:
        _asked(file, lambda store, key: store.pipe_file(key, content))
    except FileNotFoundError as error:
        raise no_bucket(file) from error


def create(file: Path, content: bytes) -> None:
    """Put `file` where there is no object, in one atomic step. Raises FileExistsError, StoreError, ConfigError.

    A put whose reply was lost may be found to exist on the second attempt: compare contents to know one's own.
    """
    for attempt in range(CONFLICTS):
        try:
            _asked(file, lambda store, key: store.pipe_file(key, content, mode="create"))
        except StoreError as error:
            if is_taken(error.__cause__):
                raise FileExistsError(str(file)) from error
            if attempt + 1 == CONFLICTS or not is_conflict(error.__cause__):
                raise
        else:
            return


def creates_once(probe: Path) -> bool:
    """Whether the store really refuses to create an object twice; some ignore the condition. Raises as `create`.

    `probe` is put and removed again. Without this promise two drivers could overwrite each other's rows.
    """
    remove([probe])
    create(probe, b"1")
    try:
        create(probe, b"2")
    except FileExistsError:
        return True
    else:
        return False
    finally:
        remove([probe])


def read(file: Path) -> bytes | None:
    """The content of `file`; None where there is none. Raises StoreError, ConfigError."""
    with contextlib.suppress(FileNotFoundError):
        return bytes(_asked(file, lambda store, key: store.cat_file(key)))
    return None


def read_part(file: Path, start: int, length: int) -> bytes | None:
    """`length` bytes of `file` from `start` on; None where there is none. Raises StoreError, ConfigError."""
    with contextlib.suppress(FileNotFoundError):
        return bytes(_asked(file, lambda store, key: store.cat_file(key, start=start, end=start + length)))
    return None


def each(folder: Path, suffix: str) -> Iterator[tuple[str, bytes]]:
    """Name and content of the objects right in `folder` whose names end so, sorted; BATCH requests at a time."""
    listed = [name for name in names(folder) if name.endswith(suffix)]
    for start in range(0, len(listed), BATCH):
        keys = {_key(folder / name): name for name in listed[start : start + BATCH]}
        found = _asked(folder, lambda store, _, keys=keys: store.cat(list(keys), on_error="return"))
        for key, name in keys.items():
            if isinstance(found[key], bytes):
                yield name, found[key]
            elif not isinstance(found[key], FileNotFoundError):
                raise told(found[key], folder) from found[key]


def read_all(folder: Path, suffix: str) -> Mapping[str, bytes]:
    """`each`, as one mapping."""
    return dict(each(folder, suffix))


def folders(root: Path) -> Sequence[Path]:
    """The prefixes right below `root` that hold something, sorted. Raises StoreError, ConfigError."""
    return [root / name for name in _listed(root, "directory")]


def names(folder: Path) -> Sequence[str]:
    """The objects right in `folder`, sorted by name. Raises StoreError, ConfigError."""
    return _listed(folder, "file")


def listing(folder: Path) -> frozenset[str]:
    """The names right in `folder`, of objects and of prefixes, in one request. Raises StoreError, ConfigError."""
    return frozenset(_listed(folder, "file", "directory"))


def is_there(file: Path) -> bool:
    """Whether there is an object `file`."""
    return bool(_asked(file, lambda store, key: store.isfile(key)))


def remove(files: Sequence[Path]) -> None:
    """Remove those of `files` that are there. Raises StoreError, ConfigError."""
    if files:
        with contextlib.suppress(FileNotFoundError):
            _asked(files[0], lambda store, _: store.rm([_key(file) for file in files]))


def dated(root: Path, depth: int, wanted: Collection[str]) -> Mapping[Path, int]:
    """The objects called one of `wanted`, `depth` levels below `root` -> when they were put, in ns."""
    names(root)  # A search finds nothing in a bucket that is not there; a listing says so.
    found = _asked(root, lambda store, key: store.find(key, maxdepth=depth, detail=True))
    files = {root / _below(root, key): info for key, info in found.items() if _below(root, key).count("/") == depth - 1}
    return {file: _put_at_ns(info) for file, info in files.items() if file.name in wanted}


def move(source: Path, target: Path, *, leaving: str) -> bool:
    """Copy every object below `source` but `leaving` to `target`, then remove them; False when there is none.

    The deepest go first: what says that a run is there at all is copied last and removed last.
    """
    keys = sorted(_asked(source, lambda store, key: store.find(key)), key=lambda key: (-key.count("/"), key))
    parts = [_below(source, key) for key in keys]
    moving = [part for part in parts if part.partition("/")[0] != leaving]
    for part in moving:
        copy = _key(target / part)
        _asked(source / part, lambda store, key, copy=copy: store.cp_file(key, copy))
    for part in moving:
        remove([source / part])
    return bool(moving)


def _listed(folder: Path, *kinds: str) -> list[str]:
    try:
        entries = _asked(folder, lambda store, key: store.ls(key, detail=True))
    except FileNotFoundError:
        return []
    return sorted(entry["name"].rstrip("/").rpartition("/")[2] for entry in entries if entry["type"] in kinds)


def _asked(file: Path, request: Callable[..., Result]) -> Result:
    """What `request(store, key of file)` answers before the deadline. Raises StoreError, ConfigError.

    FileNotFoundError of an object goes through: what it means depends on what was asked.
    """
    store = cast("Any", file).fs
    with _told(file):
        return within(lambda: request(store, _key(file)), file)


@contextlib.contextmanager
def _told(file: Path) -> Iterator[None]:
    try:
        yield
    except AssayError:
        raise
    except FileNotFoundError as error:
        if lacks_bucket(error):
            raise no_bucket(file) from error
        raise
    except Exception as error:
        raise told(error, file) from error


def _key(file: Path) -> str:
    return str(cast("Any", file).path)


def _below(root: Path, key: str) -> str:
    return key.removeprefix(_key(root).rstrip("/") + "/")


def _put_at_ns(info: Mapping[str, Any]) -> int:
    """Stores name it differently: S3 LastModified, GCS mtime, memory created."""
    moment = next((info[name] for name in ("LastModified", "mtime", "created") if name in info), 0)
    return int((moment.timestamp() if isinstance(moment, datetime) else float(moment)) * 1e9)
