"""The results root and the run folders below it.

<results>/<experiment>/<name>-<fp12>/
    config.yaml  record.json            written before the first call
    cells/<cell>/samples.jsonl          append-only; core.lab.segments says how on an object store
    cells/<cell>/done.json              put there once every row is there
    recordings/  logs/                  of the session
    report.*     outcome.json           outcome last
    lock                                held by the one driver; on an object store a folder, see core.lab.lease

The root is a folder or a place on an object store (core.disk.location).
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import logging
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from core.disk import dated, each, is_file, is_object, location, make_folder, move, read, remove, replace
from core.errors import AssayError, ConfigError, StoreError
from core.lab import segments
from core.lab.journal import Held, Journal
from core.lab.lease import MACHINE, Times
from core.lab.lines import recover
from core.lab.lock import is_driven, only_driver
from core.lab.nearest import did_you_mean
from core.lab.outcome import CellDone, Outcome, Status
from core.model.record import RunRecord

_log = logging.getLogger(__name__)
FINGERPRINT_SHOWN = 12
MARKS = ("lock", "config.yaml", "outcome.json")
"""The files of a run that say when it was touched last."""
REMEDIES = {
    "outcome.json": "delete it: the next driver makes it again",
    "done.json": "delete it: the next driver makes it again, from the rows as they stand",
}
Stored = TypeVar("Stored", bound=BaseModel)


class RunFolder:
    """One run as it is kept. Reading raises StoreError for what does not read back; absence is None.

    While it is `driven`, every write first makes sure that this driver still is the only one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held: Held | None = None

    @property
    def name(self) -> str:
        """`<experiment>/<name>-<fp12>`."""
        return f"{self.path.parent.name}/{self.path.name}"

    @property
    def config(self) -> Path:
        """The configuration as it was resolved, `runtime` excepted."""
        return self.path / "config.yaml"

    @property
    def record(self) -> RunRecord | None:
        """What the run stands on."""
        return self._stored("record.json", RunRecord)

    @property
    def outcome(self) -> Outcome | None:
        """How the last driver ended; None when it was killed, or none has ended yet."""
        return self._stored("outcome.json", Outcome)

    @property
    def status(self) -> Status:
        """Where the run is now."""
        if is_driven(self.path / "lock"):
            return Status.RUNNING
        outcome = self.outcome
        return outcome.status if outcome else Status.INTERRUPTED

    @contextlib.contextmanager
    def driven(self, times: Times = MACHINE) -> Iterator[None]:
        """Make the folder and be its only driver. Raises StoreError when there is another."""
        make_folder(self.path)
        with only_driver(self.path / "lock", times) as held:
            self._held = held
            try:
                yield
            finally:
                self._held = None

    @contextlib.contextmanager
    def logging(self, scratch: Path) -> Iterator[Path]:
        """A local folder for the logs of child processes, which write files as they go.

        It is `logs/` of the run, or below `scratch`, copied to `logs/` at the end. Logs are no part of the record: a
        copy that fails is told and fails nothing, and a driver that is killed leaves them in `scratch`.
        """
        logs = self.path / "logs"
        if not is_object(self.path):
            yield logs
            return
        local = scratch / "logs" / self.name
        try:
            yield local
        finally:
            try:
                for name, content in each(local):
                    replace(logs / name, content)
            except AssayError as error:
                _log.warning("the logs stay in %s: %s", local, error)

    def write(self, name: str, content: bytes) -> None:
        """Replace the file `name` as a whole. Raises StoreError."""
        self._check()
        replace(self.path / name, content)

    def write_model(self, name: str, model: BaseModel) -> None:
        """Replace the file `name` by `model` as indented JSON."""
        self.write(name, f"{model.model_dump_json(indent=2)}\n".encode())

    def journal(self, cell: str) -> Journal:
        """The rows of `cell`, open for appending."""
        self._check()
        make_folder(self._samples(cell).parent, below=self.path)
        return Journal(self._samples(cell), self._held)

    def rows(self, cell: str) -> Mapping[str, str]:
        """The durable rows of `cell`, id -> JSON text, in the order written. Changes nothing on disk."""
        return recover(self._content(cell), file=str(self._samples(cell)))[0]

    def mark_done(self, cell: str) -> Mapping[str, str]:
        """Declare that every row of `cell` is there. Returns them as rows() does."""
        self._check()
        file = self._samples(cell)
        content = segments.compact(file) if is_object(file) else self._content(cell)
        rows, _ = recover(content)
        done = CellDone(rows=len(rows), sha256=hashlib.sha256(content).hexdigest())
        self.write_model(f"cells/{cell}/done.json", done)
        return rows

    def is_done(self, cell: str) -> bool:
        """Whether every row of `cell` is there. Raises StoreError when its rows changed since they were."""
        done = self._stored(f"cells/{cell}/done.json", CellDone)
        if done is not None and hashlib.sha256(self._content(cell)).hexdigest() != done.sha256:
            file = str(self._samples(cell))
            raise StoreError(f"{file} is not what it was when its cell was done", file=file,
                             remedy="restore it from a copy, or run again with --fresh")  # fmt: skip
        return done is not None

    def holds(self, files: Mapping[str, str]) -> bool:
        """Whether each of `files`, name -> sha256, is there as it was written."""
        return all(_sha256(self.path / name) == sha256 for name, sha256 in files.items())

    def forget_outcome(self) -> None:
        """Remove the outcome of the driver before: from now on the run is under way."""
        self._check()
        remove(self.path / "outcome.json")

    def set_aside(self) -> Path | None:
        """Rename the folder to the first free `<folder>.before-N`; None when there is nothing to keep."""
        if not self.path.exists():
            return None
        with self.driven():
            free = (self.path.with_name(f"{self.path.name}.before-{n}") for n in itertools.count(1))
            target = next(path for path in free if not path.exists())
            return target if move(self.path, target, leaving="lock") else None

    def _check(self) -> None:
        if self._held is not None:
            self._held.check()

    def _samples(self, cell: str) -> Path:
        return self.path / "cells" / cell / "samples.jsonl"

    def _content(self, cell: str) -> bytes:
        file = self._samples(cell)
        return segments.content(file) if is_object(file) else read(file) or b""

    def _stored(self, name: str, model: type[Stored]) -> Stored | None:
        file = self.path / name
        content = read(file)
        try:
            return None if content is None else model.model_validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = "".join(f"{step}: " for step in first["loc"])
            remedy = REMEDIES.get(file.name, "restore it, or run again with --fresh (the old run is kept aside)")
            raise StoreError(
                f"{file} does not read back: {where}{first['msg']}", file=str(file), remedy=remedy
            ) from error


def _sha256(file: Path) -> str | None:
    """None for a file that is not there or cannot be read."""
    try:
        content = read(file)
    except StoreError:
        return None
    return None if content is None else hashlib.sha256(content).hexdigest()


def run_folder(results: Path, experiment: str, name: str, fingerprint: str) -> RunFolder:
    """Where the run of that identity lives."""
    return RunFolder(results / experiment / f"{name}-{fingerprint[:FINGERPRINT_SHOWN]}")


def runs(results: Path) -> tuple[RunFolder, ...]:
    """All runs below `results`, the one touched last first."""
    touched: dict[Path, int] = {}
    marks = dated(results, 3, MARKS)
    for file, moment in marks.items():
        touched[file.parent] = max(moment, touched.get(file.parent, 0))
    found = [RunFolder(folder) for folder in touched if (folder / "config.yaml") in marks]
    return tuple(sorted(found, key=lambda run: (-touched[run.path], run.name)))


def find_run(results: Path, wanted: str) -> RunFolder:
    """The run that `wanted` means: a folder, a name, the start of a fingerprint, or `latest`. Raises ConfigError."""
    if is_file(location(wanted) / "config.yaml"):
        return RunFolder(location(wanted))
    known = runs(results)
    if wanted == "latest" and known:
        return known[0]
    named = [run for run in known if wanted in _names(run)]
    hits = named or [run for run in known if _fingerprint(run).startswith(wanted)]
    if len(hits) == 1:
        return hits[0]
    among = ", ".join(run.name for run in (hits or known)[:8]) or "none"
    near = did_you_mean(wanted, [name for run in known for name in _names(run)])
    what = f"{len(hits)} runs match {wanted!r}" if hits else f"no run matches {wanted!r} in {results}"
    raise ConfigError(what, file=str(results), remedy=f"{near}runs: {among}")


def _names(run: RunFolder) -> tuple[str, ...]:
    return tuple(name for name in (run.name, run.path.name, _parts(run)[0]) if name)


def _fingerprint(run: RunFolder) -> str:
    return _parts(run)[1]


def _parts(run: RunFolder) -> tuple[str, str]:
    """Name and shown fingerprint; both empty for a folder that was set aside."""
    match = re.fullmatch(r"(.+)-([0-9a-f]{12})", run.path.name)
    return (match[1], match[2]) if match else ("", "")
