"""A Ray head of the tests' own: one child process for the whole session, on free ports, in a folder of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

START_DEADLINE_S = 90
ATTEMPTS = 3
STARTED = "Ray runtime started"
STOP_DEADLINE_S = 45
QUIET = {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}
"""Without the first, a token is written to the home folder; it must be set in every process that speaks to Ray."""


@dataclass(frozen=True)
class RayHead:
    """A running head and what its jobs find there."""

    jobs: str
    """URL of the job server."""
    address: str
    """For ray.init."""
    environment: dict[str, str]
    """Of the head, and so of every job's processes; also right for a process that wants to join."""
    results: Path
    """$ASSAY_RESULTS of its jobs."""


def free_port(low: int = 0, high: int = 0) -> int:
    """A port that nobody has: any, or the first free one of a range."""
    for port in range(low, high) if high else (0,):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise AssertionError("no free port")


def _command(port: int, dashboard: int, folder: str) -> list[str]:
    return [
        str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--disable-usage-stats",
        "--node-ip-address", "127.0.0.1", "--port", str(port), "--temp-dir", folder,
        "--dashboard-host", "127.0.0.1", "--dashboard-port", str(dashboard),
        "--dashboard-agent-listen-port", str(free_port()),
        # Ray gives its workers the ports from 10002 on.
        "--ray-client-server-port", str(free_port(9200, 10000)),
        "--num-cpus", "4", "--object-store-memory", str(100 << 20),
    ]  # fmt: skip


def _is_up(head: subprocess.Popen[bytes], log: Path) -> bool:
    """Once the head says so; False when it gave up, as it does after 30 s on a machine that is busy."""
    for _ in range(START_DEADLINE_S * 5):
        if STARTED in log.read_text():
            return True
        if head.poll() is not None:
            return False
        threading.Event().wait(0.2)
    raise AssertionError(f"the head did not start: {log.read_text()}")


@contextlib.contextmanager
def _running(command: list[str], environment: dict[str, str], home: Path) -> Iterator[bool]:
    log = home / "head.log"
    with log.open("wb") as output:
        head = subprocess.Popen(command, env=environment, cwd=home, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield _is_up(head, log)
        finally:
            head.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                head.wait(STOP_DEADLINE_S)
            head.kill()
            head.wait()


@contextlib.contextmanager
def running_head(home: Path) -> Iterator[RayHead]:
    """A head whose files are in `home`. It knows no secret of whoever runs the tests."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(home), "HF_HUB_OFFLINE": "1",
        "ASSAY_RESULTS": str(home / "results"), "ASSAY_CACHE": str(home / "cache"), **QUIET,
    }  # fmt: skip
    for _ in range(ATTEMPTS):
        port, dashboard = free_port(), free_port()
        folder = tempfile.mkdtemp(prefix="ray-")  # short: the names of Ray's sockets are long, and bounded
        try:
            with _running(_command(port, dashboard, folder), environment, home) as is_up:
                if is_up:
                    yield RayHead(f"http://127.0.0.1:{dashboard}", f"127.0.0.1:{port}", environment, home / "results")
                    return
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    raise AssertionError((home / "head.log").read_text())
