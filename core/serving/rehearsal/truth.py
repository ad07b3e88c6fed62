"""The truth file: one line per spoiled reply, durable before the reply leaves, never two for one message.

On an object store nothing can be appended to: beside the file, which stays empty, each line is an object of its own.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from core.disk import is_object, objects, replace
from core.errors import AssayError, ConfigError
from core.model.calibration import InjectedFault


class Truth(Protocol):
    """Where a server writes down what it spoiled."""

    def tell(self, fault: InjectedFault) -> None:
        """Write `fault` down unless its message is known; returns when it is durable. Raises OSError when it is not."""


def open_truth(path: Path) -> Truth:
    """The truth file `path`, made when absent. Raises ConfigError, StoreError."""
    return TruthObjects(path) if is_object(path) else TruthFile(path)


class TruthObjects:
    """A folder of objects beside the empty `path`, one for each message."""

    def __init__(self, path: Path) -> None:
        """Put `path`, which says that a server of ours was here. Raises ConfigError, StoreError."""
        replace(path, b"")
        self._folder = path.with_suffix(".parts")

    def tell(self, fault: InjectedFault) -> None:
        """As Truth.tell."""
        try:
            objects.create(self._folder / f"{fault.message_id}.jsonl", fault.model_dump_json().encode() + b"\n")
        except FileExistsError:
            return
        except AssayError as error:
            raise OSError(str(error)) from error


class TruthFile:
    """An append-only JSONL file of InjectedFault. One server at a time writes to it."""

    def __init__(self, path: Path) -> None:
        """Open or create `path`. What a killed server was in the middle of writing is cut off: it was never sent.

        Raises ConfigError when that cannot be done, or when the file holds something else.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            content = path.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]
            self._known = {InjectedFault.model_validate_json(line).message_id for line in whole.splitlines() if line}
            os.ftruncate(self._file, len(whole))
        except (OSError, ValidationError) as error:
            raise ConfigError(
                f"{path} cannot serve as truth file: {error}", file=str(path), remedy="name another with --truth"
            ) from error

    def tell(self, fault: InjectedFault) -> None:
        """Write `fault` down unless its message is known; returns when it is on disk. Raises OSError when it is not."""
        if fault.message_id in self._known:
            return
        line = fault.model_dump_json().encode() + b"\n"
        start = os.fstat(self._file).st_size
        if os.write(self._file, line) != len(line):
            os.ftruncate(self._file, start)
            raise OSError("the truth file could not be written whole: is the disk full?")
        os.fsync(self._file)
        self._known.add(fault.message_id)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
