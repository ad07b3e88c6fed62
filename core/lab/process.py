"""This process: its name, by which it is known whether it still lives, and how it keeps house."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

PROC = Path("/proc")
BEHIND = 10
"""Steps of niceness."""


def collect_rarely() -> None:
    """Have the collector of cycles look seldom, and never again at what is there now.

    Hardly any of our values are in cycles. At Python's own thresholds looking for some takes a tenth of a campaign and
    half of a long parse, and stops an event loop that has the heavy libraries loaded for a tenth of a second at a time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def stand_back() -> None:
    """Let other processes have the processor first, for good: for work of which there is always more waiting.

    The callers of language models must have it at once: a place among the calls in flight is held until they do.
    """
    if sys.platform != "win32":
        os.nice(BEHIND)


def this_process() -> str:
    """Machine, pid and start of this process as `<boot>:<pid namespace>:<pid>:<start>`; empty where /proc is not."""
    machine, start = _machine(), _start(os.getpid())
    return f"{machine}:{os.getpid()}:{start}" if machine and start else ""


def is_gone(process: str) -> bool:
    """Whether `process`, from `this_process`, is known to have ended. Of another machine nothing is known."""
    named, _, start = process.rpartition(":")
    machine, _, pid = named.rpartition(":")
    if not machine or machine != _machine() or not pid.isdecimal():
        return False
    return _start(int(pid)) != start


def _machine() -> str:
    """This boot of this machine, and the namespace in which pids mean something; empty where it cannot be told."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot}:{(PROC / 'self/ns/pid').stat().st_ino}"
    except OSError:
        return ""


def _start(pid: int) -> str:
    """When `pid` started, in ticks since the boot; empty when there is no such process or it is only a zombie."""
    try:
        fields = (PROC / str(pid) / "stat").read_text("utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    # After the name, in parentheses: state is the first field, the start the twentieth. man proc_pid_stat
    return "" if fields[0] in {"Z", "X"} else fields[19]
