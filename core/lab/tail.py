"""The end of a file of rows on a mounted file system: opened once, grown by whole lines, each batch synced."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from core.disk import require_same, store_error, sync_folder, within
from core.errors import AssayError
from core.lab.lines import recover


class FileTail:
    """core.lab.journal.Tail over one file."""

    def __init__(self, file: Path) -> None:
        """Open `file`, made when absent, its torn end cut off. Raises StoreError."""
        self._file = file
        self._under_way = False
        self.rows: Mapping[str, str]
        self._descriptor, self._length, self.rows = within(self._opened, file)

    def append(self, batch: bytes) -> None:
        """Add `batch`. Raises StoreError; the file then holds what it held, unless the deadline passed."""
        self._under_way = True
        within(lambda: self._append(batch), self._file)

    def close(self) -> None:
        """Close the file, unless a write that was given up still has it."""
        if not self._under_way:
            with contextlib.suppress(AssayError, OSError):
                within(lambda: os.close(self._descriptor), self._file)

    def _opened(self) -> tuple[int, int, dict[str, str]]:
        try:
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise store_error(error, self._file) from error
        try:
            rows = self._recovered(descriptor)
            return descriptor, os.fstat(descriptor).st_size, rows
        except BaseException:
            os.close(descriptor)
            raise

    def _recovered(self, descriptor: int) -> dict[str, str]:
        try:
            content = self._file.read_bytes()
            rows, taken = recover(content, file=str(self._file))
            if taken < len(content):
                os.ftruncate(descriptor, taken)
            if taken and content[taken - 1 : taken] != b"\n":
                os.write(descriptor, b"\n")
            os.fsync(descriptor)
            sync_folder(self._file.parent)
        except OSError as error:
            raise store_error(error, self._file) from error
        return rows

    def _append(self, batch: bytes) -> None:
        data = batch
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
            os.fsync(self._descriptor)
            self._length += len(batch)
            require_same(self._descriptor, self._file)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._length)
            raise store_error(error, self._file) from error
        finally:
            self._under_way = False
