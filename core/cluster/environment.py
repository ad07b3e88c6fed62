"""Which Python the processes of a job run in: that of the node's image, or one built there once."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

EXTRAS = "ASSAY_EXTRAS"
"""Which extras an environment is built with; read on the node."""
WORKER_PYTHON = "ASSAY_WORKER_PYTHON"
"""Set by the node's launcher for the driver it starts: the command that stands for `python` in every worker."""
LAUNCHER = "core/cluster/environment_node.py"
"""Below the job's working folder."""


class NodeEnvironment(StrEnum):
    """Where a job's packages come from."""

    IMAGE = "image"
    """They are there: the node's own `assay` is used, with the code that was sent."""
    BUILD = "build"
    """Built from constraints.txt, once on each node."""


def command_in(environment: NodeEnvironment) -> tuple[str, ...]:
    """The words before `assay`'s own, as typed in the job's working folder."""
    if environment is NodeEnvironment.IMAGE:
        return ("assay",)
    return ("python3", "-I", LAUNCHER, "-m", "experiments")


def worker_runtime_env(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """What ray.init is to be told in this process, for its workers to run in the same environment as it does.

    Ray starts workers in the job's working folder, here `folder`; where the launcher is not below it, there is nothing
    to tell.
    """
    command = environment.get(WORKER_PYTHON, "")
    return {"py_executable": command} if command and (folder / LAUNCHER).is_file() else {}
