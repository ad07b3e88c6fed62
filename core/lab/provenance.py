"""Which code runs, on what: gathered once at the start of a driver."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import core
from core.errors import ConfigError
from core.lab.handover import VARIABLE, taken_over
from core.model.record import Provenance

GIT_DEADLINE_S = 10.0


def gather(environment: Mapping[str, str], argv: Sequence[str]) -> Provenance:
    """The provenance of this process; code that was sent here without its git brings commit and state along.

    Raises ConfigError for an EVAL_SEED that is no integer, and for a hand-over that does not fit the code.
    """
    folder = Path(core.__file__).resolve().parent
    commit, dirty = checkout(folder)
    packages = installed()
    version = packages.get("assay-lab", "unknown")
    if environment.get(VARIABLE):
        sent = taken_over(Path(environment[VARIABLE]), folder.parent, commit)
        commit, dirty, version = sent.commit, sent.dirty, sent.assay_version
    return Provenance(
        commit=commit,
        dirty=dirty,
        assay_version=version,
        python=platform.python_version(),
        platform=platform.platform(),
        packages=packages,
        argv=tuple(argv),
        notebook=in_notebook(),
        container_image_digest=environment.get("ASSAY_IMAGE_DIGEST", ""),
        eval_seed=_seed(environment.get("EVAL_SEED", "")),
    )


def checkout(folder: Path) -> tuple[str, bool]:
    """Commit of the git checkout that tracks `folder`, and whether it has changes; ("", False) outside of one."""
    tracked = _git(folder, "ls-files", "--error-unmatch", "__init__.py")
    commit = _git(folder, "rev-parse", "HEAD") if tracked else None
    if not commit:
        return "", False
    return commit, bool(_git(folder, "status", "--porcelain"))


def installed() -> dict[str, str]:
    """Every installed distribution, lower case -> version, sorted."""
    found = {dist.metadata["Name"]: dist.version for dist in importlib.metadata.distributions()}
    return dict(sorted((name.lower(), version) for name, version in found.items() if name))


def in_notebook() -> bool:
    """Whether this process is a Jupyter kernel."""
    return "ipykernel" in sys.modules


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=GIT_DEADLINE_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _seed(text: str) -> int | None:
    try:
        return int(text) if text else None
    except ValueError:
        remedy = "set EVAL_SEED to the seed of the configuration, or unset it"
        raise ConfigError(f"EVAL_SEED={text!r} is not an integer", path="EVAL_SEED", remedy=remedy) from None
