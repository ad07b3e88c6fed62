"""The truth file: one line per spoiled reply, on disk before the reply leaves, never two for one message."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from core.errors import ConfigError
from core.model.calibration import InjectedFault


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
