"""The rehearsal model seen from a run: start it as a child, and read afterwards what it spoiled."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from core.adapters import child
from core.disk import each, is_object, read
from core.errors import StoreError
from core.model.calibration import InjectedFault
from core.model.specs import RehearsalSpec, RuntimeSpec

MODULE = "core.serving.rehearsal"


@contextlib.asynccontextmanager
async def running(
    spec: RehearsalSpec, runtime: RuntimeSpec, *, truth: Path, log: Path | None = None
) -> AsyncIterator[str]:
    """Serve the rehearsal model on a free port while the context is open; yields its base URL.

    It appends to `truth`, which may exist already: lines of an earlier attempt are kept and never doubled.
    Raises DependencyDown when the server does not start.
    """
    async with child.running(MODULE, arguments(spec, runtime, truth=truth), log=log) as port:
        yield f"http://127.0.0.1:{port}"


def arguments(spec: RehearsalSpec, runtime: RuntimeSpec, *, truth: Path) -> tuple[str, ...]:
    """The command line of a server that behaves as `spec` and answers as fast as `runtime` says."""
    faults = json.dumps({fault.value: share for fault, share in spec.faults.items()}, sort_keys=True)
    leaks = spec.leaks.model_dump_json(exclude_none=True)
    return (
        "--port", "0", "--seed", str(spec.seed), "--faults", faults, "--leaks", leaks,
        "--latency-ms", str(runtime.rehearsal_latency_ms), "--truth", str(truth), "--lifeline",
    )  # fmt: skip


def read_truth(path: Path) -> Mapping[str, InjectedFault]:
    """The spoiled replies by message id; empty when the server spoiled none and so made no file.

    A last line without its newline was being written when the server died: its reply was never sent, so it is left
    out. Any other line that does not read is a StoreError naming the file and the line.
    """
    content = (read(path) or b"") + b"".join(content for _, content in _parts(path))
    whole = content[: content.rfind(b"\n") + 1]
    found = [_fault(line, path, number) for number, line in enumerate(whole.split(b"\n"), start=1) if line]
    return {fault.message_id: fault for fault in found}


def _parts(path: Path) -> Iterator[tuple[str, bytes]]:
    """The lines that a server could not append, on an object store: see core.serving.rehearsal.truth."""
    return each(path.with_suffix(".parts"), ".jsonl") if is_object(path) else iter(())


def _fault(line: bytes, path: Path, number: int) -> InjectedFault:
    try:
        return InjectedFault.model_validate_json(line)
    except ValidationError as error:
        raise StoreError(
            f"{path}, line {number}: not a record of an injected fault ({error.error_count()} problems)",
            file=str(path),
            line=number,
            remedy="delete the run folder and run again: without its truth file a rehearsal cannot be calibrated",
        ) from error
