"""Reading the files back that wandb writes offline: what is in them, and whether they are whole.

A `.wandb` file is a LevelDB log (doc/log_format.md of LevelDB): after a header of 7 bytes (`:W&B`, a magic number, a
version), blocks of 32 KiB hold chunks of checksum (4 bytes), length (2, little endian), kind (1) and content; a record
is one chunk, or a first, middle ones and a last. A block's last 6 bytes or fewer are padding.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MARK = b":W&B"
HEADER = 7
BLOCK = 32 * 1024
CHUNK = struct.Struct("<IHB")
FILES = "wandb/offline-run-*/run-*.wandb"
SYNCED = ".synced"
"""Ending of wandb's own mark beside a file that it has uploaded."""
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


@dataclass(frozen=True)
class SpooledRun:
    """One W&B run as its offline file has it."""

    id: str
    steps: tuple[int, ...]
    """Of its history rows, in the order written."""
    artifacts: int
    is_whole: bool
    """Whether its writer came to its end."""


def payloads(content: bytes) -> Iterator[bytes]:
    """The whole records in `content`; a torn end is left out. Raises ValueError for what is no such file."""
    if content[: len(MARK)] != MARK:
        raise ValueError("not a W&B file")
    position, part = HEADER, b""
    while position + CHUNK.size <= len(content):
        room = BLOCK - position % BLOCK
        if room < CHUNK.size:
            position += room
            continue
        _, length, kind = CHUNK.unpack_from(content, position)
        start = position + CHUNK.size
        position = start + length
        if kind not in (FULL, FIRST, MIDDLE, LAST) or position > len(content):
            return
        body = content[start:position]
        part = body if kind in (FULL, FIRST) else part + body
        if kind in (FULL, LAST):
            yield part


def records(file: Path) -> Iterator[Any]:
    """The wandb_internal_pb2.Record messages of `file`, in order."""
    from wandb.proto.wandb_internal_pb2 import Record  # type: ignore[attr-defined]  # noqa: TID251

    for payload in payloads(file.read_bytes()):
        record = Record()
        record.ParseFromString(payload)
        yield record


def present(folder: Path) -> frozenset[str]:
    """Ids of the runs that have a file below `folder`, whole or not."""
    return frozenset(map(_id, folder.glob(FILES)))


def uploaded(folder: Path) -> frozenset[str]:
    """Ids of the runs below `folder` that `wandb sync` has sent, by the mark it leaves."""
    return frozenset(map(_id, folder.glob(FILES + SYNCED)))


def mark_uploaded(folder: Path, ids: Collection[str]) -> None:
    """Have `wandb sync` pass the files of `ids` over: it would add their points to those that are there already."""
    for file in folder.glob(FILES):
        if _id(file) in ids:
            file.with_name(file.name + SYNCED).touch()


def spooled(folder: Path) -> tuple[SpooledRun, ...]:
    """The offline runs below `folder`, by id; files that are none are left out."""
    files = sorted(folder.glob(FILES))
    found = [run for run in map(_read, files) if run is not None]
    return tuple(sorted(found, key=lambda run: run.id))


def _id(file: Path) -> str:
    return file.name.removeprefix("run-").removesuffix(SYNCED).removesuffix(".wandb")


def _read(file: Path) -> SpooledRun | None:
    from google.protobuf.message import DecodeError

    try:
        found = list(records(file))
    except (OSError, ValueError, DecodeError):
        return None
    kinds = [record.WhichOneof("record_type") for record in found]
    return SpooledRun(
        id=next((record.run.run_id for record in found if record.HasField("run")), ""),
        steps=tuple(record.history.step.num for record in found if record.HasField("history")),
        artifacts=kinds.count("artifact"),
        is_whole="exit" in kinds,
    )
