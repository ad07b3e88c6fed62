"""The results root and the run folders below it.

<results>/<experiment>/<name>-<fp12>/
    config.yaml  record.json            written before the first call
    cells/<cell>/samples.jsonl          append-only
    cells/<cell>/done.json              renamed in once every row is there
    recordings/  logs/                  of the session
    report.*     outcome.json           outcome last
    lock                                held by the one driver
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from core.disk import make_folder, replace, store_error
from core.errors import ConfigError, StoreError
from core.lab.journal import Journal, recover
from core.lab.lock import is_driven, only_driver
from core.lab.nearest import did_you_mean
from core.lab.outcome import CellDone, Outcome, Status
from core.model.record import RunRecord

FINGERPRINT_SHOWN = 12
REMEDIES = {
    "outcome.json": "delete it: the next driver makes it again",
    "done.json": "delete it: the next driver makes it again, from the rows as they stand",
}
Stored = TypeVar("Stored", bound=BaseModel)


class RunFolder:
    """One run on disk. Reading raises StoreError for what does not read back; absence is None."""

    def __init__(self, path: Path) -> None:
        self.path = path

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
    def driven(self) -> Iterator[None]:
        """Make the folder and be its only driver. Raises StoreError when there is another."""
        make_folder(self.path)
        with only_driver(self.path / "lock"):
            yield

    def write(self, name: str, content: bytes) -> None:
        """Replace the file `name` as a whole."""
        replace(self.path / name, content)

    def write_model(self, name: str, model: BaseModel) -> None:
        """Replace the file `name` by `model` as indented JSON."""
        self.write(name, f"{model.model_dump_json(indent=2)}\n".encode())

    def journal(self, cell: str) -> Journal:
        """The rows of `cell`, open for appending."""
        return Journal(self._samples(cell))

    def rows(self, cell: str) -> Mapping[str, str]:
        """The durable rows of `cell`, id -> JSON text, in the order written. Changes nothing on disk."""
        return recover(self._content(cell), file=str(self._samples(cell)))[0]

    def mark_done(self, cell: str) -> None:
        """Declare that every row of `cell` is there."""
        content = self._content(cell)
        done = CellDone(rows=len(recover(content)[0]), sha256=hashlib.sha256(content).hexdigest())
        self.write_model(f"cells/{cell}/done.json", done)

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
        try:
            (self.path / "outcome.json").unlink(missing_ok=True)
        except OSError as error:
            raise store_error(error, self.path / "outcome.json") from error

    def set_aside(self) -> Path | None:
        """Rename the folder to the first free `<folder>.before-N`; None when there is nothing to keep."""
        if not self.path.exists():
            return None
        with self.driven():
            free = (self.path.with_name(f"{self.path.name}.before-{n}") for n in itertools.count(1))
            target = next(path for path in free if not path.exists())
            try:
                return self.path.rename(target)
            except OSError as error:
                raise store_error(error, self.path) from error

    def _samples(self, cell: str) -> Path:
        return self.path / "cells" / cell / "samples.jsonl"

    def _content(self, cell: str) -> bytes:
        try:
            return self._samples(cell).read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise store_error(error, self._samples(cell)) from error

    def _stored(self, name: str, model: type[Stored]) -> Stored | None:
        file = self.path / name
        try:
            return model.model_validate_json(file.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise store_error(error, file) from error
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = "".join(f"{step}: " for step in first["loc"])
            remedy = REMEDIES.get(file.name, "restore it, or run again with --fresh (the old run is kept aside)")
            raise StoreError(
                f"{file} does not read back: {where}{first['msg']}", file=str(file), remedy=remedy
            ) from error


def _sha256(file: Path) -> str | None:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def run_folder(results: Path, experiment: str, name: str, fingerprint: str) -> RunFolder:
    """Where the run of that identity lives."""
    return RunFolder(results / experiment / f"{name}-{fingerprint[:FINGERPRINT_SHOWN]}")


def runs(results: Path) -> tuple[RunFolder, ...]:
    """All runs below `results`, the one touched last first."""
    found = [RunFolder(file.parent) for file in results.glob("*/*/config.yaml")]
    return tuple(sorted(found, key=lambda run: (-_touched(run), run.name)))


def find_run(results: Path, wanted: str) -> RunFolder:
    """The run that `wanted` means: a folder, a name, the start of a fingerprint, or `latest`. Raises ConfigError."""
    if (Path(wanted) / "config.yaml").is_file():
        return RunFolder(Path(wanted))
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


def _touched(run: RunFolder) -> int:
    marks = [run.path / name for name in ("lock", "config.yaml", "outcome.json")]
    return max(mark.stat().st_mtime_ns for mark in marks if mark.exists())
