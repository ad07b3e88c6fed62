"""One set of verbs for every kind of location, each ending in a result or an error at its deadline."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from core.disk import files, objects
from core.disk.deadline import within
from core.disk.locations import is_object


def replace(file: Path, content: bytes) -> None:
    """Make `content` the whole of `file`, or leave `file` as it was; durable on return. Raises StoreError.

    Two writers at once both succeed and leave one of the two contents, whole.
    """
    if is_object(file):
        objects.put(file, content)
    else:
        within(lambda: files.replace(file, content), file)


def read(file: Path) -> bytes | None:
    """The content of `file`; None where there is none. Raises StoreError."""
    return objects.read(file) if is_object(file) else within(lambda: files.read(file), file)


def read_part(file: Path, start: int, length: int) -> bytes | None:
    """`length` bytes of `file` from `start` on, fewer where it ends; None where there is none. Raises StoreError."""
    if is_object(file):
        return objects.read_part(file, start, length)
    return within(lambda: files.read_part(file, start, length), file)


def each(folder: Path, suffix: str = "") -> Iterator[tuple[str, bytes]]:
    """Name and content of the files right in `folder` whose names end so, sorted. Raises StoreError."""
    if is_object(folder):
        yield from objects.each(folder, suffix)
        return
    for file in within(lambda: sorted(folder.glob(f"*{suffix}")), folder):
        content = read(file) if is_file(file) else None
        if content is not None:
            yield file.name, content


def folders(root: Path) -> Sequence[Path]:
    """The folders right below `root`, sorted; none where it is not there. Raises StoreError."""
    return objects.folders(root) if is_object(root) else within(lambda: files.folders(root), root)


def listing(folder: Path) -> frozenset[str]:
    """The names right in `folder`, of files and of folders; none where it is not there. Raises StoreError."""
    return objects.listing(folder) if is_object(folder) else within(lambda: files.listing(folder), folder)


def is_file(file: Path) -> bool:
    """Whether `file` is there. Raises StoreError when that cannot be told."""
    return objects.is_there(file) if is_object(file) else within(file.is_file, file)


def remove(file: Path) -> None:
    """Remove `file` if it is there. Raises StoreError."""
    if is_object(file):
        objects.remove([file])
    else:
        within(lambda: files.remove(file), file)


def make_folder(folder: Path, *, below: Path | None = None) -> None:
    """Make `folder` and its parents, durable on return. Raises StoreError.

    With `below`, one of the parents, nothing is made unless that one is there: where a mount went away, its mount
    point must not fill up. Object stores have no folders.
    """
    if not is_object(folder):
        within(lambda: files.make_folder(folder, below), folder)


def dated(root: Path, depth: int, names: Collection[str]) -> Mapping[Path, int]:
    """The files called one of `names`, `depth` levels below `root` -> when they last changed, in ns.

    Raises StoreError, ConfigError when there is no such bucket; a folder that is not there holds nothing.
    """
    if is_object(root):
        return objects.dated(root, depth, names)
    return within(lambda: files.dated(root, depth, names), root)


def move(source: Path, target: Path, *, leaving: str) -> bool:
    """Rename the folder `source`; False when there is nothing in it but `leaving`. Raises StoreError.

    On an object store everything but `leaving` is copied and then removed: a kill leaves the whole under one name, and
    possibly a part of it under the other.
    """
    if is_object(source):
        return objects.move(source, target, leaving=leaving)
    within(lambda: files.move(source, target), source)
    return True
