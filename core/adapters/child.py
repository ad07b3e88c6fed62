"""Servers of our own, run as child processes that never outlive their parent.

The protocol is two facts. The child prints one JSON line `{"ready": {"port": N}}` on stdout once it answers, and
nothing else there before it. It leaves when its stdin closes: the kernel closes the pipe when the parent dies,
however it dies, so that a SIGKILL of the parent leaves no orphan.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from core.errors import DependencyDown

START_DEADLINE_S = 30.0
STOP_DEADLINE_S = 5.0


@contextlib.asynccontextmanager
async def running(module: str, arguments: Sequence[str], *, log: Path | None = None) -> AsyncIterator[int]:
    """Run `python -m module arguments` while the context is open; yields its port.

    The child's stderr goes to `log`, or to a temporary file whose tail is quoted if it fails.
    Raises DependencyDown when the child ends or stays silent for START_DEADLINE_S.
    """
    with log.open("ab") if log else TemporaryFile() as stderr:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", module, *arguments,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=stderr,
        )  # fmt: skip
        try:
            yield await _port_of(process, module, stderr, log)
        finally:
            await _stop(process)


async def _port_of(process: asyncio.subprocess.Process, module: str, stderr: IO[bytes], log: Path | None) -> int:
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), START_DEADLINE_S)
        return int(json.loads(line)["ready"]["port"])
    except (TimeoutError, ValueError, KeyError, TypeError) as error:
        said = _tail(stderr, log)
        raise DependencyDown(
            f"{module} did not start: {said or type(error).__name__}",
            endpoint=module,
            remedy=f"run `python -m {module} --help`, then the same command by hand to see why",
        ) from error


def _tail(stderr: IO[bytes], log: Path | None) -> str:
    if log is not None:
        text = log.read_bytes()
    else:
        stderr.seek(0)
        text = stderr.read()
    return text.decode("utf-8", "replace").strip()[-800:]


async def _stop(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), STOP_DEADLINE_S)
    except TimeoutError:
        process.kill()
        await process.wait()
