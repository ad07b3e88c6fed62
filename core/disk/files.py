"""Whole files on a mounted file system."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from core.disk.faults import store_error

_serial = itertools.count()


def replace(file: Path, content: bytes) -> None:
    """Write beside `file`, sync, rename. Raises StoreError; a kill leaves at most a `.part` file."""
    part = file.with_name(f".{file.name}.{os.getpid()}-{next(_serial)}.part")
    try:
        _write(part, content)
        part.replace(file)
        sync_folder(file.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise store_error(error, file) from error


def _write(part: Path, content: bytes) -> None:
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(file: Path) -> bytes | None:
    """The content of `file`; None where there is none. Raises StoreError."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise store_error(error, file) from error


def read_part(file: Path, start: int, length: int) -> bytes | None:
    """`length` bytes of `file` from `start` on; None where there is none. Raises StoreError."""
    try:
        with file.open("rb", buffering=0) as opened:
            return os.pread(opened.fileno(), length, start)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise store_error(error, file) from error


def folders(root: Path) -> Sequence[Path]:
    """The folders right below `root`, sorted; none where it is not there. Raises StoreError."""
    try:
        return sorted(path for path in root.iterdir() if path.is_dir())
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise store_error(error, root) from error


def listing(folder: Path) -> frozenset[str]:
    """The names right in `folder`; none where it is not there. Raises StoreError."""
    try:
        return frozenset(path.name for path in folder.iterdir())
    except FileNotFoundError:
        return frozenset()
    except OSError as error:
        raise store_error(error, folder) from error


def remove(file: Path) -> None:
    """Remove `file` if it is there. Raises StoreError."""
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise store_error(error, file) from error


def make_folder(folder: Path, below: Path | None = None) -> None:
    """Make `folder` and what is missing above it, up to `below`, durable on return. Raises StoreError."""
    above = [path for path in folder.parents if below is None or path.is_relative_to(below)]
    try:
        missing = [path for path in (folder, *above) if path != below and not path.exists()]
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            sync_folder(path.parent)
        if not folder.is_dir():
            folder.mkdir()
    except OSError as error:
        raise store_error(error, folder) from error


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable: without it a new file can vanish with the power. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def dated(root: Path, depth: int, names: Collection[str]) -> Mapping[Path, int]:
    """The files called one of `names`, `depth` levels below `root` -> when they last changed, in ns."""
    found = {}
    for file in root.glob("/".join("*" * depth)):
        if file.name in names:
            with contextlib.suppress(OSError):
                found[file] = file.stat().st_mtime_ns
    return found


def move(source: Path, target: Path) -> None:
    """Rename the folder `source`. Raises StoreError."""
    try:
        source.rename(target)
        sync_folder(target.parent)
    except OSError as error:
        raise store_error(error, source) from error
