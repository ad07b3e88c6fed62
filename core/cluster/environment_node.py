"""On a node: run Python in the environment of this folder's constraints.txt, building that first where it is missing.

    python3 -I core/cluster/environment_node.py ARGUMENTS OF PYTHON...

Standard library only, and no import of this project: it runs before anything is installed. It stands for the driver's
Python and, as Ray's `py_executable`, for that of every worker, so many start at once and each may be killed at any
time: Ray ends a worker that has not registered within a minute, and starts the next. Therefore

- the builder is a process and session of its own, and outlives whoever asked for it;
- builders queue for a lock on the node, and all but the first find the work done;
- an environment is ready when its marker is renamed into place, last, and never touched again.

A new pyproject.toml, constraints.txt, choice of extras or Python is another environment, in another folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = "core/cluster/environment_node.py"
BUILD = "--build-environment"
STILL_BUILDING_S = 15
FAILED = 2
"""Assay's exit code for what cannot run as it is."""


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Become Python with `arguments`, or build; the exit code of the build otherwise."""
    place = place_of(environment)
    if arguments[:1] == [BUILD]:
        return build(place, environment)
    code = 0 if is_ready(place) else _built_apart(place)
    if code == 0:
        _become(str(place / "bin" / "python"), arguments, environment)
    return code


def place_of(environment: Mapping[str, str]) -> Path:
    """The folder of the environment for this project, these extras and this Python, on this node."""
    home = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    cache = Path(environment.get("ASSAY_CACHE") or Path(home) / "assay")
    parts = [_extras(environment), environment.get("UV_TORCH_BACKEND", ""), sys.version, platform.machine()]
    content = b"\0".join((ROOT / name).read_bytes() for name in ("pyproject.toml", "constraints.txt"))
    name = hashlib.sha256(content + "\0".join(parts).encode()).hexdigest()[:16]
    return cache / "environments" / name


def is_ready(place: Path) -> bool:
    """Whether the environment is complete."""
    return _beside(place, "ready").is_file() and (place / "bin" / "python").exists()


def build(place: Path, environment: Mapping[str, str]) -> int:
    """Make the environment unless another builder does; 0 once it is ready."""
    place.parent.mkdir(parents=True, exist_ok=True)
    seen = _failures(place)
    with _beside(place, "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_ready(place):
            return 0
        if _failures(place) != seen:
            _say(f"another build of {place} has just failed; not tried again")
            return FAILED
        return _installed(place, environment)


def _become(python: str, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    worker = f"python3 -I {LAUNCHER}"
    os.execve(python, [python, *arguments], {**environment, "ASSAY_WORKER_PYTHON": worker})  # noqa: S606


def _installed(place: Path, environment: Mapping[str, str]) -> int:
    shutil.rmtree(place, ignore_errors=True)
    wanted = {"ASSAY_VENV": str(place), "ASSAY_PYTHON": sys.executable, "ASSAY_INSTALL": "dependencies"}
    command = ["bash", str(ROOT / "scripts" / "setup"), _extras(environment)]
    # Ray puts this folder, and the image whatever it likes, on the path of every Python: installers need neither.
    inherited = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, env={**inherited, **wanted}, cwd=ROOT, check=False)
    if done.returncode != 0:
        _say(f"{place} could not be built (exit code {done.returncode})")
        with _beside(place, "failed").open("a") as failures:
            failures.write(f"{done.returncode}\n")
        return FAILED
    part = _beside(place, f"{os.getpid()}.part")
    part.write_text(f"{sys.version}\n", encoding="utf-8")
    part.replace(_beside(place, "ready"))
    return 0


def _built_apart(place: Path) -> int:
    """The exit code of a builder that goes on when this process is killed; says on stderr that it takes a while."""
    _say(f"waiting for {place} on {platform.node()} (built once)")
    builder = subprocess.Popen(
        [sys.executable, "-I", __file__, BUILD], cwd=ROOT, stdin=subprocess.DEVNULL, start_new_session=True
    )
    waited = 0
    while True:
        try:
            return builder.wait(STILL_BUILDING_S)
        except subprocess.TimeoutExpired:
            waited += STILL_BUILDING_S
            _say(f"still waiting, {waited} s")


def _say(what: str) -> None:
    sys.stderr.write(f"environment: {what}\n")
    sys.stderr.flush()


def _failures(place: Path) -> int:
    file = _beside(place, "failed")
    return file.stat().st_size if file.exists() else 0


def _beside(place: Path, kind: str) -> Path:
    return place.with_name(f"{place.name}.{kind}")


def _extras(environment: Mapping[str, str]) -> str:
    return environment.get("ASSAY_EXTRAS") or "all"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
